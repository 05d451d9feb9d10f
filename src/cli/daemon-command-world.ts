// The world of commands that talk to the daemon and to holders: also sockets, our own process and the user's terminal.
import type { Links } from "../world/links.ts";
import { realLinks } from "../world/real/links.ts";
import { realSockets } from "../world/real/socket.ts";
import { realTerminal } from "../world/real/terminal.ts";
import { realSelf, type Self } from "../world/self.ts";
import type { Sockets } from "../world/socket.ts";
import type { UserTerminal } from "../world/terminal.ts";
import { type CommandWorld, command, type Exit, type Given, type HomeFlag } from "./command-world.ts";

export type DaemonCommandWorld = CommandWorld & {
  readonly sockets: Sockets;
  readonly self: Self;
  readonly terminal: UserTerminal;
  readonly links: Links;
};

type Run<Flags, Args extends readonly unknown[]> = (
  world: DaemonCommandWorld,
  flags: Flags & Given,
  ...args: Args
) => Promise<Exit>;

export function withDaemonWorld<Flags extends HomeFlag, Args extends readonly unknown[]>(run: Run<Flags, Args>) {
  return command<Flags, Args>((world, flags, ...args) => run(daemonWorldOf(world), flags, ...args));
}

function daemonWorldOf(world: CommandWorld): DaemonCommandWorld {
  return { ...world, sockets: realSockets(), self: realSelf(), terminal: realTerminal(), links: realLinks() };
}
