// Modes that the emulator does not know, but a real terminal may: keyboard protocols, colours, private modes. They
// change nothing on the screen, but a program that switched them on relies on them.
// E1. Only the last setting of each counts, and their number is bounded: more would be nonsense.
// E2. A full reset ends them, like everything else.
import type { Xterm } from "../world/xterm.ts";

/** Modes that the emulator keeps itself. */
const KNOWN = new Set([
  1, 2, 3, 6, 7, 9, 12, 25, 45, 47, 66, 1000, 1002, 1003, 1004, 1006, 1016, 1047, 1048, 1049, 2004, 2026,
]);
/** Keys repeat by default. */
const ON_AT_FIRST = new Set([8]);
const MOST = 64;
/** Terminals that have a keyboard stack limit it like this. */
const MAX_KEYBOARDS = 16;
const MAX_COLOUR = 64;
const CSI = "\u001b[";

type Numbers = readonly (number | number[])[];
const first = (numbers: Numbers, at = 0): number => {
  const found = numbers[at];
  return typeof found === "number" ? found : 0;
};

export class Extras {
  readonly #modes = new Map<number, boolean>();
  readonly #colours = new Map<string, string>();
  readonly #keyboards: number[] = [];
  /** modifyOtherKeys and similar: `CSI > n ; v m`. */
  readonly #keys = new Map<number, number>();

  constructor({ parser }: Pick<Xterm, "parser">) {
    const seen = (act: () => void) => {
      act();
      return false; // The emulator handles it as well.
    };
    parser.registerCsiHandler({ prefix: "?", final: "h" }, (numbers) => seen(() => this.#switch(numbers, true)));
    parser.registerCsiHandler({ prefix: "?", final: "l" }, (numbers) => seen(() => this.#switch(numbers, false)));
    parser.registerCsiHandler({ prefix: ">", final: "u" }, (numbers) => seen(() => this.#push(first(numbers))));
    parser.registerCsiHandler({ prefix: "<", final: "u" }, (numbers) => seen(() => this.#pop(first(numbers) || 1)));
    parser.registerCsiHandler({ prefix: ">", final: "m" }, (numbers) => seen(() => this.#setKey(numbers)));
    parser.registerEscHandler({ final: "c" }, () => seen(() => this.reset())); // E2
    for (const which of [10, 11, 12])
      parser.registerOscHandler(which, (text) => seen(() => this.#colour(String(which), text)));
    for (const which of [110, 111, 112])
      parser.registerOscHandler(which, () => seen(() => this.#colours.delete(String(which - 100))));
  }

  reset(): void {
    for (const kept of [this.#modes, this.#colours, this.#keys]) kept.clear();
    this.#keyboards.length = 0;
  }

  /** The text that sets them in a fresh terminal. */
  get text(): string {
    return [
      ...[...this.#modes].map(([mode, on]) => `${CSI}?${mode}${on ? "h" : "l"}`),
      ...[...this.#colours].map(([which, colour]) => `\u001b]${which};${colour}\u001b\\`),
      ...[...this.#keys].map(([key, value]) => `${CSI}>${key};${value}m`),
      ...this.#keyboards.map((flags) => `${CSI}>${flags}u`),
    ].join("");
  }

  /** The text that resets them. */
  get undo(): string {
    return [
      ...[...this.#modes].map(([mode, on]) => `${CSI}?${mode}${on ? "l" : "h"}`),
      ...[...this.#colours].map(([which]) => `\u001b]${100 + Number(which)}\u001b\\`),
      ...[...this.#keys].map(([key]) => `${CSI}>${key};0m`),
      ...(this.#keyboards.length === 0 ? [] : [`${CSI}<${this.#keyboards.length}u`]),
    ].join("");
  }

  #switch(numbers: Numbers, on: boolean): void {
    for (const [at] of numbers.entries()) {
      const mode = first(numbers, at);
      if (KNOWN.has(mode)) continue;
      if (on === ON_AT_FIRST.has(mode)) this.#modes.delete(mode);
      else keep(this.#modes, mode, on);
    }
  }

  #push(flags: number): void {
    this.#keyboards.push(flags);
    if (this.#keyboards.length > MAX_KEYBOARDS) this.#keyboards.shift();
  }

  #pop(count: number): void {
    this.#keyboards.length = Math.max(0, this.#keyboards.length - count);
  }

  #setKey(numbers: Numbers): void {
    if (numbers.length < 2 || first(numbers, 1) === 0) this.#keys.delete(first(numbers));
    else keep(this.#keys, first(numbers), first(numbers, 1));
  }

  #colour(which: string, text: string): void {
    if (text !== "?" && text.length <= MAX_COLOUR) keep(this.#colours, which, text);
  }
}

/** E1 */
function keep<K, V>(map: Map<K, V>, key: K, value: V): void {
  if (map.has(key) || map.size < MOST) map.set(key, value);
}
