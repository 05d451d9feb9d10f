// The daemon's hands on terminals: starts their holders, keeps a line to each, and reports what becomes of them as commands.
// N1. What a holder says, or has left on disk, is reported once the daemon knows it for certain; a lost line alone is no end.
// N2. A terminal is started only where nothing was claimed; a start that comes to nothing is cancelled before it is reported.
// N3. Nothing is given up for good: what runs without a line, starts without an outcome, or waits for a signal is looked at again on
//     every round. So a holder that was stopped, a disk that was full and a report that was refused cost time, and nothing else.
import { isFault } from "../base/fault.ts";
import type { Child, Effect, Terminal, TerminalCommand } from "../core/terminal.ts";
import { removeIfThere } from "../log/file.ts";
import { isPassing } from "../log/wal.ts";
import type { HolderStatus } from "../wire/holder.ts";
import { holderStart } from "../wire/holder-start.ts";
import type { Children } from "../world/children.ts";
import type { Random } from "../world/random.ts";
import type { Self } from "../world/self.ts";
import {
  COULD_NOT_START,
  cancelStart,
  holderSocket,
  readHolderSpec,
  readOnDisk,
  terminalDirectory,
  writeHolderSpec,
} from "./holder-files.ts";
import { HolderLines, type LinesWorld } from "./holder-lines.ts";
import { HOLDER_SOURCE } from "./holder-program.ts";

export type HandsWorld = LinesWorld & { readonly children: Children; readonly random: Random; readonly self: Self };

export type HandsOptions = { readonly tape: { readonly segmentBytes: number; readonly maxBytes: number } };

export type HandsPorts = {
  terminal(id: string): Terminal | undefined;
  terminals(): Iterable<Terminal>;
  submit(command: TerminalCommand): void;
  /** Something broke that is no Fault. */
  broken(error: unknown): void;
};

/** What was found when a terminal was looked at. */
export type Found =
  | { readonly kind: "running"; readonly child: Child; readonly holder: number }
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: "unstarted" }
  | { readonly kind: "uncertain"; readonly reason: string }
  | { readonly kind: "unreachable"; readonly reason: string };

/** A holder answers within some tens of milliseconds; a machine under load may take its time. */
const START_MS = 10_000;
/** Between two looks at one that starts: a part of what it took so far, so that nobody waits much longer than it took. */
const PAUSES = { part: 1 / 4, leastMs: 4, mostMs: 250 };
/** N3. A round over terminals that are all well costs nothing that can be measured. */
const ROUND_MS = 5_000;

export class Hands {
  readonly #world: HandsWorld;
  readonly #options: HandsOptions;
  readonly #ports: HandsPorts;
  readonly #lines: HolderLines;
  /** Somebody is at it already. */
  readonly #busy = new Set<string>();
  #callOff: () => void = () => undefined;
  /** The holder in one file, once there is one (holder-program.ts). */
  holderProgram: string | undefined;

