import { expect, test } from "bun:test";
import { HarmlessStream, harmless, Replay, WithoutQueries } from "./replay.ts";

const shown = (text: string, whole = true): string => Buffer.from(harmless(Buffer.from(text), whole)).toString();

test("RP1 no query in the replay is sent again", () => {
  const questions = [
    "\u001b[c",
    "\u001b[>0c",
    "\u001b[=c",
    "\u001b[5n",
    "\u001b[6n",
    "\u001b[?6n",
    "\u001b[?2026$p",
    "\u001b[>q",
    "\u001b[?u",
    "\u001b[14t",
    "\u001b[18t",
    "\u001bP+q544e\u001b\\",
    "\u001bP$qm\u001b\\",
    "\u001b]10;?\u0007",
    "\u001b]11;?\u001b\\",
    "\u001b]4;1;?\u0007",
    "\u0005",
  ];
  for (const question of questions) expect(shown(`a${question}b`)).toBe("ab");
  expect(shown(questions.join(""))).toBe("");
  expect(shown("a\u001b]11;?\u001b[1mb")).toBe("a\u001b[1mb"); // Terminals take the next ESC as the end.
});

test("RP1 bells, notifications and the clipboard are left out; titles, links and drawing are replayed", () => {
  expect(shown("a\u0007b")).toBe("ab");
  expect(shown("\u001b]9;done\u0007\u001b]777;notify;x\u0007\u001b]52;c;c2VjcmV0\u0007")).toBe("");
  const drawing =
    "\u001b]0;a title\u0007\u001b]8;;http://x/?y=1\u001b\\link\u001b[2J\u001b[1;1H\u001b[?1049h\u001b[38;5;3m日本\r\n";
  expect(shown(drawing)).toBe(drawing);
});

/** As a program inside tmux sends it to the terminal outside. */
const pastTmux = (text: string) => `\u001bPtmux;${text.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`;

test("RP4 what is sent past tmux stays whole: questions in it are left out with their wrapper, all else is drawn", () => {
  const [asks, draws] = ["\u001b]11;?\u0007", "\u001b]0;title\u0007\u001b[1m"];
  expect(shown(`a${pastTmux(asks)}b`)).toBe("ab");
  expect(shown(`a${pastTmux(draws)}b`)).toBe(`a${pastTmux(draws)}b`);
  expect(shown(`a${pastTmux(asks + draws)}b`)).toBe(`a${pastTmux(draws)}b`);
  expect(shown(`a${pastTmux(pastTmux(asks) + draws)}b`)).toBe(`a${pastTmux(draws)}b`);
});

test("RP4 the same for bytes that come one by one, live and replayed, and for more than is waited for", () => {
  const one = (stream: { push(bytes: Uint8Array): Uint8Array }, text: string, size = 1) => {
    const bytes = Buffer.from(text);
    const parts: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) parts.push(stream.push(bytes.subarray(at, at + size)));
    return Buffer.concat(parts).toString();
  };
  const text = `a${pastTmux("\u001b[6n\u001b]11;?\u001b\\")}b${pastTmux("\u001b[1m")}c`;
  const kept = `ab${pastTmux("\u001b[1m")}c`;
  for (const size of [1, 2, 3, 7, 1000])
    for (const stream of [new WithoutQueries(), new HarmlessStream(true)]) expect(one(stream, text, size)).toBe(kept);
  const image = pastTmux(`\u001b_G${"x\u001b".repeat(600_000)}\u001b\\`);
  for (const size of [4_097, 65_536])
    expect(one(new WithoutQueries(), `a${image}b${pastTmux("\u001b[c")}c`, size)).toBe("abc");
});

test("RP2 a replay that starts in the middle starts with a line", () => {
  expect(shown("8;5;3mhalf\nwhole\n", false)).toBe("whole\n");
  expect(shown("no line at all", false)).toBe("no line at all");
  const line = "x".repeat(300_000);
  expect(shown(`8;5;3m${line}\n$ `, false)).toBe(`${line}\n$ `);
  expect(shown(`4;1H${line}\u001b[1mbold\n$ `, false)).toBe(`${line}\u001b[1mbold\n$ `);
  expect(shown(`title${"y".repeat(9_000)}\u001b[1m${line}\n`, false)).toBe(`\u001b[1m${line}\n`);
});

