// Has the index of searches brought up to date by a process of its own (src/search/indexer.ts), when there is something
// new, and not often.
// IG1. Nothing runs while nothing happens: it is woken by events and by output, and ends by itself.
// IG2. It may die at any moment. That is logged, and the next thing that happens starts another.
// IG3. In safe mode nothing is indexed.
// IG4. The index of what was removed is removed at once, or at the end of the run that does not know of it yet.
import { isFault } from "../../base/fault.ts";
import { encodeLine, LineReader } from "../../wire/lines.ts";
import { type IndexOrder, type IndexProgress, indexProgressIn } from "../../wire/search.ts";
import type { Ending, PipeChild } from "../../world/children.ts";
import type { AskedWorld } from "../asked-program.ts";

export const SEARCH_SOURCE = "src/search/main.ts";
/** From the end of one run to the next, unless someone searches: starting it costs as much as reading a megabyte. */
const PACE_MS = 60_000;
const MAX_SAID = 1 << 20;
const MAX_WORDS = 500;

export type IndexingPorts = {
  readonly maxBytes: number;
  /** Ids of what is not searched. */
  skip(): readonly string[];
  isOff(): boolean;
  say(words: string): void;
};

type Life = { readonly child: PipeChild; readonly reader: LineReader; words: string };

export class Indexing {
  readonly #world: AskedWorld;
  readonly #ports: IndexingPorts;
  #life: Life | undefined;
  #progress: Pick<IndexProgress, "done" | "total"> | undefined;
  #isDirty = false;
  #isUrgent = false;
  /** The first run of a daemon reads every file of the index, and so does one after damage was found. */
  #mustCheck = true;
  #endedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(world: AskedWorld, ports: IndexingPorts) {
    this.#world = world;
    this.#ports = ports;
  }

  /** How far it is, in bytes; null if it does nothing. */
  get progress(): { readonly done: number; readonly total: number } | null {
    return this.#life === undefined ? null : (this.#progress ?? { done: 0, total: 0 });
  }

  /** A start is not made longer: the first run comes later, unless someone searches. */
  goLive(): void {
    this.#endedAt = this.#world.clock.elapsed();
    this.wake();
  }

  /** IG1: something is new. */
  wake(): void {
    this.#isDirty = true;
  }

  /** IG4. Something is to be removed. */
  removed(): void {
    this.#isUrgent = true;
    this.wake();
    this.now();
  }

  /** Called on every heartbeat. */
  tick(): void {
    if (this.#world.clock.elapsed() - this.#endedAt >= PACE_MS) this.now();
  }

  /** Someone searches: what is new is indexed at once. */
  now(): void {
    if (!this.#isDirty || this.#life !== undefined || this.#closed || this.#ports.isOff()) return; // IG3
    this.#isDirty = false;
    this.#isUrgent = false;
    this.#start();
  }

  /** These files of the index were found to be damaged: they are made again. */
  damaged(names: readonly string[]): void {
    if (names.length === 0) return;
    this.#ports.say(`the search index is damaged and made again: ${names.join(", ").slice(0, MAX_WORDS)}`);
    this.#mustCheck = true;
    this.removed();
  }

  close(): void {
    this.#closed = true;
    this.#life?.child.closeInput();
  }

  #start(): void {
    const { children, self } = this.#world;
    try {
      const child = children.pipes(
        { argv: self.command(SEARCH_SOURCE, "index"), cwd: "/", env: self.environment() },
        { output: (bytes, from) => this.#heard(bytes, from), ended: (ending) => this.#ended(ending) },
      );
      this.#life = { child, reader: new LineReader(MAX_SAID), words: "" };
      void child.write(encodeLine(this.#order())).catch((error: unknown) => {
        if (!isFault(error)) throw error; // It has ended: `ended` follows.
      });
      this.#mustCheck = false;
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#endedAt = this.#world.clock.elapsed();
      this.#ports.say(`the search index is not brought up to date: ${error.message}. ${error.hint}`);
    }
  }

  #order(): IndexOrder {
    const { maxBytes, skip } = this.#ports;
    return { home: this.#world.home, maxBytes, check: this.#mustCheck ? 1 : 0, skip: skip() };
  }

  #heard(bytes: Uint8Array, from: "stdout" | "stderr"): void {
    if (this.#life === undefined) return;
    if (from === "stderr") this.#life.words = `${this.#life.words}${Buffer.from(bytes)}`.slice(0, MAX_WORDS);
    for (const line of (from === "stdout" && this.#life.reader.push(bytes)) || []) {
      const said = indexProgressIn(line);
      if (said === undefined) continue;
      this.#progress = said;
      if (said.damaged.length > 0)
        this.#ports.say(`the search index was damaged: ${said.damaged.join(", ").slice(0, MAX_WORDS)}`);
    }
  }

  /** IG2 */
  #ended(ending: Ending): void {
    const words = this.#life?.words.trim() ?? "";
    this.#life = undefined;
    this.#progress = undefined;
    this.#endedAt = this.#world.clock.elapsed();
    if (this.#isUrgent) this.now(); // IG4
    if (this.#closed || (ending.kind === "exited" && ending.code === 0)) return;
    this.#isDirty = true;
    const how = ending.kind === "exited" ? `exit code ${ending.code}` : ending.signal;
    this.#ports.say(`the search index is not up to date, because its program ended (${how})${words && `: ${words}`}`);
  }
}
