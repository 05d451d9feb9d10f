// tmux on a simulated machine: its clients, which the daemon starts, and the one server that they find.
// TL1. The commands of a client are carried out at once, one after the other; the first that fails ends them. Whether
//      its starter still lives is nothing to them, and the answer comes a moment later.
// TL2. A server that does not answer carries out what it was sent when it goes on, also for clients that were killed.
// TL3. A client that waits (`wait-for`) ends with its server (TS1 of server.ts), or when it is killed.
// TL4. Only a person, or the end of the machine, kills the server.
import type { Command, Ending, PipeChild, PipeEvents } from "../../../../src/world/children.ts";
import type { Born } from "../../machine.ts";
import { type Life, mortalClock } from "../../mortal.ts";
import type { HoldfastMachine } from "../machine.ts";
import { command, UnknownWords } from "./commands.ts";
import { type Starter, TmuxError, TmuxServer } from "./server.ts";

/** What happens to a call: it fails at once, its answer is lost, or the server does not answer for so many ms. */
export type TmuxTrouble = "fails" | "unheard" | number;

type Said = { readonly code: number; readonly out: string; readonly err: string };
type Client = {
  readonly born: Born;
  readonly starter: Starter;
  readonly commands: readonly (readonly string[])[];
  print(text: string): void;
  /** Its end, and what it prints before. */
  leave(ending: Ending, said?: Omit<Said, "code">): void;
};

export const TMUX_SOCKET = "/tmp/tmux-1000/default";
const CALL_MS = 2;
const ANSWER_MS = 1;
const DEFAULT_NAME = "default";
/** As after an upgrade of tmux while its server runs. */
const FAILED = "protocol version mismatch (client 8, server 7)";
const WAIT = "wait-for";

export class SimTmux {
  readonly #machine: HoldfastMachine;
  readonly #baseIndex: number;
  #server: TmuxServer | undefined;
  /** TL4 */
  #mayEnd = false;
  /** Asked before each call that is not a wait. */
  trouble: () => TmuxTrouble | undefined = () => undefined;
  /** Called when a server ends, and with whether that was in order. */
  ended: (server: TmuxServer, isOrderly: boolean) => void = () => undefined;
  /** Whether a call has met trouble in this life. */
  #hasTrouble = false;

  constructor(machine: HoldfastMachine, baseIndex: number) {
    this.#machine = machine;
    this.#baseIndex = baseIndex;
  }

  /** The one that runs. */
  get server(): TmuxServer | undefined {
    return this.#server?.born.life.dead === false ? this.#server : undefined;
  }

  get isTroubled(): boolean {
    return this.#hasTrouble || (this.server?.deafUntil ?? 0) > this.#machine.clock.elapsed();
  }

  /** The machine was stopped: whoever waited for a call has given it up. */
  noteStop(): void {
    this.#hasTrouble = true;
  }

  /** Another life begins. */
  calm(): void {
    this.#hasTrouble = false;
    this.trouble = () => undefined;
  }

  /** It is killed. */
  kill(): void {
    this.#mayEnd = true;
    this.server?.born.life.end();
  }

  /** It goes down with its machine. */
  goDown(): void {
    this.#mayEnd = true;
    this.#server = undefined;
  }