test("a replay is drawn at once and made harmless; later output is passed through unchanged", () => {
  const drawn: string[] = [];
  const replay = new Replay(10, (bytes) => void drawn.push(Buffer.from(bytes).toString()));
  replay.push(0, Buffer.from("a\u0007b"));
  expect(drawn).toEqual([]);
  replay.push(3, Buffer.from("cdefghi\u0007j"));
  replay.push(12, Buffer.from("\u0007"));
  expect(drawn).toEqual(["abcdefghi", "\u0007j", "\u0007"]);
});

test("RP3 a known screen is drawn at its offset, over earlier output, unless something is missing", () => {
  const drawn = (act: (replay: Replay) => void, until = 10) => {
    const parts: string[] = [];
    const replay = new Replay(until, (bytes) => parts.push(Buffer.from(bytes).toString()));
    replay.over({ offset: 5, text: (hasHistory) => (hasHistory ? "[over]" : "[all]") });
    act(replay);
    return parts.join("");
  };
  const push = (replay: Replay, offset: number, text: string) => replay.push(offset, Buffer.from(text));
  expect(drawn((replay) => push(replay, 0, "01234567890live"))).toBe("01234[over]567890live");
  expect(drawn((replay) => push(replay, 5, "56789"))).toBe("[all]56789");
  expect(drawn((replay) => replay.finish(), 5)).toBe("[all]");
  const gap = (replay: Replay) => {
    push(replay, 0, "0\n");
    replay.lacks();
    push(replay, 6, "6\n89");
  };
  expect(drawn(gap)).toBe("6\n89");
  expect(drawn((replay) => push(replay, 6, "6789"))).toBe("6789");
  const short = (replay: Replay) => {
    push(replay, 0, "012");
    replay.finish();
  };
  expect(drawn(short)).toBe("012");
});

test("live output without queries is all else as it was, however it is split", () => {
  const text =
    "a\u001b[6nb\u0007\u001b]0;why?\u0007\u001b]11;?\u001b\\c\u001b[?1049h\u001b]52;c;aGk=\u0007\u001b[c\u001bP$qm\u001b\\\u001b[3Jé\u001b[?2026$pd";
  const rest = "ab\u0007\u001b]0;why?\u0007c\u001b[?1049h\u001b]52;c;aGk=\u0007\u001b[3Jéd";
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    const filter = new WithoutQueries();
    const parts: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) parts.push(filter.push(bytes.subarray(at, at + size)));
    expect(Buffer.concat([...parts, filter.end()]).toString()).toBe(rest);
  }
  const filter = new WithoutQueries();
  expect(Buffer.from(filter.push(Buffer.from("x\u001b[1"))).toString()).toBe("x");
  expect(Buffer.from(filter.end()).toString()).toBe("\u001b[1");
});

test("RP1 cut in pieces anywhere, the same is left out, and nothing of what is left out is shown", () => {
  const rude = "\u001b[c\u001b]52;c;c2VjcmV0\u0007\u001b[6n\u001b]10;?\u001b\\\u001bP$qm\u001b\\\u0007\u001b[?2026$p";
  const text = `one${rude}\u001b[31mtwo\u001b[m \u001b]0;a title\u0007\u001b(B日本${rude}\r\nthree`;
  for (const size of [1, 2, 3, 7, 11]) {
    const stream = new HarmlessStream(true);
    const bytes = Buffer.from(text);
    const parts: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) parts.push(stream.push(bytes.subarray(at, at + size)));
    expect(Buffer.concat(parts).toString()).toBe(shown(text));
  }
});

test("RP1 a string that never seems to end is left out, and what follows its end is shown", () => {
  const stream = new HarmlessStream(true);
  const shownOf = (part: string) => Buffer.from(stream.push(Buffer.from(part))).toString();
  let seen = shownOf("before\u001b]52;c;");
  for (let at = 0; at < 10; at += 1) seen += shownOf("QUJD".repeat(1 << 18));
  seen += shownOf("\u0007after");
  expect(seen).toBe("beforeafter");
});
