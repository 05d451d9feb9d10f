// Claims about the text that is searched: what of it is text, which blocks may have a word, and which lines do.
import { expect, test } from "bun:test";
import { eventText } from "./event-text.ts";
import { filterOf, folded, MAX_ROWS, MIN_ROWS, rowsOf, toLower } from "./filter.ts";
import { linesWith, needlesOf } from "./lines.ts";
import { plainText } from "./plain-text.ts";

const ESC = "\u001b";
const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (output: string) => new TextDecoder().decode(plainText(bytes(output)).bytes);

test("PT1 colours, titles, links and control characters are no text; moving the cursor ends a line or is a space", () => {
  expect(textOf(`${ESC}[1;31mred${ESC}[m and ${ESC}]8;;http://x${ESC}\\link${ESC}]8;;\u0007 end\r\n`)).toBe(
    "red and link end\n",
  );
  expect(textOf(`one${ESC}[2Ctwo\tthree${ESC}[5;1Hfour${ESC}(B\u0008${ESC}7five`)).toBe("one two three\nfourfive\n");
  expect(textOf("\r\n\r\n10 %\r20 %\r\n")).toBe("10 %\n20 %\n");
  expect(textOf(`${ESC}[${ESC}]2;never ended`)).toBe("");
  expect(textOf("grüße 你好\n")).toBe("grüße 你好\n");
});

test("PT2 every line knows where it ended in the output", () => {
  const output = `${ESC}[31mab${ESC}[m\r\n\ncd`;
  const { starts, ends } = plainText(bytes(output));
  expect([starts, ends]).toEqual([
    [0, 3],
    [output.indexOf("\r") + 1, output.length],
  ]);
});

test("FI2 a filter has all rows of every word of its text, in any case and any size, and few of other words", () => {
  const words = Array.from({ length: 400 }, (_, n) => `Word${n * 7919}x`);
  const filter = filterOf(toLower(bytes(words.join(" "))));
  const has = (bits: Uint8Array, word: string) =>
    rowsOf(toLower(bytes(word)), bits.length * 8).every((row) => ((bits[row >>> 3] ?? 0) >>> (row & 7)) & 1);
  for (const bits of [filter, folded(filter, MIN_ROWS)]) for (const word of words) expect(has(bits, word)).toBe(true);
  expect(["nothing", "else", "qwertz"].filter((word) => has(filter, word))).toEqual([]);
  expect(filterOf(new Uint8Array()).length * 8).toBe(MIN_ROWS);
  let last = 1;
  const noise = Uint8Array.from({ length: 1 << 16 }, () => {
    last = Math.imul(last, 1_103_515_245) + 12_345;
    return last >>> 24;
  });
  expect(filterOf(noise).length * 8).toBe(MAX_ROWS);
});

test("a line is found if it has all words; the last line comes first, and a long one is cut around the first word", () => {
  const text = bytes(`Alpha beta\nbeta only\nnot this\nbeta ALPHA\n${"x".repeat(900)} alpha ${"ß".repeat(400)} Beta\n`);
  const found = linesWith(text, toLower(text.slice()), needlesOf(["alpha", "BETA", ""]), 9);
  expect(found.map((line) => line.text.slice(0, 12))).toEqual(["x".repeat(12), "beta ALPHA", "Alpha beta"]);
  expect(found[0]?.text).toContain(" alpha ");
  expect(found[0]?.text).not.toContain("\uFFFD");
  expect(found[0]?.text.length).toBeLessThanOrEqual(300);
  expect(linesWith(text, toLower(text.slice()), needlesOf(["beta"]), 2)).toHaveLength(2);
  expect(linesWith(text, text, [], 9)).toEqual([]);
});

test("ET1 of events, what was said and asked is text; environments and unknown events are not", () => {
  expect(eventText("message.enqueued", { payload: "do it", sender: "user" })).toEqual({ kind: "agent", text: "do it" });
  expect(eventText("prompt.opened", { tool: "Bash", input: { command: "rm x" } })).toEqual({
    kind: "prompt",
    text: 'Bash\n{"command":"rm x"}',
  });
  const created = { name: "build", path: "/w.yml", environment: { KEY: "hidden" }, parameters: { a: 1 } };
  expect(eventText("workflow.created", created)?.text).toBe('build\n/w.yml\n{"a":1}');
  const events = [{ kind: "text", text: "hm" }, { kind: "tool", tool: "Read", input: {} }, { kind: "done" }, null];
  expect(eventText("agent.read", { events })?.text).toBe("hm\nRead\n{}");
  for (const event of ["session.created", "constructor", "agent.read"])
    expect(eventText(event, { environment: "hidden", events: "hidden" })).toBeUndefined();
  expect(eventText("message.enqueued", null)).toBeUndefined();
});
