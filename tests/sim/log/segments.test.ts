// A session's log in many files (log/session/log-segments.ts): reading all of them, following, damage, removal.
import { expect, test } from "bun:test";
import { type Cursors, cursorAt, inOrder } from "../../../src/cli/log/merge.ts";
import { LogView } from "../../../src/log/inspect.ts";
import { isLogFile, markTrimmed, segmentPath, segmentsIn } from "../../../src/log/session/log-segments.ts";
import type { Reading } from "../../../src/log/session/session-log.ts";
import { SimDisk } from "../disk.ts";
import { HOME, Life } from "./life.ts";

const SESSION = "agents/0001";
const DIRECTORY = `${HOME}/${SESSION}`;

/** A log in many files: sessions 1 and 2 take turns, and `SMALL` has room for two lines in a file. */
async function longLog(entries = 20): Promise<Life> {
  const life = await Life.begin(new SimDisk(), { issued: [], acknowledged: 0 });
  await append(life, entries);
  return life;
}

async function append(life: Life, entries: number): Promise<void> {
  for (let at = 0; at < entries; at += 1) {
    life.append([1 + (at % 2)], 20);
    await life.settled();
    await life.log.drain();
  }
}

function told(readings: Iterable<Reading>): (number | string)[] {
  return [...readings].map((reading) => (reading.kind === "entry" ? reading.entry.seq : reading.kind));
}

const odd = (from: number, to: number) =>
  Array.from({ length: Math.max(0, (to - from) / 2 + 1) }, (_, at) => from + 2 * at);

test("SG1 a long log is continued in new files; all of it is read, by the daemon and beside it", async () => {
  const { disk, log } = await longLog();
  const { segments, trimmed } = segmentsIn(disk, DIRECTORY);
  expect(segments.length).toBeGreaterThan(3);
  expect(trimmed).toBe(0);
  expect(disk.list(DIRECTORY).every(isLogFile)).toBe(true);
  expect(told(log.read(SESSION))).toEqual(odd(1, 19));
  const view = new LogView(disk, HOME);
  expect(told(view.read(SESSION))).toEqual(odd(1, 19));
  expect(view.inspect().findings).toEqual([]);
});

test("what follows any entry is found, whichever file has it; an entry that is not there is not", async () => {
  const { disk, log } = await longLog();
  for (const reader of [log, new LogView(disk, HOME)]) {
    for (const seq of odd(1, 19))
      expect(told(reader.readAfter(SESSION, seq) ?? reader.read(SESSION))).toEqual(odd(seq + 2, 19));
    for (const seq of [2, 12, 20, 99]) expect(reader.readAfter(SESSION, seq)).toBeUndefined();
  }
});

test("a reader that follows the log sees each entry once, although the file that it reads becomes a segment", async () => {
  const life = await longLog(3);
  const cursors: Cursors = new Map([[SESSION, cursorAt()]]);
  const seen: number[] = [];
  for (let look = 0; look < 12; look += 1) {
    const cursor = cursors.get(SESSION);
    if (cursor !== undefined) cursor.next = 0;
    const view = new LogView(life.disk, HOME);
    for (const { entry } of inOrder(view, cursors, { from: 1, until: 99 }, [])) seen.push(entry.seq);
    life.append([1], 20); // The next look finds it in the write-ahead log …
    await life.settled();
    if (look % 2 === 0) await life.log.drain(); // … or in a file, perhaps a new one.
  }
  expect(segmentsIn(life.disk, DIRECTORY).segments.length).toBeGreaterThan(2);
  expect(seen).toEqual([1, 3, ...Array.from({ length: 11 }, (_, at) => 4 + at)]);
});

test("SG2 a segment that is gone or damaged is reported with its place, and the rest is read", async () => {
  const { disk } = await longLog();
  const [, second, third] = segmentsIn(disk, DIRECTORY).segments.map(({ path }) => path);
  const gone = disk.fork();
  gone.unlink(second ?? "");
  const harmed = disk.fork();
  harmed.plant(second ?? "", Buffer.from("rotten\n"));
  const before = told(new LogView(disk, HOME).read(SESSION)).length;
  for (const [at, what, where] of [
    [gone, ["break"], [third]],
    [harmed, ["harmed", "break"], [second, third]],
  ] as const) {
    const view = new LogView(at, HOME);
    const readings = told(view.read(SESSION));
    expect(readings.filter((one) => typeof one === "string")).toEqual([...what]);
    expect(readings.length - what.length).toBeGreaterThan(before - 4);
    expect(view.inspect([SESSION]).findings.map((one) => `${HOME}/${one.where}`)).toEqual(where.map(String));
  }
});

test("SG3 what was removed on purpose is not damage; a mark that cannot be read makes it so", async () => {
  const { disk, log } = await longLog();
  const [first, second] = segmentsIn(disk, DIRECTORY).segments;
  await markTrimmed(disk, DIRECTORY, second?.last ?? 0, "2026-01-01T00:00:00.000Z");
  const rest = told(log.read(SESSION)).slice(1);
  expect(told(log.read(SESSION))[0]).toBe("trimmed");
  expect(rest).toEqual(odd((second?.last ?? 0) + 2, 19));
  expect(told(log.readAfter(SESSION, second?.last ?? 0) ?? [])).toEqual(rest);
  disk.unlink(first?.path ?? ""); // What is left of it does not matter.
  const view = new LogView(disk, HOME);
  expect(told(view.readAfter(SESSION, second?.last ?? 0) ?? [])).toEqual(rest);
  expect(view.inspect([SESSION])).toMatchObject({ findings: [], sessions: [{ trimmed: second?.last }] });
  disk.plant(`${DIRECTORY}/trimmed.json`, Buffer.from("{"));
  expect(told(new LogView(disk, HOME).read(SESSION))[0]).toBe("break");
});

test("an existing segment is never overwritten: the file becomes longer instead", async () => {
  const life = await longLog(4);
  const last = told(life.log.read(SESSION)).at(-1);
  const path = segmentPath(DIRECTORY, Number(last));
  life.disk.plant(path, Buffer.from("of somebody else"));
  await append(life, 2);
  expect(Buffer.from(life.disk.peek(path) ?? []).toString()).toBe("of somebody else");
  life.disk.unlink(path);
  expect(told(life.log.read(SESSION))).toEqual([1, 3, 5]);
});
