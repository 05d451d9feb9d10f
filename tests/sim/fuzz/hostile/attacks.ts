// Hostile inputs, from a seed: valid messages with something in them that breaks readers, and bytes that were never a
// message. Each attack is a text, because some of them (NaN, a key twice) are nothing that JSON could say.
// HA1. The same seed makes the same inputs.
// HA2. Most inputs are valid messages with one to three changes: what is wrong from the first byte is refused at the
//      door, and finds nothing.
import { isList, isRecord, type Json } from "../../../../src/base/json.ts";
import type { SimRandom } from "../../random.ts";
import { PROFILE } from "../profile.ts";

/** Names that every object has by inheritance, and others that programs give a meaning. */
export const NAMES = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "then", "toJSON", "length"];

const NUMBERS = [
  ...["1e300", "-1e300", "1e400", "-1e999", "-0", "9223372036854775808", "18446744073709551616", "9007199254740993"],
  ...["4294967296", "-1", "0.5", "1e-400", "NaN", "Infinity", "00", "+1", "0x10", "1".repeat(500)],
];
const DATES = [
  ...["9999-12-31T23:59:59.999Z", "+275760-09-13T00:00:00.000Z", "+275760-09-13T00:00:00.001Z", "soon"],
  ...["-271821-04-19T23:59:59.999Z", "0000-00-00T00:00:00Z", "2026-02-30T25:61:61Z", "99999999999999999"],
];
/** Inside of quotes. */
const WORDS = [
  ...["\\ud800", "\\udc00\\ud800", "x\\ud83d", "\\u0000", "\\u001b]0;x\\u0007", "\\r\\n", "\\u202e", "\\u2028"],
  ...["", " ", "../../../etc/passwd", "/", "-rf", "${x}", "$(id)", "%s%n", "\\u0001".repeat(40), "é".repeat(500)],
  ...["usage limit reached|99999999999", "\u0001", "\u0000", "\\x", "\\u12", "a\tb"],
];
const KINDS = ["null", "true", "false", "0", '""', "[]", "{}", "[[]]", "[null]", '{"":null}'];
const NO_VALUES = ["undefined", "", "'x'", "/**/1", "]", ","];

/** Sizes are much larger in `full` and `nightly`, and then rare: most inputs have to be small. */
const isLong = PROFILE.name !== "ci";
const DEPTHS = [199, 200, 201, 1_000, isLong ? 100_000 : 60_000];
const LENGTHS = [1_000, 33_000, 140_000, isLong ? 1_100_000 : 300_000];
const COUNTS = [65, 1_001, isLong ? 250_001 : 10_001];
const LONG_LINE = isLong ? 17 << 20 : 2 << 20;
/** How likely an attack is a large one, and a whole line of LONG_LINE bytes. */
const LARGE = isLong ? 0.005 : 0.02;
const HUGE = isLong ? 0.000_2 : 0.001;

/** Bytes that are not UTF-8: a lone continuation, an overlong NUL, a surrogate, a code point above all, a cut one. */
const BROKEN = [[0x80], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0xff, 0xfe], [0]];

export class Attacker {
  readonly #random: SimRandom;
  /** The lines to begin with, before those by chance. */
  readonly #pinned: string[];

  constructor(random: SimRandom, pinned: readonly string[] = []) {
    this.#random = random;
    this.#pinned = [...pinned];
  }

  /** A value as JSON text, or what looks like one. */
  value(): string {
    const random = this.#random;
    if (random.chance(LARGE)) return this.#large();
    const inQuotes = random.pick([DATES, WORDS, NAMES]);
    const text = random.pick(random.chance(0.5) ? inQuotes : random.pick([NUMBERS, KINDS, NO_VALUES]));
    return inQuotes.includes(text) ? quoted(text) : text;
  }

  oneOf<T extends NonNullable<unknown>>(from: readonly T[]): T {
    return this.#random.pick(from);
  }

  /** The same bytes, as a connection may deliver them. */
  pieces(bytes: Uint8Array): Uint8Array[] {
    const cuts = Array.from({ length: this.#random.int(4) }, () => this.#random.int(bytes.length + 1)).sort(
      (a, b) => a - b,
    );
    return [0, ...cuts].map((from, at) => bytes.subarray(from, cuts[at] ?? bytes.length));
  }

  name(): string {
    return this.#random.pick(NAMES);
  }

  /** A date, a number or a word, without quotes. */
  bare(): string {
    return this.#random.pick(this.#random.pick([NUMBERS, DATES, WORDS, NAMES]));
  }

  #large(): string {
    const random = this.#random;
    const depth = random.pick(DEPTHS);
    const length = random.pick(LENGTHS);
    const count = random.pick(COUNTS);
    const wide = Array.from({ length: count }, (_, at) => `"k${at}":${at}`);
    return random.pick([
      "[".repeat(depth) + "]".repeat(depth),
      `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`,
      "[".repeat(depth),
      quoted("x".repeat(length)),
      quoted("\\u0000".repeat(length / 4)),
      `[${Array.from({ length: count }, () => random.pick(KINDS)).join(",")}]`,
      `{${wide.join(",")}}`,
    ]);
  }