  constructor(world: HandsWorld, options: HandsOptions, ports: HandsPorts) {
    this.#world = world;
    this.#options = options;
    this.#ports = ports;
    this.#lines = new HolderLines(world, {
      ended: (id, { code, signal }) => this.#report(id, { kind: "ended", code, signal }),
      lost: (id) => this.#alone(id, () => this.#settle(id)), // N1: the end, the holder's death, or only the line?
    });
  }

  perform(effect: Effect): void {
    const terminal = this.#ports.terminal(effect.id);
    if (terminal === undefined) return;
    if (effect.kind === "start") this.#alone(effect.id, () => this.#start(terminal));
    if (effect.kind === "signal") this.#signal(effect.id, effect.signal);
    if (effect.kind === "discard") this.#discard(effect.id);
  }

  /** N3: from now on, every few seconds. */
  goRounds(): void {
    this.#callOff = this.#world.clock.after(ROUND_MS, () => {
      this.goRounds();
      for (const terminal of this.#ports.terminals()) this.#round(terminal);
    });
  }

  /** What the holder says of itself; undefined where it does not answer. */
  status(id: string): Promise<HolderStatus | undefined> {
    return this.#lines.status(id);
  }

  /** Lets go of every holder; they live on. */
  close(): void {
    this.#callOff();
    this.#lines.close();
  }

  /** How a terminal is now: asks its holder, else reads what it left (N1). Keeps the line where there is one. */
  async look({ id, generation }: Terminal): Promise<Found> {
    const disk = readOnDisk(this.#world, id, generation);
    if (disk.kind === "ended") return disk;
    const status = await this.#lines.connect(id);
    if (status?.child != null) {
      const child = { ...status.child, bootId: this.#world.processes.bootId() };
      return { kind: "running", child, holder: status.pid };
    }
    const again = readOnDisk(this.#world, id, generation); // It may have ended while we knocked.
    if (again.kind === "ended") return again;
    if (again.kind === "unclaimed") return status === undefined ? { kind: "unstarted" } : SILENT;
    if (again.holder === undefined) return { kind: "uncertain", reason: "its holder is gone and left no exit" };
    this.#world.processes.kill(again.holder, "SIGHUP"); // Makes it look after its socket (M3 of holder/main.ts).
    return SILENT;
  }

  /** Says what was found as a command; nothing for what must be looked at again. */
  #report(id: string, found: Found): void {
    if (found.kind === "running") this.#ports.submit({ kind: "started", id, child: found.child, holder: found.holder });
    if (found.kind === "ended") this.#ports.submit({ kind: "ended", id, code: found.code, signal: found.signal });
    if (found.kind === "uncertain") this.#ports.submit({ kind: "lost", id, reason: found.reason });
  }

  /** N3 */
  #round(terminal: Terminal): void {
    const { id, state, removed, signal } = terminal;
    if (removed) return;
    if (state.kind === "starting") this.#alone(id, () => this.#start(terminal));
    if (state.kind !== "running") return;
    if (!this.#lines.has(id)) this.#alone(id, async () => this.#report(id, await this.look(terminal)));
    else if (signal !== undefined) this.#signal(id, signal.name);
  }

  /** One at a time for each terminal; whoever comes meanwhile can leave it to the one who is there. */
  #alone(id: string, work: () => Promise<unknown>): void {
    if (this.#busy.has(id)) return;
    this.#busy.add(id);
    void work()
      .catch((error: unknown) => {
        if (!isFault(error)) this.#ports.broken(error); // The next round tries again.
      })
      .finally(() => this.#busy.delete(id));
  }

  async #start(terminal: Terminal): Promise<void> {
    const before = await this.look(terminal);
    if (before.kind !== "unstarted") return this.#report(terminal.id, before);
    try {
      await this.#launch(terminal);
    } catch (error) {
      if (!isFault(error)) throw error;
      if (isPassing(error)) return; // N3: there may be room again by the next round.
      return this.#giveUp(terminal);
    }
    if (!(await this.#settle(terminal.id))) await this.#giveUp(terminal);
  }

  async #launch({ id, generation, recipe }: Terminal): Promise<void> {
    const { disk, home, random, self, children } = this.#world;
    const token = readHolderSpec(disk, home, id)?.token ?? random.bytes(32).toHex();
    await writeHolderSpec(this.#world, { id, generation, recipe, token, tape: this.#options.tape });
    const [runtime, ...words] = self.command(HOLDER_SOURCE);
    const made = this.holderProgram;
    const there = made !== undefined && disk.stat(made) !== undefined; // run/ may have been cleaned from under us.
    children.detached(holderStart(runtime, there ? made : (words.at(-1) ?? ""), terminalDirectory(home, id)));
  }

  /** Looks until there is something to report; false where it takes too long. */
  async #settle(id: string): Promise<boolean> {
    const { clock } = this.#world;
    const began = clock.elapsed();
    for (let took = 0; took < START_MS; took = clock.elapsed() - began) {
      const terminal = this.#ports.terminal(id);
      if (terminal === undefined || terminal.state.kind === "ended") return true;
      const found = await this.look(terminal);
      if (found.kind !== "unreachable" && found.kind !== "unstarted") {
        this.#report(id, found);
        return true;
      }
      const pause = Math.min(Math.max(PAUSES.leastMs, took * PAUSES.part), PAUSES.mostMs);
      await new Promise<void>((resolve) => clock.after(pause, resolve));
    }
    return false;
  }

  /** N2. Where it was claimed after all, the next round will find it. */
  async #giveUp({ id, generation }: Terminal): Promise<void> {
    if (await cancelStart(this.#world, id, generation)) this.#report(id, NOT_STARTED);
  }

  #signal(id: string, name: string): void {
    if (this.#lines.signal(id, name)) this.#ports.submit({ kind: "signalled", id }); // Else when the line is back, or N3.
  }

  #discard(id: string): void {
    this.#lines.drop(id);
    removeIfThere(this.#world.disk, holderSocket(this.#world.home, id));
  }
}

const SILENT: Found = { kind: "unreachable", reason: "its holder lives but does not answer" };
const NOT_STARTED: Found = { kind: "ended", code: COULD_NOT_START, signal: null };
