// What a person typed, as keys. A terminal also sends sequences that are no keys, and pastes.
// KY1. A sequence is one key or none: no character of one is ever taken for a key that was pressed, even if it comes in
//      two pieces. So an answer of the terminal, a click, or a key with Alt allows nothing.
// KY2. What is pasted is text, never keys.
const ESC = "\u001b";

const NAMED = {
  ...{ [`${ESC}[A`]: "up", [`${ESC}OA`]: "up", [`${ESC}[B`]: "down", [`${ESC}OB`]: "down" },
  ...{ [`${ESC}[5~`]: "pageup", [`${ESC}[6~`]: "pagedown" },
  ...{ [`${ESC}[H`]: "home", [`${ESC}OH`]: "home", [`${ESC}[1~`]: "home" },
  ...{ [`${ESC}[F`]: "end", [`${ESC}OF`]: "end", [`${ESC}[4~`]: "end" },
  ...{ [ESC]: "escape", "\r": "enter", "\n": "enter", "\t": "down", "\u007f": "erase", "\b": "erase" },
  ...{ "\u0015": "clear", "\u000c": "redraw", "\u0003": "quit", "\u0004": "quit", "\u001c": "quit" },
} as const satisfies Readonly<Record<string, string>>;

export type KeyName = (typeof NAMED)[keyof typeof NAMED];

export type Key =
  | { readonly kind: "named"; readonly name: KeyName }
  | { readonly kind: "typed" | "pasted"; readonly text: string };

const PASTE = new RegExp(`${ESC}\\[200~([^]*?)${ESC}\\[201~`, "y");
/** CSI, SS3, a string of the terminal (OSC, DCS …), and a key with Alt. Ctrl-C ends a string that never ends. */
const SEQUENCE = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|O[^]|[\\]P_^X][^\\u0003\\u0007${ESC}]*(?:\\u0007|${ESC}\\\\|(?=\\u0003))|[^[O\\]P_^X${ESC}])`,
  "uy",
);
const UNFINISHED = new RegExp(`${ESC}(?:\\[200~[^]*|\\[[0-?]*[ -/]*|O|[\\]P_^X][^\\u0003\\u0007${ESC}]*${ESC}?)$`, "y");
/** Nobody types more into one line. */
const MAX_WAITING = 1 << 16;

export class KeyReader {
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** The last read ended with one, which is a key of its own, or the beginning of a sequence. */
  #endsInEscape = false;

  push(bytes: Uint8Array): Key[] {
    const read = this.#decoder.decode(bytes, { stream: true });
    const text = `${this.#endsInEscape && /^[[\]]/.test(read) ? ESC : this.#rest}${read}`; // KY1
    this.#rest = "";
    const keys: Key[] = [];
    for (let at = 0; at < text.length; ) {
      const { length, key } = this.#next(text, at);
      if (key !== undefined) keys.push(key);
      at += length;
    }
    this.#endsInEscape = this.#rest === "" && text.endsWith(ESC);
    return keys;
  }

  #next(text: string, at: number): { readonly length: number; readonly key?: Key | undefined } {
    const paste = found(PASTE, text, at);
    if (paste !== undefined) return { length: paste[0].length, key: { kind: "pasted", text: paste[1] ?? "" } }; // KY2
    const unfinished = found(UNFINISHED, text, at);
    if (unfinished !== undefined) {
      this.#rest = unfinished[0].slice(0, MAX_WAITING); // KY1
      return { length: unfinished[0].length };
    }
    const whole = found(SEQUENCE, text, at)?.[0] ?? String.fromCodePoint(text.codePointAt(at) ?? 0);
    return { length: whole.length, key: keyOf(whole) };
  }
}

function found(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function keyOf(whole: string): Key | undefined {
  const name = isNamed(whole) ? NAMED[whole] : undefined;
  if (name !== undefined) return { kind: "named", name };
  return whole < " " ? undefined : { kind: "typed", text: whole };
}

function isNamed(whole: string): whole is keyof typeof NAMED {
  return Object.hasOwn(NAMED, whole);
}