  /** HA2. A line that was made of a valid one. */
  line(seed: Json): Uint8Array {
    const random = this.#random;
    const pinned = this.#pinned.shift();
    if (pinned !== undefined) return Buffer.from(pinned);
    if (random.chance(HUGE)) return Buffer.from(JSON.stringify(seed).padEnd(LONG_LINE, random.pick([" ", "["])));
    const text = this.text(seed);
    return random.chance(0.25) ? this.bytes(Buffer.from(text)) : Buffer.from(text);
  }

  /** The JSON text of a value with one to three changes. */
  text(seed: Json): string {
    const holes: string[] = [];
    const hole = () => `hole-${holes.push(this.value()) - 1}-`;
    let value = seed;
    for (let left = 1 + this.#random.int(3); left > 0; left -= 1) value = this.#changed(value, hole);
    const text = JSON.stringify(value).replaceAll(/"hole-(\d+)-"/g, (_, at: string) => holes[Number(at)] ?? "");
    return this.#random.chance(0.1) ? this.#twice(text) : text;
  }

  /** The first key once more, with another value. */
  #twice(text: string): string {
    const key = /^\{("(?:[^"\\]|\\.)*"):/.exec(text)?.[1];
    return key === undefined ? text : `${text.slice(0, -1)},${key}:${this.value()}}`;
  }

  #changed(value: Json, hole: () => Json): Json {
    const random = this.#random;
    if (isList(value) && value.length > 0 && random.chance(0.9)) {
      const at = random.int(value.length);
      if (random.chance(LARGE) && !JSON.stringify(value).includes("hole-"))
        return Array.from({ length: random.pick(COUNTS) }, () => value).flat();
      return value.map((one, index) => (index === at ? this.#changed(one, hole) : one));
    }
    const keys = isRecord(value) ? Object.keys(value) : [];
    if (!isRecord(value) || keys.length === 0 || random.chance(0.03)) return hole();
    const key = random.pick(keys);
    const rest = Object.entries(value);
    if (random.chance(0.05)) return Object.fromEntries(rest.filter(([name]) => name !== key));
    if (random.chance(0.05)) return Object.fromEntries([...rest, [this.name(), hole()]]);
    if (random.chance(0.05))
      return Object.fromEntries(rest.map(([name, one]) => [name === key ? this.name() : name, one]));
    return Object.fromEntries(rest.map(([name, one]) => [name, name === key ? this.#changed(one, hole) : one]));
  }

  /** Bytes with damage, or with pieces that are lost, doubled or foreign. */
  bytes(bytes: Uint8Array): Uint8Array {
    const random = this.#random;
    const at = random.int(bytes.length + 1);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    const broken = Buffer.from(random.pick(BROKEN));
    const kind = random.int(6);
    if (kind === 0) return before;
    if (kind === 1) return Buffer.concat([before, broken, after]);
    if (kind === 2) return Buffer.concat([before, after.subarray(random.int(8)), broken]);
    if (kind === 3) return Buffer.concat([before, before.subarray(-64), after]);
    if (kind === 4) return Buffer.concat([before, random.bytes(1 + random.int(16)), after]);
    return Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ (1 << random.int(8)) : byte));
  }

  /** A file that people write: words, lines and brackets of it are changed. */
  file(text: string): Uint8Array {
    const random = this.#random;
    let changed = text;
    for (let left = 1 + random.int(3); left > 0; left -= 1) changed = this.#edited(changed);
    return random.chance(0.2) ? this.bytes(Buffer.from(changed)) : Buffer.from(changed);
  }

  #edited(text: string): string {
    const random = this.#random;
    const lines = text.split("\n");
    const at = random.int(lines.length);
    const line = lines[at] ?? "";
    const words = [...line.matchAll(/"[^"]*"|[^\s:=,[\]{}"]+/g)];
    const word = words.length === 0 ? undefined : random.pick(words);
    const put = (what: string) => lines.with(at, what).join("\n");
    if (word === undefined || random.chance(0.2))
      return put(random.pick([`${line}\n${line}`, "", `  ${line}`, line.trim()]));
    const attack = random.chance(0.5) ? this.bare() : this.value();
    return put(line.slice(0, word.index) + attack + line.slice(word.index + word[0].length));
  }
}

function quoted(inside: string): string {
  return `"${inside}"`;
}
