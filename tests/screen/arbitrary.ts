// Arbitrary program output: everything a terminal understands, in any order.
import fc from "fast-check";

/** The same every time, and short; `HOLDFAST_RUNS=40000` searches for new failures. */
const RUNS = process.env["HOLDFAST_RUNS"];
export const EFFORT: fc.Parameters<unknown> =
  RUNS === undefined ? { numRuns: 150, seed: 4 } : { numRuns: Number(RUNS) };

const ESC = "\u001b";
const csi = (final: string, ...numbers: readonly (number | string)[]) => `${ESC}[${numbers.join(";")}${final}`;
const small = fc.integer({ min: 0, max: 14 });

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 14 }).map((word) => word.replace(/\p{C}/gu, "x")) },
  fc.constantFrom(
    "漢字",
    "e\u0301",
    "a\u0323\u0302b",
    "😀",
    "…—’",
    "한국어",
    "\u0301",
    "ｗｉｄｅ",
    "│─┼",
    "x".repeat(30),
  ),
);
const breaks = fc.constantFrom("\r\n", "\n", "\r", "\b", "\t", "\r\n\r\n", `${ESC}M`, `${ESC}D`, `${ESC}E`);
const moves = fc.oneof(
  fc.tuple(small, small).map(([y, x]) => csi("H", y, x)),
  fc.tuple(fc.constantFrom("A", "B", "C", "D", "E", "F", "G", "d", "I", "Z"), small).map(([final, n]) => csi(final, n)),
);
const colour = fc.oneof(
  fc.integer({ min: 30, max: 37 }).map(String),
  fc.integer({ min: 90, max: 107 }).map(String),
  fc.tuple(fc.constantFrom(38, 48), fc.integer({ min: 0, max: 255 })).map(([what, n]) => `${what};5;${n}`),
  fc.tuple(fc.constantFrom(38, 48), fc.constantFrom("1;2;3", "255;0;128")).map(([what, rgb]) => `${what};2;${rgb}`),
  fc.constantFrom("39", "49", "58:2::9:8:7", "58:5:3", "59"),
);
const attribute = fc.constantFrom(
  ...[
    "0",
    "1",
    "2",
    "3",
    "4",
    "4:2",
    "4:3",
    "4:4",
    "4:5",
    "5",
    "7",
    "8",
    "9",
    "21",
    "22",
    "23",
    "24",
    "27",
    "53",
    "55",
  ],
);
const pen = fc.array(fc.oneof(colour, attribute), { minLength: 1, maxLength: 3 }).map((all) => csi("m", ...all));
const edits = fc.oneof(
  fc.tuple(fc.constantFrom("@", "P", "L", "M", "X", "S", "T", "b"), small).map(([final, n]) => csi(final, n)),
  fc.tuple(fc.constantFrom("J", "K"), fc.constantFrom(0, 1, 2)).map(([final, n]) => csi(final, n)),
);
const modes = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(1, 6, 7, 9, 12, 25, 45, 66, 1000, 1002, 1003, 1004, 1006, 1016, 2004, 2026, 1007, 2031),
      fc.constantFrom("h", "l"),
    )
    .map(([mode, final]) => csi(final, `?${mode}`)),
  fc.constantFrom(csi("h", 4), csi("l", 4), `${ESC}=`, `${ESC}>`, csi(" q", 5), csi(" q", 2), csi(" q", 0)),
  fc.constantFrom(csi("u", ">1"), csi("u", "<1"), csi("m", ">4", 2), `${ESC}]11;#102030${ESC}\\`),
);
const regions = fc.tuple(small, small).map(([top, bottom]) => csi("r", top, bottom));
const screens = fc.constantFrom(csi("h", "?1049"), csi("l", "?1049"), csi("h", "?47"), csi("l", "?1047"));
const saved = fc.constantFrom(`${ESC}7`, `${ESC}8`, csi("s"), csi("u"));
const charsets = fc.constantFrom(`${ESC}(0`, `${ESC}(B`, `${ESC})0`, "\u000e", "\u000f", `${ESC}(A`);
const tabs = fc.constantFrom(`${ESC}H`, csi("g", 0), csi("g", 3));
const titles = fc.constantFrom(`${ESC}]2;one\u0007`, `${ESC}]0;two…${ESC}\\`, `${ESC}[22;0t`, `${ESC}[23;0t`);
/** Opened and closed at once: the emulator forgets a link when the line on which it was opened is gone. */
const links = fc
  .tuple(fc.constantFrom(";http://a/b", "id=k;http://c"), text)
  .map(([link, word]) => `${ESC}]8;${link}${ESC}\\${word}${ESC}]8;;${ESC}\\`);
const resets = fc.constantFrom(`${ESC}c`, csi("p", "!"), `${ESC}#8`);

export const output: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 10, arbitrary: text },
      { weight: 5, arbitrary: breaks },
      { weight: 4, arbitrary: moves },
      { weight: 4, arbitrary: pen },
      { weight: 4, arbitrary: edits },
      { weight: 3, arbitrary: modes },
      ...[regions, screens, saved, charsets, tabs, titles, links].map((arbitrary) => ({ weight: 1, arbitrary })),
      { weight: 1, arbitrary: fc.oneof({ weight: 5, arbitrary: text }, resets) },
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((pieces) => pieces.join(""));