  /** A person starts it; the first session is made by the caller. */
  begin(starter: Omit<Starter, "path" | "baseIndex">): TmuxServer {
    const server = new TmuxServer(this.#machine, { ...starter, path: TMUX_SOCKET, baseIndex: this.#baseIndex });
    this.#server = server;
    this.#mayEnd = false;
    server.ends.push((orderly) => {
      this.ended(server, orderly);
      if (!orderly && !this.#mayEnd) this.#machine.failed(new Error("a server of tmux was killed")); // TL4
    });
    return server;
  }

  start({ argv, env }: Command, events: PipeEvents, by: Life): PipeChild {
    const born = this.#machine.born(undefined, env);
    const clock = mortalClock(this.#machine.clock, born.life);
    const ended = (ending: Ending) => {
      if (born.life.dead) return;
      born.life.end();
      by.act(() => events.ended(ending));
    };
    const print: Client["print"] = (text) => {
      clock.after(ANSWER_MS, () => by.act(() => void events.output(Buffer.from(text), "stdout")));
    };
    const leave: Client["leave"] = (ending, said) => {
      clock.after(ANSWER_MS, () => {
        if (said?.out) by.act(() => void events.output(Buffer.from(said.out), "stdout"));
        if (said?.err) by.act(() => void events.output(Buffer.from(said.err), "stderr"));
        ended(ending);
      });
    };
    const starter = { argv, env, path: TMUX_SOCKET, baseIndex: this.#baseIndex };
    const client: Client = { born, starter, commands: commandsIn(argv), print, leave };
    const isWaiting = client.commands.at(-1)?.[0] === WAIT;
    clock.after(CALL_MS, () => (isWaiting ? this.#wait(client) : this.#call(client)));
    return {
      pid: born.who.pid,
      write: async () => undefined,
      closeInput: () => undefined,
      signal: (signal) => {
        ended({ kind: "signalled", signal });
        return true;
      },
    };
  }

  #call(client: Client): void {
    const trouble = this.trouble();
    if (trouble !== undefined) this.#hasTrouble = true;
    const { server } = this;
    const now = this.#machine.clock.elapsed();
    if (server !== undefined && typeof trouble === "number")
      server.deafUntil = Math.max(server.deafUntil, now + trouble);
    if (trouble === "fails") client.leave({ kind: "exited", code: 1 }, { out: "", err: `${FAILED}\n` });
    else if (server === undefined || server.deafUntil <= now) this.#carryOut(client, trouble === "unheard");
    else this.#queue(server, client);
  }

  /** TL2 */
  #queue({ born: { life }, deafUntil }: TmuxServer, client: Client): void {
    const { clock } = this.#machine;
    mortalClock(clock, life).after(deafUntil - clock.elapsed(), () => this.#carryOut(client, false));
    life.onEnd(() => client.leave({ kind: "exited", code: 1 }, { out: "", err: "server exited unexpectedly\n" }));
  }

  /** TL1 */
  #carryOut(client: Client, isUnheard: boolean): void {
    const { born, commands, leave } = client;
    this.#machine.moment(`tmux ${commands[0]?.[0]}`);
    if (born.life.dead && this.server === undefined) return; // The machine went down.
    const { code, out, err } = this.#answer(client);
    this.#machine.moment(`tmux has carried out ${commands[0]?.[0]}`);
    if (isUnheard) leave({ kind: "signalled", signal: "SIGSEGV" });
    else leave({ kind: "exited", code }, { out, err });
  }

  #answer({ starter, commands }: Client): Said {
    let out = "";
    for (const words of commands) {
      const server = this.server ?? (words[0] === "new-session" ? this.begin(starter) : undefined);
      if (server === undefined) return { code: 1, out, err: `${this.#nobody}\n` };
      try {
        out += command(server, words);
      } catch (error) {
        if (error instanceof UnknownWords) this.#machine.failed(error);
        if (error instanceof TmuxError) return { code: 1, out, err: `${error.message}\n` };
        throw error;
      }
    }
    return { code: 0, out, err: "" };
  }

  /** The socket of a server outlives it, but not the machine. */
  get #nobody(): string {
    if (this.#server !== undefined) return `no server running on ${TMUX_SOCKET}`;
    return `error connecting to ${TMUX_SOCKET} (No such file or directory)`;
  }

  /** TL3 */
  #wait({ born, commands, print, leave }: Client): void {
    const { server } = this;
    const left = (orderly: boolean) => leave({ kind: "exited", code: orderly ? 0 : 1 });
    if (server === undefined) left(false);
    else {
      for (const words of commands.slice(0, -1)) print(command(server, words));
      server.waiting.add(left);
      born.life.onEnd(() => server.waiting.delete(left));
    }
  }
}

/** The commands in the words of a client: a word `;` ends one, and `\;` at the end of a word is a `;`. */
export function commandsIn(argv: readonly string[]): string[][] {
  const [, utf8, where, name, ...words] = argv;
  const isHere = (where === "-S" && name === TMUX_SOCKET) || (where === "-L" && name === DEFAULT_NAME);
  if (utf8 !== "-u" || !isHere) throw new Error(`such a tmux is not here: ${argv.join(" ")}`);
  const commands: string[][] = [[]];
  for (const word of words) {
    if (word === ";") commands.push([]);
    else commands.at(-1)?.push(word.endsWith("\\;") ? `${word.slice(0, -2)};` : word);
  }
  return commands;
}
