// One life of a watched process: from its start, or from when we found it, to its end.
// L1. The system reports the end of a child. Of a process that is not our child we look whether it lives: now and
//     then, and at once when its connection closes.
// L2. The end is reported exactly once.
import { CrashReason } from "../home/last-crash.ts";
import type { Clock } from "../world/clock.ts";
import type { Processes, ProcessIdentity } from "../world/process.ts";
import { classifyExit, type SeenEnding } from "./exit.ts";

/** A check costs some microseconds; it also limits how late we notice that a process vanished. */
const LOOK_EVERY_MS = 250;

/** The connection of a dying process closes a moment before the process is gone. */
const LOOK_SOON_MS = 5;
const LOOKS_SOON = 100;

export type LifeWorld = { readonly clock: Clock; readonly processes: Processes };

export class Life {
  readonly who: ProcessIdentity;
  readonly #world: LifeWorld;
  readonly #ended: (ending: SeenEnding) => void;
  /** Whether it announces every exit of its own. */
  readonly #announces: boolean;
  #cancel: () => void = () => undefined;
  #over = false;
  #adopted = false;
  #liveSince: number | undefined;
  /** The code it announced when it left. */
  #announced: number | undefined;
  /** Whether it was reported as unresponsive and has sent no heartbeat since. */
  silent = false;

  constructor(world: LifeWorld, who: ProcessIdentity, announces: boolean, ended: (ending: SeenEnding) => void) {
    this.#world = world;
    this.who = who;
    this.#announces = announces;
    this.#ended = ended;
  }

  /** For a process that is not our child (L1). */
  lookNowAndThen(): void {
    this.#adopted = true;
    this.#look(LOOK_EVERY_MS, Number.POSITIVE_INFINITY);
  }

  /** Its connection closed: the end, or only a reconnect. For a child, the system reports more (L1). */
  lookClosely(): void {
    if (this.#adopted) this.#look(LOOK_SOON_MS, LOOKS_SOON);
  }

  #look(everyMs: number, times: number): void {
    if (this.#over) return;
    this.#cancel();
    if (!this.#world.processes.alive(this.who)) {
      this.end({ kind: "vanished" });
      return;
    }
    const [nextMs, left] = times > 1 ? [everyMs, times - 1] : [LOOK_EVERY_MS, Number.POSITIVE_INFINITY];
    this.#cancel = this.#world.clock.after(nextMs, () => this.#look(nextMs, left));
  }

  is(other: ProcessIdentity): boolean {
    const { pid, startTime, bootId } = this.who;
    return pid === other.pid && startTime === other.startTime && bootId === other.bootId;
  }

  live(): void {
    this.#liveSince ??= this.#world.clock.elapsed();
  }

  get liveMs(): number | "never" {
    return this.#liveSince === undefined ? "never" : this.#world.clock.elapsed() - this.#liveSince;
  }

  leaving(code: number): void {
    this.#announced = code;
  }

  end(seen: SeenEnding): void {
    if (this.#over) return; // L2
    this.forget();
    this.#ended(seen.kind === "vanished" ? this.#unseen() : seen);
  }

  #unseen(): SeenEnding {
    if (this.#announced !== undefined) return { kind: "exited", code: this.#announced };
    return { kind: this.#announces ? "killed" : "vanished" }; // X3 of exit.ts
  }

  /** Why this end was a crash; undefined if it was not. An end that follows a silence is reported as unresponsive. */
  crashReason(ending: SeenEnding, asked: boolean): CrashReason | undefined {
    const verdict = classifyExit(ending, asked);
    if (verdict.kind !== "crash" && (asked || !this.silent)) return undefined;
    return this.silent || verdict.kind !== "crash" ? CrashReason.UNRESPONSIVE : verdict.reason;
  }

  /** Ignores everything that happens to it from now on. */
  forget(): void {
    this.#over = true;
    this.#cancel();
  }
}
