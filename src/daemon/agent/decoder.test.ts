import { expect, test } from "bun:test";
import { facts } from "../../../tests/agent/facts.ts";
import type { Codec } from "../../core/agent/provider.ts";
import { scripted } from "../../wire/provider/scripted.ts";
import { Decoder } from "./decoder.ts";

const FACTS = facts();
const OUTPUT = { generation: 1, from: 0, skipped: new Set<number>() };
const line = (text: string) => `${JSON.stringify({ type: "text", text })}\n`;
const said = (decoder: Decoder) =>
  decoder.next(FACTS)?.events.map((event) => ("text" in event ? event.text : event.kind));

test("D1 an offset is the end of a whole line, however the bytes were cut", () => {
  const bytes = Buffer.from(line("one") + line("zwei ü") + line("three"));
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const decoder = new Decoder(scripted, OUTPUT);
    decoder.push(0, bytes.subarray(0, cut));
    const first = decoder.next(FACTS);
    const whole = bytes.subarray(0, cut).lastIndexOf(10) + 1;
    expect(first?.offset).toBe(whole === 0 ? undefined : whole);
    decoder.push(cut, bytes.subarray(cut));
    const rest = decoder.next(FACTS);
    expect((first?.events.length ?? 0) + (rest?.events.length ?? 0)).toBe(3);
    expect(decoder.end).toBe(bytes.length);
  }
});

test("D1 bytes that a new connection repeats are read once", () => {
  const bytes = Buffer.from(line("one") + line("two"));
  const decoder = new Decoder(scripted, OUTPUT);
  decoder.push(0, bytes.subarray(0, 30));
  expect(said(decoder)).toEqual(["one"]);
  decoder.push(0, bytes);
  expect(said(decoder)).toEqual(["two"]);
  expect(decoder.next(FACTS)).toBeUndefined();
});

test("after a gap, bytes are skipped until the next line begins", () => {
  const decoder = new Decoder(scripted, OUTPUT);
  decoder.push(0, Buffer.from('{"type":"te'));
  decoder.push(5000, Buffer.from(`half"}\n${line("whole")}`));
  expect(said(decoder)).toEqual(["whole"]);
});

test("D2 a line that is too long is skipped, and the next one is read", () => {
  const decoder = new Decoder(scripted, OUTPUT);
  const piece = Buffer.alloc(1 << 20, "x");
  let at = 0;
  for (; at < 20 << 20; at += piece.length) decoder.push(at, piece);
  decoder.push(at, Buffer.from(`\n${line("after")}`));
  expect(said(decoder)).toEqual(["after"]);
});

test("an incomplete last line is read when the output has ended", () => {
  const decoder = new Decoder(scripted, OUTPUT);
  decoder.push(0, Buffer.from(`${line("one")}{"type":"text","text":"two"}`));
  expect(said(decoder)).toEqual(["one"]);
  expect(decoder.last(FACTS)).toMatchObject({ offset: decoder.end, events: [{ kind: "text", text: "two" }] });
  expect(decoder.last(FACTS)).toBeUndefined();
});

test("a transaction takes a limited number of events; the rest follows", () => {
  const decoder = new Decoder(scripted, OUTPUT);
  decoder.push(0, Buffer.from(Array.from({ length: 40 }, (_, number) => line(`${number}`)).join("")));
  expect([said(decoder)?.length, said(decoder)?.length, said(decoder)?.length]).toEqual([16, 16, 8]);
});

/** A codec that throws at lines with this word. */
const throwing: Codec = {
  ...scripted,
  decode: (text, facts) => (text.includes("poison") ? fail(text) : scripted.decode(text, facts)),
};

function fail(text: string): never {
  throw new Error(text);
}

test("D3 a line with which the codec throws ends the batch before it; the next call names its bytes, and skipped it is passed", () => {
  const [before, poison, next] = [line("one"), line("poison"), line("two")];
  const [from, to] = [before.length, before.length + poison.length];
  const decoder = new Decoder(throwing, OUTPUT);
  decoder.push(0, Buffer.from(before + poison + next));
  expect(said(decoder)).toEqual(["one"]);
  const named = { name: "PoisonedBytes", bytes: { kind: "output", generation: 1, from, to } };
  for (let again = 0; again < 2; again += 1) expect(caught(() => decoder.next(FACTS))).toMatchObject(named);
  const skipping = new Decoder(throwing, { ...OUTPUT, skipped: new Set([from]) });
  skipping.push(0, Buffer.from(before + poison + next));
  expect(said(skipping)).toEqual(["one", "two"]);
  const ended = new Decoder(throwing, { ...OUTPUT, from });
  ended.push(from, Buffer.from(poison.trimEnd()));
  expect(ended.next(FACTS)).toBeUndefined();
  expect(caught(() => ended.last(FACTS))).toMatchObject({ bytes: { from, to: to - 1 } });
});

