// Answers what a program asks its terminal while no window is attached that would: some shells and editors wait seconds
// for it.
// QA1. Only what needs no emulator is answered here: the identity (DA1, DA2), the status (DSR 5), the position of the
//      cursor as a window last reported it (DSR 6, DECXCPR), the size, and modes as not known (DECRQM). All else is
//      silence, as from a terminal that does not know it.
// QA2. A question may be split between two pieces of output: its beginning is kept.
// QA3. Positions and modes are marked as questions that the screen program answers better (questions.ts).
import type { HolderSize } from "../wire/holder/protocol.ts";

const ESC = "\u001b";
const ESC_BYTE = 0x1b;
const QUESTION = new RegExp(`${ESC}(?:\\[(?:(>?)0?(c)|(\\??6|5)n|(\\??\\d{1,5})\\$p|(18)t)|(Z))`, "g");
const BEGUN = new RegExp(`${ESC}(?:\\[[>?]?\\d{0,5}\\$?)?$`);
/** Longer than any question above. */
const LONGEST = 12;
/** A window's answer to DSR 6. */
const POSITION = new RegExp(`${ESC}\\[(\\d{1,5};\\d{1,5})R`, "g");

/** `query`: what the screen program may be asked (QA3), which ended `after` bytes before the end of the output. */
export type QueryAnswer = { readonly text: string; readonly query?: string; readonly after: number };

export class Queries {
  #rest = "";
  #cursor = "1;1";

  /** What is to be typed for the program, in the order in which it asked. */
  answersTo(output: Uint8Array, size: HolderSize): QueryAnswer[] {
    if (this.#rest === "" && output.indexOf(ESC_BYTE) < 0) return [];
    const text = this.#rest + latin1(output);
    this.#rest = BEGUN.exec(text.slice(-LONGEST))?.[0] ?? ""; // QA2
    return Array.from(text.matchAll(QUESTION), (match) => {
      const [query] = match;
      const after = text.length - match.index - query.length;
      const isOfScreen = query.endsWith("6n") || query.endsWith("$p"); // QA3
      return { text: this.#answer(match, size), after, ...(isOfScreen && { query }) };
    });
  }

  /** Output that a window got: it answers. */
  skip(): void {
    this.#rest = "";
  }

  /** Input of a window: its own answers are among it. */
  typed(input: Uint8Array): void {
    if (input.indexOf(ESC_BYTE) < 0) return;
    for (const [, position = this.#cursor] of latin1(input).matchAll(POSITION)) this.#cursor = position;
  }

  /** QA1 */
  #answer([, second, identity, status, mode, area]: RegExpMatchArray, { cols, rows }: HolderSize): string {
    if (mode !== undefined) return `${ESC}[${mode};0$y`;
    if (area !== undefined) return `${ESC}[8;${rows};${cols}t`;
    if (status === "5") return `${ESC}[0n`;
    if (status !== undefined) return `${ESC}[${status === "?6" ? "?" : ""}${this.#cursor}R`;
    return identity !== undefined && second === ">" ? `${ESC}[>0;276;0c` : `${ESC}[?1;2c`;
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
