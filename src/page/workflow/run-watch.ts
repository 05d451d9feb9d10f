// What is fetched about one run while it is looked at: the run itself, the steps and the items that are in the window.
// RW1. Each is fetched again when the run may have changed, and nothing while the view is closed.
// RW2. One request for steps at a time, always for what is in the window then.
// RW3. After a rollback the numbers of steps mean others: all pages are let go.
import { effect, signal } from "@preact/signals";
import { ok, type Result } from "../../base/result.ts";
import type { ShownRun } from "../../wire/rpc/workflow.ts";
import { after } from "../browser.ts";
import { Feed } from "../state/feed.ts";
import { call, feeds } from "../state/session.ts";
import type { ItemPieces } from "./item-grid.ts";
import { missingPage, type StepPages, type StepRange, type TimelineRow, withPage } from "./step-rows.ts";

/** Behind every step: the run alone is answered. */
const NO_STEPS = Number.MAX_SAFE_INTEGER;

export class RunWatch {
  readonly id: string;
  readonly run: Feed<ShownRun>;
  readonly pages = signal<StepPages>(new Map());
  /** The first step that is kept. */
  readonly first = signal(0);
  readonly #items: Feed<ItemPieces>;
  #rows: readonly TimelineRow[] = [];
  #pieces: readonly number[] = [];
  #isFetching = false;

  constructor(id: string) {
    this.id = id;
    this.run = new Feed(() => call("workflow.show", { id, from: NO_STEPS }), after);
    this.#items = new Feed(() => this.#fetchItems(), after);
  }

  get pieces(): ItemPieces {
    return this.#items.value.value ?? new Map();
  }

  /** Follows the run until the returned function is called (RW1). */
  start(): () => void {
    let ended = 0;
    const ends = [
      effect(() => {
        if (feeds.runs.value.value !== undefined) this.run.refresh();
      }),
      effect(() => {
        const now = this.run.value.value;
        if (now === undefined) return;
        if (now.ended < ended) this.#forgetSteps(); // RW3
        ended = now.ended;
        void this.#fetchSteps();
        if (this.#pieces.length > 0) this.#items.refresh();
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** These rows are in the window. */
  shows(rows: readonly TimelineRow[]): void {
    this.#rows = rows;
    void this.#fetchSteps();
  }

  /** These pieces of items are in the window. */
  showsItems(pieces: readonly number[]): void {
    if (pieces.join() === this.#pieces.join()) return;
    this.#pieces = pieces;
    this.#items.refresh();
  }

  #forgetSteps(): void {
    this.pages.value = new Map();
    this.first.value = 0;
  }

  /** RW2 */
  async #fetchSteps(): Promise<void> {
    if (this.#isFetching) return;
    this.#isFetching = true;
    for (;;) {
      const range: StepRange = { first: this.first.peek(), end: this.run.value.peek()?.ended ?? 0 };
      const start = missingPage(this.pages.peek(), this.#rows, range);
      if (start === undefined) break;
      const answer = await call("workflow.show", { id: this.id, from: start });
      if (!answer.ok) break; // It is asked again when something changes.
      const { from, records, ended } = answer.value;
      if (from > start) this.first.value = Math.max(this.first.peek(), from);
      this.pages.value = withPage(this.pages.peek(), start, { from, records, of: Math.max(range.end, ended) });
      if (ended <= range.end) continue;
      this.run.refresh(); // It has gone on since it was last looked at.
      break;
    }
    this.#isFetching = false;
  }

  async #fetchItems(): Promise<Result<ItemPieces>> {
    const found = new Map<number, string>();
    for (const from of this.#pieces) {
      const answer = await call("workflow.items", { id: this.id, from });
      if (!answer.ok) return answer;
      found.set(from, answer.value.states);
    }
    return ok(found);
  }
}
