import { describe, expect, test } from "bun:test";
import { SimDisk } from "../../tests/sim/disk.ts";
import { SimRandom } from "../../tests/sim/random.ts";
import { writeAtomic } from "../log/file/atomic-file.ts";
import { FleetSeal } from "./seal.ts";

const random = new SimRandom(1);
const key = () => Uint8Array.from(random.bytes(32));
const KEY = key();
const seal = new FleetSeal(random, [KEY]);
const bytes = new TextEncoder().encode("what an agent said");
const merged = (...rows: readonly Uint8Array[]) => Buffer.concat(rows);
const opening = (home: string, path: string, seq: number, box: Uint8Array, by = seal) =>
  codeOf(by.openBlob(home, { path, seq, bytes: box }));
const codeOf = (given: ReturnType<FleetSeal["openBlob"]> | ReturnType<FleetSeal["openBatches"]>) =>
  given.ok ? "opened" : given.error.code;

describe("sealing with the fleet's key", () => {
  test("batches that were merged come back one by one, with their entries", () => {
    const [one, two] = [seal.batch("h", 5, 7, bytes), seal.batch("h", 8, 8, new Uint8Array())];
    expect(seal.openBatches("h", { first: 5, last: 8, bytes: merged(one, two) })).toEqual({
      ok: true,
      value: [
        { first: 5, last: 7, bytes },
        { first: 8, last: 8, bytes: new Uint8Array() },
      ],
    });
  });

  test("each byte of a box that is changed keeps it closed", () => {
    const batch = seal.batch("h", 5, 7, bytes);
    const blob = seal.blob("h", { path: "terminals/t/checkpoint.json", seq: 9, bytes });
    for (const mask of [1, 0x80])
      for (let at = 0; at < Math.max(batch.length, blob.length); at++) {
        const harmed = (box: Uint8Array) => Uint8Array.from(box, (byte, i) => (i === at ? byte ^ mask : byte));
        if (at < batch.length)
          expect(codeOf(seal.openBatches("h", { first: 5, last: 7, bytes: harmed(batch) }))).not.toBe("opened");
        if (at < blob.length) expect(opening("h", "terminals/t/checkpoint.json", 9, harmed(blob))).not.toBe("opened");
      }
  });

  test("a box that was cut anywhere, or has more behind it, stays closed", () => {
    const box = seal.blob("h", { path: "a", seq: 1, bytes });
    for (let length = 0; length < box.length; length++)
      expect(opening("h", "a", 1, box.subarray(0, length))).toBe("fleet-damaged");
    expect(opening("h", "a", 1, merged(box, box))).toBe("fleet-damaged");
    for (let length = 0; length < box.length; length++) {
      const row = merged(seal.batch("h", 1, 1, bytes), seal.batch("h", 2, 2, bytes).subarray(0, length));
      expect(codeOf(seal.openBatches("h", { first: 1, last: 2, bytes: row }))).toBe("fleet-damaged");
    }
  });

  test("a box of another home, path, seq or kind does not open, even with the head of the right one", () => {
    const box = seal.blob("h", { path: "a", seq: 1, bytes });
    expect(opening("h", "a", 1, box)).toBe("opened");
    expect(opening("i", "a", 1, box)).toBe("fleet-damaged");
    expect(opening("h", "b", 1, box)).toBe("fleet-damaged");
    expect(opening("h", "a", 2, box)).toBe("fleet-damaged");
    expect(codeOf(seal.openBatches("h", { first: 1, last: 1, bytes: box }))).toBe("fleet-damaged");
    expect(opening("h", "a", 0, seal.queued("h", bytes))).toBe("fleet-damaged");
    expect(opening('h","a', "", 1, seal.blob("h", { path: "a", seq: 1, bytes }))).toBe("fleet-damaged");
  });

  test("batches that are missing, doubled, in another order, or of another row do not pass", () => {
    const [one, two, three] = [1, 2, 3].map((seq) => seal.batch("h", seq, seq, bytes));
    if (one === undefined || two === undefined || three === undefined) throw new Error("three boxes");
    const open = (first: number, last: number, ...rows: readonly Uint8Array[]) =>
      codeOf(seal.openBatches("h", { first, last, bytes: merged(...rows) }));
    expect(open(1, 3, one, two, three)).toBe("opened");
    for (const wrong of [[one, three], [one, one, three], [two, one, three], [one, two], []] as const)
      expect(open(1, 3, ...wrong)).toBe("fleet-damaged");
    expect(open(1, 2, one, two, three)).toBe("fleet-damaged");
    expect(open(0, 3, one, two, three)).toBe("fleet-damaged");
    expect(codeOf(seal.openBatches("i", { first: 1, last: 1, bytes: one }))).toBe("fleet-damaged");
  });

  test("a key is replaced by writing the new one first: both open, the new one seals", () => {
    const newer = key();
    const old = seal.blob("h", { path: "a", seq: 1, bytes });
    const both = new FleetSeal(random, [newer, KEY]);
    expect(opening("h", "a", 1, old, both)).toBe("opened");
    const box = both.blob("h", { path: "a", seq: 1, bytes });
    expect(opening("h", "a", 1, box, new FleetSeal(random, [newer]))).toBe("opened");
    expect(opening("h", "a", 1, box)).toBe("fleet-key");
  });

  test("what was submitted opens under its id only", () => {
    const box = seal.queued("task", bytes);
    expect(seal.openQueued("task", box)).toEqual({ ok: true, value: bytes });
    expect(codeOf(seal.openQueued("other", box))).toBe("fleet-damaged");
  });

  test("the mark of a blob says whether it has these bytes, at this path, with the key that seals", () => {
    const mark = seal.markOf("h", "a", bytes);
    for (const seq of [1, 2]) expect(seal.blob("h", { path: "a", seq: seq, bytes }).subarray(5, 29).toHex()).toBe(mark);
    expect(seal.markOf("h", "a", new Uint8Array())).not.toBe(mark);
    expect(seal.markOf("h", "b", bytes)).not.toBe(mark);
    expect(new FleetSeal(random, [key(), KEY]).markOf("h", "a", bytes)).not.toBe(mark);
    expect(
      Buffer.compare(seal.blob("h", { path: "a", seq: 1, bytes }), seal.blob("h", { path: "a", seq: 1, bytes })),
    ).not.toBe(0);
  });

  test("nothing of the plain bytes is in a box, and no two boxes are the same", () => {
    const boxes = Array.from({ length: 100 }, () => Buffer.from(seal.batch("h", 1, 1, bytes)));
    for (const box of boxes) expect(box.includes("agent")).toBe(false);
    expect(new Set(boxes.map((box) => box.toString("hex"))).size).toBe(boxes.length);
  });
});

