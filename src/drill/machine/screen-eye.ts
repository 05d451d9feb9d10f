// Asks a separate screen program for the cells of terminals, so that the daemon's screens are not checked by the
// daemon.
// SE1. It is not one of the drill's processes: it does not carry the drill's variable, so it is not killed with the
//      machine.
import { type Refusal, type Result, refused } from "../../base/result.ts";
import type { ScreenCells, ScreenSnapshot } from "../../core/terminal/screen.ts";
import { parseAnswer } from "../../wire/answer-line.ts";
import { decodeLine, encodeLine, LineReader } from "../../wire/lines.ts";
import { answerOf, MAX_SCREEN_LINE, type ScreenSize } from "../../wire/screen.ts";
import type { PipeChild } from "../../world/children.ts";
import { realChildren } from "../../world/real/children.ts";
import type { Self } from "../../world/self.ts";

export type Look = {
  readonly directory: string;
  readonly size: ScreenSize;
  readonly from?: ScreenSnapshot;
  readonly until: number;
};

export class ScreenEye {
  readonly #self: Self;
  readonly #asked = new Map<number, (answer: Result<unknown>) => void>();
  #child: PipeChild | undefined;
  #last = 0;

  /** SE1: our own process's, not the drill site's. */
  constructor(self: Self) {
    this.#self = self;
  }

  async cells(look: Look): Promise<Result<ScreenCells>> {
    this.#last += 1;
    const n = this.#last;
    const answered = new Promise<Result<unknown>>((settle) => void this.#asked.set(n, settle));
    await this.#program().write(encodeLine({ n, op: "cells", ...look }));
    return answerOf("cells", await answered);
  }

  close(): void {
    this.#child?.closeInput();
  }

  #program(): PipeChild {
    if (this.#child !== undefined) return this.#child;
    const reader = new LineReader(MAX_SCREEN_LINE);
    const command = { argv: this.#self.command("src/screen/main.ts"), cwd: "/", env: this.#self.environment() };
    this.#child = realChildren().pipes(command, {
      output: (bytes, from) => (from === "stdout" ? this.#heard(reader.push(bytes) ?? []) : undefined),
      ended: () => this.#ended(),
    });
    return this.#child;
  }

  #heard(lines: readonly string[]): void {
    for (const line of lines) {
      const found = parseAnswer(decodeLine(line) ?? {});
      if (found !== undefined) this.#settle(found.n, found.answer);
    }
  }

  #ended(): void {
    this.#child = undefined;
    for (const n of [...this.#asked.keys()]) this.#settle(n, { ok: false, error: ENDED });
  }

  #settle(n: number, answer: Result<unknown>): void {
    this.#asked.get(n)?.(answer);
    this.#asked.delete(n);
  }
}

const ENDED: Refusal = refused("screen.died", "The screen program ended.", "See its output on standard error.").error;
