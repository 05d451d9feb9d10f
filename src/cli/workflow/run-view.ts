// The display of a run that is followed: a line for each step that ended, and on a terminal two live lines: the
// progress, and the newest output.
// SG1. Messages go to stderr. The live lines are overwritten in place, and removed when the run is over or left. They
//      leave room for the echo of a key, which would otherwise begin another row.
// SG2. The time left is estimated from the rate of the items so far; without a rate nothing is shown.
// SG3. Of several running attempts, the one that wrote last is shown.
// SG4. Steps that ended before this command are marked. A retry is announced once, also one that was over before we
//      looked, and an iteration has its number.
// SG5. A line counts a map's items when all have ended or the run stops. Without live lines also when another tenth of
//      them has ended, or when some have and the last line is half a minute old.
import { visibleLine } from "../../base/visible.ts";
import { lastLines } from "../../home/held/attempt-tape.ts";
import { attemptPath } from "../../log/session/places.ts";
import type { ListedStep, ShownAttempt, ShownRun } from "../../wire/rpc/workflow.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { foldedFor } from "../fold.ts";
import { fit } from "../print.ts";
import type { RunView } from "./follow.ts";
import { isUnderWay, stateText } from "./rows.ts";

const CLEAR = "\r\u001b[2K";
const CLEAR_TWO = `${CLEAR}\u001b[1A\u001b[2K`;
/** SG1: "^C" or "^\\", as the terminal shows them behind the last line, and the cursor. */
const ECHO_CELLS = 3;
/** SG5 */
const MAX_ITEM_LINES = 10;
const ITEM_LINE_MS = 30_000;
/** SG3: the attempts that are looked at; a map may run more at once. */
const MAX_WATCHED = 8;
const MARKS: Readonly<Record<ListedStep["outcome"], string>> = {
  succeeded: "done",
  failed: "FAILED",
  ignored: "failed, ignored",
  skipped: "skipped",
  kept: "kept",
};

const nothing = async () => undefined;
export const NO_SIGHT: RunView = { live: false, show: nothing, look: nothing, end: nothing };

/** `old` steps had ended before this command was called (SG4). */
export function sightOf(world: DaemonCommandWorld, home: string, old: number): RunView {
  const { tty } = world.console.err;
  const lines = newsOf(world, new StepLines(old), new ItemLines(tty));
  return tty ? new LiveSight(world, home, lines) : plainSight(world, lines);
}

/** The lines that are to be printed about a run. */
type News = (run: ShownRun) => string;

function newsOf({ console, clock }: DaemonCommandWorld, steps: StepLines, items: ItemLines): News {
  return (run) => {
    const counted = items.of(run, clock.elapsed());
    const isInMap = run.at === null && isUnderWay(run.state);
    const news = isInMap ? steps.of(run) + counted : counted + steps.of(run);
    return foldedFor(console.err, console.widthOf, news);
  };
}

function plainSight({ console }: DaemonCommandWorld, newsAbout: News): RunView {
  const show = async (run: ShownRun) => {
    const news = newsAbout(run);
    if (news !== "") await console.err.write(news);
  };
  return { live: false, show, look: nothing, end: nothing };
}

type SeenSteps = Pick<ShownRun, "from" | "records" | "retries" | "attempts">;

/** SG4 */
export class StepLines {
  readonly #old: number;
  readonly #announced = new Set<string>();

  constructor(old: number) {
    this.#old = old;
  }

  /** What is to be said about a run that was not said before. */
  of(run: SeenSteps): string {
    const ended = run.records.flatMap((record, at) =>
      run.from + at < this.#old ? [`earlier: ${stepText(record)}`] : this.#ended(record),
    );
    return [...ended, ...this.#retries(run)].map((line) => `${visibleLine(line)}\n`).join("");
  }

  #ended(record: ListedStep): string[] {
    const { step, tries = 1 } = record;
    const retries = Array.from({ length: tries - 1 }, (_, at) => ({ step, item: null, tries: at + 1 }));
    const missed = retries.flatMap((retry) => this.#announce(retry));
    for (const retry of retries) this.#announced.delete(retryText(retry)); // The next iteration has retries of its own.
    return [...missed, stepText({ ...record, tries: 1 })];
  }

  #retries({ retries = [], attempts }: SeenSteps): string[] {
    const begun = attempts.flatMap(({ step, item, try: time = 1 }) =>
      time > 1 ? [{ step, item, tries: time - 1 }] : [],
    );
    return [...retries, ...begun].flatMap((retry) => this.#announce(retry));
  }

  #announce(retry: Retry): string[] {
    const text = retryText(retry);
    if (this.#announced.has(text)) return [];
    this.#announced.add(text);
    return [text];
  }
}

type SeenItems = Pick<ShownRun, "items" | "state">;

/** SG5 */
export class ItemLines {
  readonly #isLive: boolean;
  #said: { readonly text: string; readonly ended: number; readonly at: number } | undefined;

  constructor(isLive: boolean) {
    this.#isLive = isLive;
  }