describe("the file with the keys", () => {
  const world = async (text: string | undefined, mode = 0o600) => {
    const disk = new SimDisk();
    if (text !== undefined) await writeAtomic(disk, "/keys", Buffer.from(text));
    const stat = disk.stat.bind(disk);
    disk.stat = (path) => {
      const found = stat(path);
      return found && { ...found, mode };
    };
    return FleetSeal.read({ disk, random }, "/keys");
  };

  test("a new one can be read", async () => {
    expect((await world(FleetSeal.newFile(random))).ok).toBe(true);
    expect((await world(`# of the fleet\n\n${KEY.toHex().toUpperCase()} \n`)).ok).toBe(true);
  });

  test("what is wrong with it is said, without anything of a key", async () => {
    const hex = KEY.toHex();
    for (const [text, mode] of [
      [undefined, 0o600],
      ["", 0o600],
      [`${hex}\n${hex.slice(1)}`, 0o600],
      [`${hex}0`, 0o600],
      [`${hex.slice(1)}g`, 0o600],
      [`${hex}\n`.repeat(17), 0o600],
      ["x".repeat(9000), 0o600],
      [hex, 0o640],
      [hex, 0o602],
    ] as const) {
      const read = await world(text, mode);
      if (read.ok) throw new Error(`${text} was read`);
      expect(read.error.code).toBe("fleet-key");
      expect(JSON.stringify(read.error)).not.toContain(hex.slice(1, 20));
    }
  });
});
