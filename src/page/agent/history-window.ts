// The part of an agent's past that is in the page: a window of bounded length, which grows where a person scrolls to
// and follows what is new while they look at the end.
// HW1. However long the past is, the page has at most so many rows: what is far from the place that grows is dropped,
//      and fetched again when it is needed.
// HW2. One request at a time. Notices that come meanwhile, and for a moment after, are answered by one more.
//      If more has come than one request brings, a person who looks at the end sees the new end at once.
// HW3. Whole entries are dropped: a window begins and ends between two of them.
import { type Signal, signal } from "@preact/signals";
import type { Refusal, Result } from "../../base/result.ts";
import type { AgentHistory, HistoryRow } from "../../wire/rpc/agent.ts";

/** Rows a request, about. */
export const PAGE = 50;
/** HW1 */
export const MAX_ROWS = 250;

/** HW2. Too short to be noticed by a person. */
const PAUSE_MS = 200;

export type HistoryWish = { readonly before?: number; readonly after?: number; readonly limit: number };
export type HistoryPart = {
  readonly rows: readonly HistoryRow[];
  readonly earlier: number | null;
  readonly later: number | null;
};

export type HistoryPorts = {
  ask(wish: HistoryWish): Promise<Result<AgentHistory>>;
  after(ms: number, fn: () => void): void;
};

const NOTHING: HistoryPart = { rows: [], earlier: null, later: null };

export class HistoryWindow {
  readonly part: Signal<HistoryPart | undefined> = signal(undefined);
  readonly refusal: Signal<Refusal | undefined> = signal(undefined);
  /** Whether a person looks at the end of what is shown. */
  isFollowing = true;
  readonly #ports: HistoryPorts;
  /** The last entry that was looked at, of those that follow on the window. */
  #last = 0;
  #isAsking = false;
  #asked: Promise<unknown> = Promise.resolve();
  /** Whether something has happened since the last request for news, and whether that one is too recent. */
  #isWanted = false;
  #isResting = false;

  constructor(ports: HistoryPorts) {
    this.#ports = ports;
  }

  /** The last entries, or those up to `seq` and some after it. */
  async start(seq?: number): Promise<void> {
    const place = seq === undefined ? {} : { before: seq + 1 };
    this.isFollowing = seq === undefined;
    while (this.#isAsking) await this.#asked; // A person wants to be there, whatever is on its way.
    await this.#get({ ...place, limit: PAGE }, ({ rows, earlier, later }) => ({ rows, earlier, later }));
    if (seq !== undefined) await this.goOn();
  }

  async earlier(): Promise<void> {
    const { rows, earlier, later } = this.part.peek() ?? NOTHING;
    if (earlier === null) return;
    await this.#get({ before: earlier, limit: PAGE }, (more) => firstOf([...more.rows, ...rows], more.earlier, later));
  }

  /** What follows on the window; also what is new, if it has come to the end. */
  async goOn(): Promise<void> {
    const { rows, earlier } = this.part.peek() ?? NOTHING;
    await this.#get({ after: this.#last, limit: PAGE }, (more) => {
      return lastOf([...rows, ...more.rows], earlier, more.later);
    });
  }

  /** Something has happened. It is fetched if the window is at the end. */
  news(): void {
    this.#isWanted = true;
    const part = this.part.peek();
    if (this.#isAsking || this.#isResting || part === undefined || (part.later !== null && !this.isFollowing)) return;
    this.#isWanted = false;
    this.#isResting = true;
    this.#ports.after(PAUSE_MS, () => {
      this.#isResting = false;
      if (this.#isWanted) this.news();
    });
    void this.#follow();
  }

  /** HW2 */
  async #follow(): Promise<void> {
    await this.goOn();
    if (this.isFollowing && this.part.peek()?.later !== null) await this.start();
  }

  /** HW2 */
  async #get(wish: HistoryWish, merge: (more: AgentHistory) => HistoryPart): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const asked = this.#ports.ask(wish);
    this.#asked = asked;
    const more = await asked;
    this.refusal.value = more.ok ? undefined : more.error;
    if (more.ok) this.#take(wish, more.value, merge(more.value));
    this.#isAsking = false;
    if (this.#isWanted) this.news();
  }

  #take(wish: HistoryWish, more: AgentHistory, part: HistoryPart): void {
    const isBefore = wish.before !== undefined && this.part.peek() !== undefined;
    if (!isBefore) this.#last = more.last;
    else if (part.later !== null) this.#last = part.later;
    this.part.value = part;
  }
}

/** HW1, HW3. The first rows; what is dropped behind them follows on the last one that stays. */
function firstOf(rows: readonly HistoryRow[], earlier: number | null, later: number | null): HistoryPart {
  const cut = rows[MAX_ROWS]?.seq;
  const kept = cut === undefined ? [] : rows.filter(({ seq }) => seq < cut);
  const last = kept.at(-1);
  return last === undefined ? { rows, earlier, later } : { rows: kept, earlier, later: last.seq };
}

/** HW1, HW3 */
function lastOf(rows: readonly HistoryRow[], earlier: number | null, later: number | null): HistoryPart {
  const cut = rows[rows.length - MAX_ROWS - 1]?.seq;
  const kept = cut === undefined ? [] : rows.filter(({ seq }) => seq > cut);
  const first = kept[0];
  return first === undefined ? { rows, earlier, later } : { rows: kept, earlier: first.seq, later };
}
