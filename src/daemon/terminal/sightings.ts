// What is seen of running terminals between two checkpoints: their directory, and the program in front of their shell.
// SG1. A terminal is looked at on the heartbeat after its tape has grown, and on the next one: a program may start a
//      moment after its command was echoed. A silent terminal costs a look at the size of one file.
// SG2. What has changed is durable before the next look, in one small file for all; nothing is written while nothing
//      changes.
// SG3. A sighting counts until a checkpoint has it; those of the daemon before count until then too. A file that cannot
//      be read costs only what it had: the checkpoint and the log are still there.
import { joinPath } from "../../base/path.ts";
import { type CheckpointSession, readSightings, sameSight } from "../../core/terminal/checkpoint.ts";
import type { Sighting } from "../../core/terminal/restoration.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import { SIGHTINGS } from "../../home/layout.ts";
import { readJson, writeJson } from "../../log/file/json-file.ts";

export type Looker = {
  running(): readonly Terminal[];
  tapeEnd(id: string): number;
  /** Reads what a look has to wait for; never for long, and without failing. */
  prepare(terminals: readonly Terminal[]): Promise<void>;
  /** Undefined if it cannot be looked at, or is too large to be kept. */
  look(terminal: Terminal): Sighting | undefined;
  /** What the last checkpoint has. */
  recorded(id: string): Sighting | undefined;
  /** PB2 of part.ts */
  guard(id: string, work: () => void): void;
};

/** Where the tape ended at the last heartbeat, and whether it had grown by then. */
type Tape = { readonly end: number; readonly grown: boolean };

export class Sightings {
  readonly #place: HomeWorld;
  readonly #looker: Looker;
  readonly #tapes = new Map<string, Tape>();
  /** Those that no checkpoint has yet (SG3). */
  #fresh = new Map<string, Sighting>();
  /** The last one of each terminal, for comparing. */
  readonly #last = new Map<string, Sighting>();
  #isDirty = false;

  constructor(place: HomeWorld, looker: Looker) {
    this.#place = place;
    this.#looker = looker;
  }

  /** Takes over what the daemon before has left (SG3). */
  load(): void {
    const { disk, home } = this.#place;
    this.#fresh = readSightings(readJson(disk, joinPath(home, SIGHTINGS)));
  }

  /** What no checkpoint has yet. */
  of(id: string): Sighting | undefined {
    return this.#fresh.get(id);
  }

  /** Called on every heartbeat. Returns the terminals that were looked at, when what has changed is durable (SG2). */
  async beat(): Promise<readonly Terminal[]> {
    const running = this.#looker.running();
    const due: Terminal[] = [];
    for (const terminal of running)
      this.#looker.guard(terminal.id, () => {
        if (this.#isDue(terminal)) due.push(terminal);
      });
    if (due.length > 0) await this.#looker.prepare(due);
    for (const terminal of due) this.#looker.guard(terminal.id, () => this.#glance(terminal));
    if (!this.#isDirty) return due;
    const ids = new Set(running.map(({ id }) => id));
    for (const id of [...this.#tapes.keys(), ...this.#last.keys()].filter((known) => !ids.has(known))) {
      this.#tapes.delete(id);
      this.#last.delete(id);
    }
    await this.#write();
    return due;
  }

  /** A checkpoint with these times of its own looks is durable (SG3). */
  covered(sessions: readonly Pick<CheckpointSession, "terminalId" | "lookedAt">[]): void {
    const looks = new Map(sessions.map(({ terminalId, lookedAt = "" }) => [terminalId, lookedAt]));
    const newest = [...looks.values()].sort().at(-1) ?? "";
    // One that has ended by then is in no checkpoint any more.
    for (const [id, { at }] of this.#fresh) if (at <= (looks.get(id) ?? newest)) this.#fresh.delete(id);
  }

  /** SG1 */
  #isDue({ id }: Terminal): boolean {
    const end = this.#looker.tapeEnd(id);
    const before = this.#tapes.get(id);
    const grown = end !== before?.end;
    this.#tapes.set(id, { end, grown });
    return grown || before.grown;
  }

  #glance(terminal: Terminal): void {
    const { id } = terminal;
    const seen = this.#looker.look(terminal);
    const last = this.#last.get(id) ?? this.#fresh.get(id) ?? this.#looker.recorded(id);
    if (seen === undefined || (last !== undefined && sameSight(last, seen))) return;
    this.#last.set(id, seen);
    this.#fresh.set(id, seen);
    this.#isDirty = true;
  }

  async #write(): Promise<void> {
    const { disk, home } = this.#place;
    this.#isDirty = false; // If it fails, the next change or the next checkpoint has it.
    await writeJson(disk, joinPath(home, SIGHTINGS), { v: 1, sightings: Object.fromEntries(this.#fresh) });
  }
}
