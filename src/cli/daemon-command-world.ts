// What commands get that talk to the daemon and to holders: the doors of the others, and those to sockets, to ourselves and to the
// user's own terminal.
import type { Links } from "../world/links.ts";
import { realLinks } from "../world/real/links.ts";
import { realSockets } from "../world/real/socket.ts";
import { realTerminal } from "../world/real/terminal.ts";
import { realSelf, type Self } from "../world/self.ts";
import type { Sockets } from "../world/socket.ts";
import type { UserTerminal } from "../world/terminal.ts";
import { command, type Exit, type Given, type HomeFlag, type Outside } from "./command-world.ts";

export type Reach = Outside & {
  readonly sockets: Sockets;
  readonly self: Self;
  readonly terminal: UserTerminal;
  readonly links: Links;
};

type Run<Flags, Args extends readonly unknown[]> = (reach: Reach, flags: Flags & Given, ...args: Args) => Promise<Exit>;

export function reaching<Flags extends HomeFlag, Args extends readonly unknown[]>(run: Run<Flags, Args>) {
  return command<Flags, Args>((outside, flags, ...args) => run(reachOf(outside), flags, ...args));
}

function reachOf(outside: Outside): Reach {
  return { ...outside, sockets: realSockets(), self: realSelf(), terminal: realTerminal(), links: realLinks() };
}
