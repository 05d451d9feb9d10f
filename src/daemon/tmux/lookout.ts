// Waits for the end of a tmux server: one tmux client that waits for a signal which never comes, and costs nothing.
// O1. tmux releases its waiting clients before an orderly exit; a killed server cannot. So the way the client ends
//     tells how the server ended. If a server is found gone before its client has ended, we wait a moment for the
//     client. If the client ended first, the result is kept until the server is found gone, or the next one is to
//     be watched.
// O3. The client says first at which server it waits, and its end counts for that server alone: between our look and
//     its start, another server may have taken the place of the one that we had seen.
// O2. A client left waiting by an earlier daemon is ended first; it is recognised by the home in its environment. So
//     there is at most one at a server.
import { isFault } from "../../base/fault.ts";
import type { TmuxServer } from "../../core/tmux/tmux.ts";
import type { PipeChild } from "../../world/children.ts";
import { identify, type Processes } from "../../world/process.ts";
import { environmentOf, foreignSocket, type TmuxCall, type TmuxWorld, wordsOf } from "./client.ts";

export type LookoutWorld = TmuxWorld & { readonly processes: Processes; readonly home: string };

const OWNER = "HOLDFAST_LOOKOUT";
/** A client ends with its server; this is reported once its output has ended, too. */
const HEARD_MS = 2_000;
const CHANNEL = "holdfast-lookout";
/** O3 */
const COMMANDS = [
  ["display-message", "-p", "#{pid}"],
  ["wait-for", CHANNEL],
];
/** A process's number and the end of its line. */
const MAX_SAID = 32;

export class TmuxLookout {
  readonly #world: LookoutWorld;
  readonly #ended: (socket: string, inOrder: TmuxServer | undefined) => void;
  readonly #waiting = new Map<string, PipeChild>();
  /** O1: the server, if it ended in order. */
  readonly #endings = new Map<string, TmuxServer | undefined>();
  readonly #listeners = new Map<string, (inOrder: TmuxServer | undefined) => void>();
  #swept = false;

  constructor(world: LookoutWorld, ended: (socket: string, inOrder: TmuxServer | undefined) => void) {
    this.#world = world;
    this.#ended = ended;
  }

  watch(socket: string): void {
    this.#sweep();
    if (this.#waiting.has(socket) || foreignSocket(this.#world, { path: socket }) !== undefined) return;
    this.#endings.delete(socket); // O1
    const call: TmuxCall = { socket: { path: socket }, commands: COMMANDS };
    const server = new AwaitedServer(this.#world.processes);
    const env = { ...environmentOf(this.#world, call), [OWNER]: this.#world.home };
    try {
      const child = this.#world.children.pipes(
        { argv: wordsOf(call), cwd: "/", env },
        {
          output: (bytes) => server.said(bytes),
          ended: (ending) => {
            const inOrder = ending.kind === "exited" && ending.code === 0;
            this.#left(socket, child, inOrder ? server.identity : undefined); // O1
          },
        },
      );
      child.closeInput();
      this.#waiting.set(socket, child);
    } catch (error) {
      if (!isFault(error)) throw error; // The next round retries.
    }
  }

  #left(socket: string, child: PipeChild, inOrder: TmuxServer | undefined): void {
    if (this.#waiting.get(socket) !== child) return;
    this.#waiting.delete(socket);
    this.#endings.set(socket, inOrder);
    this.#listeners.get(socket)?.(inOrder);
    this.#ended(socket, inOrder);
  }

  /** The server that ended in order. Undefined if no client waited there, or it does not end in time. */
  async endedInOrder(socket: string): Promise<TmuxServer | undefined> {
    const heard = this.#endings.get(socket);
    this.#endings.delete(socket);
    if (!this.#waiting.has(socket)) return heard; // O1
    const { promise, resolve } = Promise.withResolvers<TmuxServer | undefined>();
    this.#listeners.set(socket, resolve);
    const cancel = this.#world.clock.after(HEARD_MS, () => resolve(undefined));
    const inOrder = await promise; // O1
    cancel();
    this.#listeners.delete(socket);
    return inOrder;
  }

  /** O2 */
  #sweep(): void {
    if (this.#swept) return;
    this.#swept = true;
    const { processes, home } = this.#world;
    for (const { pid } of processes.list()) {
      if (processes.variable(pid, OWNER) !== home) continue;
      const who = identify(processes, pid);
      if (who !== undefined) processes.kill(who, "SIGTERM");
    }
  }

  close(): void {
    const children = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const child of children) child.signal("SIGTERM");
  }
}

/** O3: what a waiting client says of its server. */
class AwaitedServer {
  identity: TmuxServer | undefined;
  readonly #processes: Processes;
  #text = "";

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  said(bytes: Uint8Array): void {
    if (this.identity !== undefined || this.#text.length > MAX_SAID) return;
    this.#text += new TextDecoder().decode(bytes.subarray(0, MAX_SAID));
    const [, pid] = /^([1-9]\d{0,9})\n/.exec(this.#text) ?? [];
    if (pid !== undefined) this.identity = identify(this.#processes, Number(pid));
  }
}
