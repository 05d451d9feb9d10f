// The daemon's side of the screen program: asks it for snapshots, farewells and cells, and runs it only while it is
// needed.
// SC1. Every request ends with an answer or a refusal. The program answers in order, so if it dies or stops answering,
//      the first unanswered request is to blame. A request that does this twice is given up; the others are sent again.
// SC2. The program is started when it is first needed. It exits by itself when it is idle; if it ends while no request
//      is pending, nothing needs to be done.
// SC3. Requests are sent one after the other, as the program reads them: each waiting request is in memory only once.
// SC4. An end with requests pending is a crash, and one that is killed for its silence is unresponsive; `crashed` is
//      told (docs/decisions/0025-screen-program.md says why no heartbeat watches it).
// SC5. If a past screen is not exact, the tape may be missing key frames: they are made, part by part, so that others
//      are answered in between.
import { isFault } from "../../base/fault.ts";
import { type Refusal, type Result, refused } from "../../base/result.ts";
import {
  plainRestoreBanner,
  SCROLLBACK_BYTES,
  type ScreenCells,
  type ScreenSnapshot,
} from "../../core/terminal/screen.ts";
import { terminalDirectory } from "../../home/held/holder-files.ts";
import { CrashReason, type CrashRecord, crashRecord } from "../../home/last-crash.ts";
import type { HolderQuestion } from "../../wire/holder/protocol.ts";
import { decodeLine, encodeLine, LineReader } from "../../wire/lines.ts";
import {
  answerOf,
  MAX_SCREEN_LINE,
  parseScreenAnswer,
  type ScreenAnswers,
  type ScreenRequest,
  type ScreenSize,
} from "../../wire/screen.ts";
import type { Children, Ending, PipeChild } from "../../world/children.ts";
import type { Clock } from "../../world/clock.ts";
import type { Self } from "../../world/self.ts";

export type ScreensWorld = {
  readonly children: Children;
  readonly clock: Clock;
  readonly self: Self;
  readonly home: string;
};

export type ScreenOf = { readonly id: string; readonly size: ScreenSize; readonly from?: ScreenSnapshot };

export const SCREEN_SOURCE = "src/screen/main.ts";
/** SC1. The longest possible tape takes some seconds to parse, and many more on a busy machine. */
const ANSWER_MS = 60_000;
const MAX_DEATHS = 2;

type Ask = {
  readonly n: number;
  readonly line: Uint8Array;
  readonly settle: (answer: Result<unknown>) => void;
  deaths: number;
};

/** One run of the program. */
type Life = { readonly child: PipeChild; sending: Promise<void>; cancel: () => void; silent: boolean };

export class Screens {
  readonly #world: ScreensWorld;
  readonly #crashed: (crash: CrashRecord) => void;
  readonly #answerMs: number;
  /** The unanswered requests, in the order in which they were made. */
  readonly #asked = new Map<number, Ask>();
  /** Up to where key frames were made, by terminal (SC5). */
  readonly #indexed = new Map<string, number>();
  #life: Life | undefined;
  #last = 0;
  #closed = false;

  constructor(world: ScreensWorld, crashed: (crash: CrashRecord) => void, answerMs: number = ANSWER_MS) {
    this.#world = world;
    this.#crashed = crashed;
    this.#answerMs = answerMs;
  }

  /** The snapshots that could be made, by id. */
  async snapshot(
    requests: readonly (ScreenOf & { readonly maxBytes?: number })[],
  ): Promise<Map<string, ScreenSnapshot>> {
    const made = new Map<string, ScreenSnapshot>();
    const each = requests.map(async ({ maxBytes = SCROLLBACK_BYTES, ...of }) => {
      const answer = await this.#ask("snapshot", { ...this.#place(of), op: "snapshot", maxBytes });
      if (answer.ok) made.set(of.id, answer.value);
    });
    await Promise.all(each);
    return made;
  }

  /**
   * What is written to the tape between two generations of a terminal; a plain banner if its screen cannot be drawn.
   */
  async farewell({ message, ...of }: ScreenOf & { readonly message: string }): Promise<string> {
    const answer = await this.#ask("farewell", { ...this.#place(of), op: "farewell", message });
    return answer.ok ? answer.value : plainRestoreBanner(message);
  }

  /** The screen as separate cells, for comparisons. */
  cells(of: ScreenOf): Promise<Result<ScreenCells>> {
    return this.#ask("cells", { ...this.#place(of), op: "cells" });
  }

