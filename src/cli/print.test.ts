import { describe, expect, test } from "bun:test";
import { fakeConsole } from "../../tests/cli/fake-console.ts";
import { localTime } from "../base/local-time.ts";
import { plainLine, visible, visibleLine } from "../base/visible.ts";
import { count, fit, Printer, printJson, printRefusal, say } from "./print.ts";

const widthOf = (text: string): number => Bun.stringWidth(text);

describe("control characters", () => {
  test("every C0, DEL, C1 and bidi control is escaped; only a newline may stay", () => {
    for (let code = 0; code < 0xa0; code++) {
      const character = String.fromCharCode(code);
      const control = code < 0x20 || code >= 0x7f;
      const escaped = `\\u${code.toString(16).padStart(4, "0")}`;
      expect(visibleLine(character)).toBe(control ? escaped : character);
      expect(visible(character)).toBe(control && code !== 10 ? escaped : character);
    }
    const unseen = "\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028";
    for (const make of [visible, visibleLine]) expect(make(unseen)).not.toMatch(/[^ -~]/);
  });

  test("an escape in JSON means the same character", () => {
    const text = "\u0085\u202e\u007f é 👩‍🚀";
    expect(JSON.parse(visibleLine(JSON.stringify(text)))).toBe(text);
    expect(visibleLine("é 👩‍🚀 日本")).toBe("é 👩‍🚀 日本");
  });
});

test("a plain line shows every character that takes no room, or looks like another", () => {
  const hidden =
    "\u0000\u00ad\u00a0\u034f\u061c\u115f\u180e\u2000\u200b\u200d\u2028\u202e\u2060\u3000\u3164\ufe0f\ufeff\ud800";
  const far = "\u{e0041}\u{e0100}";
  expect(plainLine(hidden + far)).toMatch(/^(?:\\u[0-9a-f]{4})+$/);
  expect(plainLine(hidden + far)).toHaveLength(6 * (hidden.length + far.length));
  expect(plainLine("a\tb é ñ 日本 👍 →")).toBe("a\\tb é ñ 日本 👍 →");
  expect(plainLine("e\u0301\u0301\u0301")).toBe("e\u0301\u0301\\u0301");
});

test("T1 data, messages and refusals reach a terminal without control characters", async () => {
  const console = fakeConsole();
  const odd = "\u009b2J\u202e\u007f";
  await printJson(console, { odd });
  expect(console.printed.out).toMatch(/^[ -~]+\n$/);
  expect(JSON.parse(console.printed.out)).toEqual({ odd });
  await say(console, odd);
  for (const json of [false, true]) await printRefusal(console, { code: "x", message: odd, hint: odd }, json);
  expect(console.printed.err).toMatch(/^[ -~→\n]+$/);
});

describe("fit", () => {
  test("a line that fits is kept; a longer one is cut with a mark and takes no more than the row", () => {
    expect(fit("12345", 5, widthOf)).toBe("12345");
    expect(fit("123456", 5, widthOf)).toBe("1234…");
    for (const columns of [2, 3, 10, 11]) {
      const cut = fit("日本日本日本日本", columns, widthOf);
      expect(widthOf(cut)).toBeLessThanOrEqual(columns);
      expect(cut).toEndWith("…");
    }
  });
});

describe("Printer", () => {
  test("text is printed in order, in blocks, and completely at the end", async () => {
    const console = fakeConsole();
    const printer = new Printer(console.out);
    await printer.add("a");
    expect(console.printed.out).toBe("");
    await printer.add("b".repeat(1 << 16));
    expect(console.printed.out).toHaveLength(1 + (1 << 16));
    await printer.add("c");
    await printer.flush();
    expect(console.printed.out).toEndWith("bc");
  });
});

test("one is singular, everything else is plural", () => {
  expect([count(0, "entry", "entries"), count(1, "entry", "entries"), count(2, "byte")]).toEqual([
    "0 entries",
    "1 entry",
    "2 bytes",
  ]);
});

test("times in a message are shown by the user's clock; what only looks like one stays", async () => {
  const console = fakeConsole({ ahead: 330 });
  await say(console, "from 2026-01-02T23:04:05.678Z to 2026-01-02T23:04:05Z: checkpoint-2026-01-02T23-04-05.678Z.json");
  const local = "2026-01-03 04:34:05 +05:30";
  expect(console.printed.err).toBe(`holdfast: from ${local} to ${local}: checkpoint-2026-01-02T23-04-05.678Z.json\n`);
});

test("a time is shown by the user's clock, with its zone", () => {
  const shown = (ahead: number, iso = "2026-01-02T23:04:05.678Z") => localTime(fakeConsole({ ahead }), iso);
  expect(shown(0)).toBe("2026-01-02 23:04:05 UTC");
  expect(shown(60)).toBe("2026-01-03 00:04:05 +01:00");
  expect(shown(-210)).toBe("2026-01-02 19:34:05 -03:30");
  expect(shown(60, "whenever")).toBe("whenever");
});