  /** At a time in milliseconds; empty if nothing is to be said. */
  of({ items, state }: SeenItems, now: number): string {
    if (items === null || !items.complete || items.total === 0) return "";
    const ended = items.succeeded + items.failed;
    const text = `map: ${ended}/${items.total} items${items.failed > 0 ? `, ${items.failed} failed` : ""}\n`;
    if (text === this.#said?.text || !this.#isDue(ended, items.total, { isOver: !isUnderWay(state), now })) return "";
    this.#said = { text, ended, at: now };
    return text;
  }

  #isDue(ended: number, total: number, { isOver, now }: { isOver: boolean; now: number }): boolean {
    if (ended === total || isOver) return true;
    if (this.#isLive) return false;
    if (this.#said === undefined) return true;
    const grown = Math.abs(ended - this.#said.ended); // A retry takes failed items back.
    return grown >= total / MAX_ITEM_LINES || now - this.#said.at >= ITEM_LINE_MS;
  }
}

type Retry = { readonly step: string; readonly item: number | null; readonly tries: number };

function retryText(retry: Retry): string {
  return `${whoText(retry)}: try ${retry.tries} failed, and it is tried again`;
}

export function stepText({ step, outcome, durationMs, message, iteration, tries = 1 }: ListedStep): string {
  const often = tries > 1 ? `, ${tries} tries` : "";
  const took = outcome === "skipped" || outcome === "kept" ? "" : ` (${(durationMs / 1000).toFixed(1)} s${often})`;
  const round = iteration === undefined ? "" : `iteration ${iteration}, `;
  return `${round}${step}: ${MARKS[outcome]}${took}${message === null ? "" : `: ${message}`}`;
}

/** SG1 */
class LiveSight implements RunView {
  readonly live = true;
  readonly #world: DaemonCommandWorld;
  readonly #home: string;
  readonly #began: number;
  #first: number | undefined;
  #run: ShownRun | undefined;
  /** What is on the screen now. */
  #drawn: readonly string[] = [];
  /** SG3: the newest line of each attempt, and of the one that changed last. */
  #lines = new Map<string, string>();
  #written = "";
  readonly #newsAbout: News;

  constructor(world: DaemonCommandWorld, home: string, newsAbout: News) {
    this.#world = world;
    this.#home = home;
    this.#newsAbout = newsAbout;
    this.#began = world.clock.elapsed();
  }

  async show(run: ShownRun): Promise<void> {
    this.#first ??= endedItems(run);
    this.#run = run;
    this.#watch(run);
    await this.#draw(this.#newsAbout(run));
  }

  async look(): Promise<void> {
    if (this.#run === undefined) return;
    this.#watch(this.#run);
    await this.#draw("");
  }

  async end(): Promise<void> {
    this.#run = undefined;
    await this.#draw("");
  }

  async #draw(above: string): Promise<void> {
    const rows = this.#rows();
    if (above === "" && rows.join("\n") === this.#drawn.join("\n")) return;
    const clear = this.#drawn.length === 2 ? CLEAR_TWO : CLEAR;
    this.#drawn = rows;
    await this.#world.console.err.write(`${clear}${above}${rows.join("\n")}`);
  }

  #rows(): string[] {
    const { console, clock } = this.#world;
    const run = this.#run;
    if (run === undefined || !isUnderWay(run.state)) return [];
    const seconds = (clock.elapsed() - this.#began) / 1000;
    const rows = [liveText(run, endedItems(run) - (this.#first ?? 0), seconds)];
    if (this.#written !== "") rows.push(this.#written);
    return rows.map((row) => fit(visibleLine(row), console.err.columns() - ECHO_CELLS, console.widthOf));
  }

  /** SG3 */
  #watch({ attempts, repo, state }: ShownRun): void {
    const { disk } = this.#world;
    const running = state === "running" ? attempts.slice(0, MAX_WATCHED) : [];
    const before = this.#lines;
    this.#lines = new Map();
    const note = (attempt: ShownAttempt, stream: string, line: string) => {
      const key = `${attempt.attempt} ${stream}`;
      this.#lines.set(key, line);
      if (line !== "" && line !== before.get(key)) this.#written = `  ${whoText(attempt)}: ${line}`;
    };
    for (const attempt of running) {
      const directory = attemptPath(this.#home, repo, attempt.attempt);
      if (attempt.said !== null) note(attempt, "said", attempt.said);
      else
        for (const stream of ["stdout", "stderr"] as const)
          note(attempt, stream, lastLines(disk, directory, stream).at(-1) ?? "");
    }
    if (![...this.#lines.values()].some((line) => line !== "" && this.#written.endsWith(line))) this.#written = "";
  }
}

function whoText({ step, item }: Pick<ShownAttempt, "step" | "item">): string {
  return item === null ? step : `${step}, item ${item}`;
}

function endedItems({ items }: ShownRun): number {
  return items === null ? 0 : items.succeeded + items.failed;
}

/** SG2 */
function liveText(run: ShownRun, done: number, seconds: number): string {
  const { items } = run;
  const rate = done / Math.max(seconds, 1);
  const left = items === null ? 0 : items.total - items.succeeded - items.failed;
  const pace = done > 0 ? `, ${rate.toFixed(1)}/s, ${Math.ceil(left / rate)} s left` : "";
  const failed = items !== null && items.failed > 0 ? `, ${items.failed} failed` : "";
  return `${run.name} ${stateText(run)}${failed}${pace}, ${Math.floor(seconds)} s`;
}
