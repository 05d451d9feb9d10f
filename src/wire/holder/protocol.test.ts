// Tests of the holder's protocol, version 1. The bytes are frozen: holders of older versions use them until they end.
import { describe, expect, test } from "bun:test";
import { FrameReader } from "./frames.ts";
import { parseHello, parseRefusal, parseSignal, parseSize, parseSpec, parseStatus } from "./json.ts";
import { PendingInputs } from "./pending-inputs.ts";
import * as protocol from "./protocol.ts";
import { holderStart } from "./start.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

describe("protocol v1", () => {
  test("its frames are these bytes", () => {
    expect(hex(protocol.inputFrame(7, 2, Buffer.from("hi")))).toBe(
      "0000000f" + "02" + "0000000000000007" + "00000002" + "6869",
    );
    expect(hex(protocol.outputFrame(258, Buffer.from("hi")))).toBe("0000000b" + "41" + "0000000000000102" + "6869");
    expect(hex(protocol.numberFrame(protocol.CONSUMED, 1))).toBe("00000009" + "06" + "0000000000000001");
    expect(hex(protocol.numberFrame(protocol.INPUT_TAKEN, 2 ** 40))).toBe("00000009" + "42" + "0000010000000000");
    expect(hex(protocol.jsonFrame(protocol.SIGNAL, {}))).toBe("00000003" + "04" + "7b7d");
  });

  test("its tags never change their meaning", () => {
    const { HELLO, INPUT, RESIZE, SIGNAL, STATUS, CONSUMED, END_INPUT } = protocol;
    expect([HELLO, INPUT, RESIZE, SIGNAL, STATUS, CONSUMED, END_INPUT]).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const { WELCOME, OUTPUT, INPUT_TAKEN, STATUS_IS, ENDED, RESYNC, REFUSED } = protocol;
    expect([WELCOME, OUTPUT, INPUT_TAKEN, STATUS_IS, ENDED, RESYNC, REFUSED]).toEqual([64, 65, 66, 67, 68, 69, 70]);
  });

  test("an output frame made in place is the same frame", () => {
    const frame = Buffer.alloc(protocol.OUTPUT_HEAD + 3, "abc");
    frame.write("xyz", protocol.OUTPUT_HEAD);
    protocol.headOutput(frame, 77);
    expect(hex(frame)).toBe(hex(protocol.outputFrame(77, Buffer.from("xyz"))));
    expect(hex(protocol.outputHead(77, 3))).toBe(hex(frame.subarray(0, protocol.OUTPUT_HEAD)));
  });

  test("what was written is read back, and what is cut off is not", () => {
    const [frame] = new FrameReader().push(protocol.inputFrame(9, 3, Buffer.from("x"))) ?? [];
    const payload = frame?.payload ?? new Uint8Array();
    expect(protocol.readInput(payload)).toMatchObject({ number: 9, generation: 3 });
    expect(protocol.readInput(payload.subarray(0, 11))).toBeUndefined();
    expect(protocol.readNumber(payload.subarray(0, 7))).toBeUndefined();
  });
});

describe("JSON", () => {
  const hello = { v: 1, token: "t", writer: "w" };

  test("unknown fields are ignored, wrong ones make it unusable", () => {
    expect(parseHello(json({ ...hello, colour: 1 }))).toMatchObject(hello);
    for (const wrong of [
      { v: 0 },
      { writer: "" },
      { from: -2 },
      { from: 1.5 },
      { readOnly: 1 },
      { size: { cols: 1 } },
    ]) {
      expect({ wrong, found: parseHello(json({ ...hello, ...wrong })) }).toEqual({ wrong, found: undefined });
    }
    for (const text of ["", "null", "[]", "7", "{", '"x"']) expect(parseHello(Buffer.from(text))).toBeUndefined();
  });

  test("a size has sides that a terminal can have", () => {
    expect(parseSize(json({ cols: 80, rows: 24 }))).toEqual({ cols: 80, rows: 24 });
    for (const cols of [0, -1, 65_536, "80", null]) expect(parseSize(json({ cols, rows: 24 }))).toBeUndefined();
  });

  test("a signal has a signal's name", () => {
    expect(parseSignal(json({ signal: "SIGUSR1" }))).toBe("SIGUSR1");
    for (const signal of ["9", "KILL", "sigterm", "SIG", "SIGTERM; rm", 15])
      expect(parseSignal(json({ signal }))).toBeUndefined();
  });

  test("the refusal of a spec names what is wrong with it", () => {
    const spec = parseSpec(json({ v: 1, id: "x", generation: 1, mode: "pty", argv: [] }));
    expect(spec.ok ? "" : spec.error.message).toContain("argv");
    expect(parseSpec(Buffer.from("")).ok).toBe(false);
  });

  test("a refusal or a status without all its fields is not used", () => {
    expect(parseRefusal(json({ code: "a", message: "b", hint: "c", number: 4 }))?.number).toBe(4);
    expect(parseRefusal(json({ code: "a" }))).toBeUndefined();
    expect(parseStatus(json({ v: 1 }))).toBeUndefined();
  });
});

describe("pending inputs", () => {
  const typed = (inputs: PendingInputs, text: string) => inputs.add(Buffer.from(text));

  test("what was taken is confirmed, the rest is sent again under its numbers", async () => {
    const inputs = new PendingInputs();
    expect(inputs.agree(5)).toEqual([]);
    const first = typed(inputs, "a");
    const second = typed(inputs, "b");
    expect([first.pending?.number, second.pending?.number]).toEqual([6, 7]);
    expect(inputs.agree(6).map(({ number }) => number)).toEqual([7]);
    expect((await first.answer).ok).toBe(true);
    inputs.taken(7);
    expect((await second.answer).ok).toBe(true);
    expect(typed(inputs, "c").pending?.number).toBe(8);
  });

  test("a refusal ends all that wait and all that follow, until the next connection", async () => {
    const inputs = new PendingInputs();
    const first = typed(inputs, "a");
    inputs.refuse({ code: "no", message: "", hint: "" });
    expect(await first.answer).toMatchObject({ ok: false, error: { code: "no" } });
    expect(await typed(inputs, "b").answer).toMatchObject({ ok: false, error: { code: "no" } });
    inputs.agree(0);
    expect(typed(inputs, "c").pending?.number).toBe(1);
  });
});

test("a holder is started with nothing of the starter's environment", () => {
  const { argv, cwd, env } = holderStart("/bun", "/main.ts", "/t");
  expect([argv[0], argv.at(-2), argv.at(-1), cwd]).toEqual(["/bun", "/main.ts", "/t", "/"]);
  expect(Object.keys(env)).not.toContain("PATH");
});