  /** The screen as it was at an earlier offset. It is not exact if that would take long; then the next one is. */
  async past({ until, ...of }: ScreenOf & { readonly until: number }): Promise<Result<ScreenSnapshot>> {
    const answer = await this.#ask("past", { ...this.#place(of), op: "past", until, maxBytes: 0 });
    if (answer.ok && !answer.value.exact && until > (this.#indexed.get(of.id) ?? 0)) void this.#index(of); // SC5
    return answer;
  }

  /** SC5 */
  async #index(of: ScreenOf): Promise<void> {
    const ask = (after: number) => this.#ask("index", { ...this.#place(of), op: "index", after });
    let after: number | null = this.#indexed.get(of.id) ?? 0;
    this.#indexed.set(of.id, Number.POSITIVE_INFINITY); // Once at a time.
    let done = after;
    while (after !== null) {
      done = after;
      const answer: Result<number | null> = await ask(after);
      after = answer.ok ? answer.value : null;
    }
    this.#indexed.set(of.id, done);
  }

  /** What the terminal says to a query of its program; undefined if that is not known. */
  async reply({ offset, query, ...of }: ScreenOf & Omit<HolderQuestion, "n">): Promise<string | undefined> {
    const answer = await this.#ask("reply", { ...this.#place(of), op: "reply", query, until: offset });
    return answer.ok && answer.value !== "" ? answer.value : undefined;
  }

  close(): void {
    this.#closed = true;
    this.#life?.cancel();
    this.#life?.child.closeInput();
    for (const ask of this.#asked.values()) this.#settle(ask, { ok: false, error: CLOSED });
  }

  #place({ id, size, from }: ScreenOf) {
    return { directory: terminalDirectory(this.#world.home, id), size, ...(from === undefined ? {} : { from }) };
  }

  async #ask<Op extends keyof ScreenAnswers>(op: Op, request: ScreenRequest): Promise<Result<ScreenAnswers[Op]>> {
    if (this.#closed) return { ok: false, error: CLOSED };
    this.#last += 1;
    const n = this.#last;
    const answer = new Promise<Result<unknown>>((settle) => {
      const ask = { n, line: encodeLine({ n, ...request }), settle, deaths: 0 };
      this.#asked.set(n, ask);
      if (this.#life === undefined) this.#start();
      else this.#send(this.#life, ask);
    });
    return answerOf(op, await answer);
  }

  /** SC2 */
  #start(): void {
    const { children, self } = this.#world;
    const reader = new LineReader(MAX_SCREEN_LINE);
    try {
      const child = children.pipes(
        { argv: self.command(SCREEN_SOURCE), cwd: "/", env: self.environment() },
        {
          output: (bytes, from) => {
            if (from === "stdout") this.#heard(reader.push(bytes));
          },
          ended: (ending) => this.#ended(ending),
        },
      );
      this.#life = { child, sending: Promise.resolve(), cancel: () => undefined, silent: false };
      for (const ask of this.#asked.values()) this.#send(this.#life, ask);
    } catch (error) {
      if (!isFault(error)) throw error;
      for (const ask of this.#asked.values()) this.#settle(ask, refused("screen.start", error.message, error.hint));
    }
  }

  /** SC3 */
  #send(life: Life, ask: Ask): void {
    this.#watch(life);
    life.sending = life.sending
      .then(() => (this.#asked.has(ask.n) ? life.child.write(ask.line) : undefined))
      .catch((error: unknown) => {
        if (!isFault(error)) throw error; // The program has ended: `ended` follows.
      });
  }

  /** SC1: the time limit counts from the last answer. */
  #watch(life: Life): void {
    life.cancel();
    if (this.#asked.size === 0) return;
    life.cancel = this.#world.clock.after(this.#answerMs, () => {
      life.silent = true;
      life.child.signal("SIGKILL");
    });
  }

  #heard(lines: readonly string[] | undefined): void {
    if (lines === undefined) {
      this.#life?.child.signal("SIGKILL");
      return;
    }
    for (const line of lines) {
      const found = parseScreenAnswer(decodeLine(line) ?? {});
      const ask = found === undefined ? undefined : this.#asked.get(found.n);
      if (found !== undefined && ask !== undefined) this.#settle(ask, found.answer);
    }
    if (this.#life !== undefined) this.#watch(this.#life);
  }

  #ended(ending: Ending): void {
    const life = this.#life;
    life?.cancel();
    this.#life = undefined;
    const [first] = this.#asked.values();
    if (first === undefined || this.#closed) return;
    if (life !== undefined) this.#report(life, ending);
    first.deaths += 1; // SC1
    if (first.deaths === MAX_DEATHS) this.#settle(first, { ok: false, error: KILLS });
    if (this.#asked.size > 0) this.#start();
  }

  /** SC4 */
  #report({ child, silent }: Life, ending: Ending): void {
    const seen = ending.kind === "exited" ? CrashReason.EXIT_CODE : CrashReason.SIGNAL;
    const facts = { name: "screen", pid: child.pid, reason: silent ? CrashReason.UNRESPONSIVE : seen };
    this.#crashed(crashRecord(facts, ending, this.#world.clock.now()));
  }

  #settle(ask: Ask, answer: Result<unknown>): void {
    this.#asked.delete(ask.n);
    ask.settle(answer);
  }
}

const CLOSED: Refusal = {
  code: "screen.closed",
  message: "The daemon is stopping.",
  hint: "Ask again when it is up.",
};

const KILLS: Refusal = {
  code: "screen.died",
  message: "The screen program died of this terminal's output, twice.",
  hint: "The tape itself is whole: see `holdfast history`.",
};
