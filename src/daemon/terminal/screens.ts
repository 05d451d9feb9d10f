// The daemon's side of the screen program: asks it for snapshots, farewells and cells, and runs it only while it is
// needed.
// SC5. If a past screen is not exact, the tape may be missing key frames: they are made, part by part, so that others
//      are answered in between.
import type { Refusal, Result } from "../../base/result.ts";
import {
  plainRestoreBanner,
  SCROLLBACK_BYTES,
  type ScreenCells,
  type ScreenSnapshot,
} from "../../core/terminal/screen.ts";
import { terminalDirectory } from "../../home/held/holder-files.ts";
import type { CrashRecord } from "../../home/last-crash.ts";
import type { HolderQuestion } from "../../wire/holder/protocol.ts";
import {
  answerOf,
  MAX_SCREEN_LINE,
  type ScreenAnswers,
  type ScreenRequest,
  type ScreenSize,
} from "../../wire/screen.ts";
import { AskedProgram, type AskedWorld } from "../asked-program.ts";

export type ScreenOf = { readonly id: string; readonly size: ScreenSize; readonly from?: ScreenSnapshot };

export const SCREEN_SOURCE = "src/screen/main.ts";
/** The longest possible tape takes some seconds to parse, and many more on a busy machine. */
const ANSWER_MS = 60_000;

export class Screens {
  readonly #home: string;
  readonly #program: AskedProgram;
  /** Up to where key frames were made, by terminal (SC5). */
  readonly #indexed = new Map<string, number>();

  constructor(world: AskedWorld, crashed: (crash: CrashRecord) => void, answerMs: number = ANSWER_MS) {
    this.#home = world.home;
    const limits = { maxLine: MAX_SCREEN_LINE, answerMs, kills: KILLS };
    this.#program = new AskedProgram(world, { name: "screen", command: [SCREEN_SOURCE], ...limits, crashed });
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
    this.#program.close();
  }

  #place({ id, size, from }: ScreenOf) {
    return { directory: terminalDirectory(this.#home, id), size, ...(from === undefined ? {} : { from }) };
  }

  async #ask<Op extends keyof ScreenAnswers>(op: Op, request: ScreenRequest): Promise<Result<ScreenAnswers[Op]>> {
    return answerOf(op, await this.#program.ask(request));
  }
}

const KILLS: Refusal = {
  code: "screen.died",
  message: "The screen program died of this terminal's output, twice.",
  hint: "The tape itself is whole: see `holdfast history`.",
};
