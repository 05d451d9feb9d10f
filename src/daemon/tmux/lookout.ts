// Waits for the end of a tmux server: one tmux client that waits for a signal which never comes, and costs nothing.
// O1. tmux releases its waiting clients before an orderly exit; a killed server cannot. So the way the client ends
//     tells how the server ended. If a server is found gone before its client has ended, we wait a moment for the
//     client. If the client ended first, the result is kept until the server is found gone, or the next one is to
//     be watched.
// O2. A client left waiting by an earlier daemon is ended first; it is recognised by the home in its environment. So
//     there is at most one at a server.
import { isFault } from "../../base/fault.ts";
import type { PipeChild } from "../../world/children.ts";
import { identify, type Processes } from "../../world/process.ts";
import { environmentOf, foreignSocket, type TmuxCall, type TmuxWorld, wordsOf } from "./client.ts";

export type LookoutWorld = TmuxWorld & { readonly processes: Processes; readonly home: string };

const OWNER = "HOLDFAST_LOOKOUT";
/** A client ends with its server; this is reported once its output has ended, too. */
const HEARD_MS = 2_000;
const CHANNEL = "holdfast-lookout";

export class TmuxLookout {
  readonly #world: LookoutWorld;
  readonly #ended: (socket: string, orderly: boolean) => void;
  readonly #waiting = new Map<string, PipeChild>();
  /** O1 */
  readonly #endings = new Map<string, boolean>();
  readonly #listeners = new Map<string, (orderly: boolean) => void>();
  #swept = false;

  constructor(world: LookoutWorld, ended: (socket: string, orderly: boolean) => void) {
    this.#world = world;
    this.#ended = ended;
  }

  watch(socket: string): void {
    this.#sweep();
    if (this.#waiting.has(socket) || foreignSocket(this.#world, { path: socket }) !== undefined) return;
    this.#endings.delete(socket); // O1
    const call: TmuxCall = { socket: { path: socket }, commands: [["wait-for", CHANNEL]] };
    const env = { ...environmentOf(this.#world, call), [OWNER]: this.#world.home };
    try {
      const child = this.#world.children.pipes(
        { argv: wordsOf(call), cwd: "/", env },
        {
          output: () => undefined,
          ended: (ending) => this.#left(socket, child, ending.kind === "exited" && ending.code === 0), // O1
        },
      );
      child.closeInput();
      this.#waiting.set(socket, child);
    } catch (error) {
      if (!isFault(error)) throw error; // The next round retries.
    }
  }

  #left(socket: string, child: PipeChild, orderly: boolean): void {
    if (this.#waiting.get(socket) !== child) return;
    this.#waiting.delete(socket);
    this.#endings.set(socket, orderly);
    this.#listeners.get(socket)?.(orderly);
    this.#ended(socket, orderly);
  }

  /** Whether a server that is gone ended in order: false if no client waited there, or it does not end in time. */
  async endedInOrder(socket: string): Promise<boolean> {
    const heard = this.#endings.get(socket);
    this.#endings.delete(socket);
    if (!this.#waiting.has(socket)) return heard ?? false; // O1
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#listeners.set(socket, resolve);
    const cancel = this.#world.clock.after(HEARD_MS, () => resolve(false));
    const orderly = await promise; // O1
    cancel();
    this.#listeners.delete(socket);
    return orderly;
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