test("D4 a batch that cannot be decided is read again line by line, until the line is found", () => {
  const lines = ["one", "two", "three"].map(line);
  const decoder = new Decoder(scripted, OUTPUT);
  decoder.push(0, Buffer.from(lines.join("")));
  expect(said(decoder)).toEqual(["one", "two", "three"]);
  decoder.takeBack(new Error("undecided"));
  expect(said(decoder)).toEqual(["one"]);
  expect(said(decoder)).toEqual(["two"]);
  decoder.takeBack(new Error("undecided"));
  const [from, to] = [lines[0]?.length ?? 0, (lines[0]?.length ?? 0) + (lines[1]?.length ?? 0)];
  expect(caught(() => decoder.next(FACTS))).toMatchObject({ message: "undecided", bytes: { from, to } });
});

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test("D5 a large line ends its batch, and a line of very many events is one batch", () => {
  const decoder = new Decoder(scripted, OUTPUT);
  decoder.push(0, Buffer.from(line("one") + line("x".repeat(70_000)) + line("two")));
  expect([said(decoder)?.length, said(decoder)?.length]).toEqual([2, 1]);
  const events = Array.from({ length: 200_000 }, () => ({ kind: "text", text: "" }) as const);
  const many = new Decoder({ ...scripted, decode: () => ({ events, replies: [] }) }, OUTPUT);
  many.push(0, Buffer.from("x\n"));
  expect(many.next(FACTS)?.events.length).toBe(events.length);
});

/** `part X` is text that comes in parts only, `else` a line without a meaning; the rest is what a script says. */
const INPARTS: Codec = {
  ...scripted,
  decode: (text, known) => {
    if (text.startsWith("part ")) return { events: [], replies: [], part: text.slice("part ".length) };
    return scripted.decode(text, known);
  },
};

function inParts(...lines: readonly string[]): Decoder {
  const decoder = new Decoder(INPARTS, OUTPUT);
  decoder.push(0, Buffer.from(lines.map((one) => `${one}\n`).join("")));
  return decoder;
}

test("D7 text that comes in parts is one event, with the next line of another kind, whatever that is", () => {
  for (const last of [line("whole").trim(), "else"]) {
    const decoder = inParts("part a", "part b", last, "part c");
    const batch = decoder.next(FACTS);
    expect(batch?.events.slice(0, 1)).toEqual([{ kind: "text", text: "ab", part: true }]);
    expect([batch?.isPartial, batch?.joins, batch?.partial]).toEqual([false, true, "ab"]);
    expect(decoder.hasParts).toBe(false);
    expect(decoder.next(FACTS)).toMatchObject({ isPartial: true, events: [], partial: "c" });
    expect(decoder.flush()).toMatchObject({ offset: decoder.end, events: [{ text: "c" }] });
    expect(decoder.flush()).toBeUndefined();
  }
});

test("D7 parts are gathered over batches, but not until an event would cut them", () => {
  const decoder = inParts("part a");
  expect(decoder.next(FACTS)?.events).toEqual([]);
  decoder.push(decoder.end, Buffer.from(`part ${"b".repeat(16 << 10)}\npart c\n`));
  const large = decoder.next(FACTS);
  expect([large?.isPartial, large?.events]).toEqual([
    false,
    [{ kind: "text", text: `a${"b".repeat(16 << 10)}`, part: true }],
  ]);
  expect(decoder.rest(FACTS)?.events).toEqual([{ kind: "text", text: "c", part: true }]);
  expect(decoder.rest(FACTS)).toBeUndefined();
});

test("D4 D7 parts of a batch that could not be decided are still there when its lines are read one by one", () => {
  const decoder = inParts("part a", line("one").trim(), line("two").trim());
  expect(decoder.next(FACTS)?.events).toHaveLength(3);
  decoder.takeBack(new Error("no"));
  expect(decoder.next(FACTS)).toMatchObject({ isPartial: true, partial: "a" });
  expect(said(decoder)).toEqual(["a", "one"]);
  expect(said(decoder)).toEqual(["two"]);
});
