// The checkpoint of the terminals on disk: written by CheckpointWriter, read by CheckpointReader, damaged in between.
import { expect, test } from "bun:test";
import { isFault } from "../../src/base/fault.ts";
import { CheckpointReader } from "../../src/daemon/terminal/checkpoint-reader.ts";
import { CheckpointWriter, checkpointOptions } from "../../src/daemon/terminal/checkpoint-writer.ts";
import { encodeEnvelope } from "../../src/log/checkpoint/envelope.ts";
import { readWhole } from "../../src/log/file/file.ts";
import { listQuarantine } from "../../src/log/file/quarantine.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { nothing } from "../sim/survive.ts";
import { screenText, sessionOf } from "./checkpoint-sessions.ts";

const HOME = "/home";
const PRIMARY = "/home/recovery/checkpoint.json";
const BACKUP = "/home/recovery/checkpoint.backup.json";
const HOUR = 3_600_000;
const GARBAGE = Buffer.from("garbage, all of it\n");

class Site {
  readonly clock = new SimClock();
  readonly said: string[] = [];
  disk: SimDisk;

  constructor(disk = emptyHome()) {
    this.disk = disk;
  }

  get #place() {
    return { disk: this.disk, clock: this.clock, home: HOME };
  }

  readonly #say = (words: string) => void this.said.push(words);

  writer(): CheckpointWriter {
    return new CheckpointWriter(this.#place, this.#say);
  }

  reader(maxAgeMs = 24 * HOUR): CheckpointReader {
    return new CheckpointReader(this.#place, { maxAgeMs }, this.#say);
  }

  /** Writes two: the first becomes the backup of the second. */
  async withTwo(): Promise<this> {
    const writer = this.writer();
    for (const n of [1, 2]) expect((await writer.write([sessionOf(n)])).ok).toBe(true);
    return this;
  }

  async names(): Promise<string[] | undefined> {
    return (await this.reader().survey()).checkpoint?.sessions.map(({ name }) => name);
  }
}

function emptyHome(): SimDisk {
  const disk = new SimDisk();
  disk.plant("/home/other", Buffer.from(""));
  return disk;
}

test("TC-1(a) TC-2(c) what was written is read back: version, time, checksum and sessions, at recovery/checkpoint.json", async () => {
  const site = new Site();
  const writer = site.writer();
  expect(writer.getCheckpointPath()).toBe(PRIMARY);
  await writer.write([sessionOf(1), sessionOf(2)]);
  const found = await site.reader().read();
  expect(found).toMatchObject({ version: 2, timestamp: "2026-01-01T00:00:00.000Z" });
  const file = JSON.parse(Buffer.from(readWhole(site.disk, PRIMARY) ?? []).toString());
  const { version, timestamp, checksum, sessions, ...ours } = file;
  expect<unknown>({ version, timestamp, checksum, sessions }).toEqual(found);
  expect(Object.keys(ours)).toEqual(["kind", "fold", "seq"]);
  expect(found?.checksum).toMatch(/^[0-9a-f]{64}$/);
  expect(found?.sessions).toEqual([sessionOf(1), sessionOf(2)]);
  expect(site.said).toEqual([]);
});

test("TC-2(b) temporary files that a killed writer left are removed by the next one", async () => {
  const site = await new Site().withTwo();
  site.disk.plant(`${PRIMARY}.abcdef-0.tmp`, GARBAGE);
  await site.writer().write([sessionOf(3)]);
  expect(site.disk.list("/home/recovery").sort()).toEqual(["checkpoint.backup.json", "checkpoint.json"]);
});

test("TC-3(a) null if there is none, without a warning", async () => {
  const site = new Site();
  expect(await site.reader().read()).toBeNull();
  expect((await site.reader().survey()).items).toEqual([]);
  expect(site.said).toEqual([]);
});

for (const [what, damage] of [
  ["of 0 bytes", (disk: SimDisk) => void disk.plant(PRIMARY, Buffer.from(""))],
  ["with one flipped bit", (disk: SimDisk) => void disk.rot(PRIMARY, 300, 1)],
  ["of garbage", (disk: SimDisk) => void disk.plant(PRIMARY, GARBAGE)],
] as const) {
  test(`TC-3(b) TC-8(b) a newest checkpoint ${what} is a warning; the backup is used, and the damaged one is quarantined with a note`, async () => {
    const site = await new Site().withTwo();
    damage(site.disk);
    const bytes = readWhole(site.disk, PRIMARY);
    const survey = await site.reader().survey();
    expect(survey.checkpoint?.sessions.map(({ name }) => name)).toEqual(["t1"]);
    expect(survey.items).toMatchObject([{ what: "checkpoint", fate: "back as it was" }]);
    expect(survey.items[0]?.reason).toContain("checkpoint.backup.json was used instead");
    expect(site.said).toHaveLength(1);
    expect(site.said[0]).toStartWith("warning: checkpoint.json: ");
    const [aside, ...more] = listQuarantine(site.disk, HOME);
    expect(more).toEqual([]);
    expect(readWhole(site.disk, aside?.path ?? "")).toEqual(bytes ?? new Uint8Array());
    expect(aside?.notes).toMatchObject([{ from: PRIMARY }]);
  });
}

test("TC-8(c) both overwritten with garbage: total loss is reported, nothing is thrown, both are quarantined, and the next one is written", async () => {
  const site = await new Site().withTwo();
  site.disk.plant(PRIMARY, GARBAGE);
  site.disk.plant(BACKUP, Buffer.from("other garbage"));
  const survey = await site.reader().survey();
  expect(survey.checkpoint).toBeNull();
  expect(survey.items).toMatchObject([{ what: "checkpoint", fate: "could not" }]);
  expect(survey.items[0]?.reason).toContain("is lost; they come back from the log");
  expect(survey.items[0]?.next).not.toBe("");
  await site.reader().survey(); // A second start finds the same and makes no second copy.
  await site.writer().write([sessionOf(3)]);
  expect(
    listQuarantine(site.disk, HOME)
      .map(({ notes }) => notes[0]?.from)
      .sort(),
  ).toEqual([BACKUP, PRIMARY]);
  expect(await site.names()).toEqual(["t3"]);
});

test("TC-8(b) a disk without room for the quarantine does not prevent a start", async () => {
  const site = await new Site().withTwo();
  site.disk.plant(PRIMARY, GARBAGE);
  site.disk.fault = ({ operation, path }) =>
    operation === "write" && path.includes("quarantine") ? { kind: "fail", code: "ENOSPC" } : undefined;
  expect(await site.names()).toEqual(["t1"]);
  expect(site.disk.fired.length).toBeGreaterThan(0);
  expect(site.said.join()).toContain("could not be set aside");
  expect(readWhole(site.disk, PRIMARY)).toEqual(new Uint8Array(GARBAGE)); // Still there.
});

test("TC-8(c) a read error is reported, and the file is left as it is", async () => {
  const site = await new Site().withTwo();
  site.disk.fault = ({ operation }) => (operation === "open" ? { kind: "fail", code: "EACCES" } : undefined);
  const { checkpoint, items } = await site.reader().survey();
  expect(checkpoint).toBeNull();
  expect(items).toMatchObject([{ fate: "could not", reason: expect.stringContaining("Permission denied") }]);
  site.disk.fault = undefined;
  expect(await site.names()).toEqual(["t2"]);
  expect(listQuarantine(site.disk, HOME)).toEqual([]);
});

test("TC-8(b) a missing primary with an existing backup is reported, and the backup is used", async () => {
  const site = await new Site().withTwo();
  site.disk.unlink(PRIMARY);
  expect(await site.names()).toEqual(["t1"]);
  expect(site.said[0]).toContain("missing");
});

for (const [what, jump, words] of [
  ["30 h old", 30 * HOUR, "older than allowed"],
  ["from the future", -HOUR, "from the future"],
] as const) {
  test(`TC-6(e,f) a checkpoint that is ${what} is never used silently, and nothing is discarded because of it`, async () => {
    const site = await new Site().withTwo();
    site.clock.jump(jump);
    expect(await site.reader().read()).toBeNull();
    const { checkpoint, doubt, items, sessions } = await site.reader().survey();
    expect(doubt).toContain(words);
    expect(checkpoint?.sessions).toHaveLength(1);
    expect([...sessions.keys()]).toEqual([sessionOf(2).terminalId]);
    expect(items).toMatchObject([{ fate: "needs you", reason: expect.stringContaining(words) }]);
    expect(listQuarantine(site.disk, HOME)).toEqual([]);
    expect(site.said[0]).toContain(words);
  });
}

test("TC-6(e) the allowed age is configurable, and five minutes of clock skew are tolerated", async () => {
  const site = await new Site().withTwo();
  site.clock.jump(30 * HOUR);
  expect(await site.reader(48 * HOUR).read()).not.toBeNull();
  site.clock.jump(-30 * HOUR - 4 * 60_000);
  expect(await site.reader().read()).not.toBeNull();
});

test("TC-1(a) a file of Holdfast 0.1, with the sessions below its body, is read, and the next write brings it into place", async () => {
  const site = new Site();
  const facts = { kind: "terminals", version: 1, fold: 1, seq: 0, time: "2026-01-01T00:00:00.000Z" };
  const { bytes } = encodeEnvelope(facts, JSON.stringify({ sessions: [sessionOf(1)] }));
  site.disk.plant(PRIMARY, bytes);
  expect(await site.names()).toEqual([sessionOf(1).name]);
  expect((await site.writer().write([sessionOf(2)])).ok).toBe(true);
  expect(await site.reader().read()).toMatchObject({ version: 2, sessions: [{ name: sessionOf(2).name }] });
  site.disk.unlink(PRIMARY);
  expect(await site.names()).toEqual([sessionOf(1).name]); // The backup is as it was.
});

test("TC-6(c) a newer version's file is neither used, nor skipped in favour of the backup, nor overwritten", async () => {
  const site = await new Site().withTwo();
  const facts = { ...checkpointOptions(HOME), version: 3, seq: 0, time: "2026-01-01T00:00:00.000Z" };
  const { bytes } = encodeEnvelope(facts, '{"sessions":[]}');
  site.disk.plant(PRIMARY, bytes);
  const survey = await site.reader().survey();
  expect(survey.checkpoint).toBeNull();
  expect(survey.items).toMatchObject([{ fate: "needs you", reason: expect.stringContaining("has version 3") }]);
  expect(await site.writer().write([sessionOf(3)])).toMatchObject({ ok: false, error: { code: "NEWER_VERSION" } });
  expect(readWhole(site.disk, PRIMARY)).toEqual(bytes);
  expect(listQuarantine(site.disk, HOME)).toEqual([]);
});

test("TC-7 an invalid session is reported by itself; the others are read", async () => {
  const site = new Site();
  const facts = { ...checkpointOptions(HOME), seq: 0, time: "2026-01-01T00:00:00.000Z" };
  const broken = { ...sessionOf(2), workingDirectory: "nowhere" };
  site.disk.plant(PRIMARY, encodeEnvelope(facts, JSON.stringify({ sessions: [sessionOf(1), broken, null] })).bytes);
  const { sessions, items, doubt } = await site.reader().survey();
  expect([...sessions.values()]).toEqual([sessionOf(1)]);
  expect(doubt).toBeNull();
  expect(items).toMatchObject([
    { id: sessionOf(2).sessionId, fate: "could not", reason: expect.stringContaining("workingDirectory") },
    { id: "checkpoint", fate: "could not", reason: expect.stringContaining("a session without an id") },
  ]);
});

test("TC-5(b) a checkpoint above 50 MB is written with a warning that is not repeated every minute", async () => {
  const site = new Site();
  const large = Array.from({ length: 53 }, (_, n) => sessionOf(n, { scrollbackSnapshot: "x".repeat(1 << 20) }));
  const writer = site.writer();
  await writer.write([sessionOf(1)]);
  expect(site.said).toEqual([]);
  for (let time = 0; time < 3; time += 1) expect((await writer.write(large)).ok).toBe(true);
  expect(site.said).toHaveLength(1);
  expect(site.said[0]).toContain("more than 50");
});

test("TC-4 a crash at any call of a checkpoint write leaves the previous one whole, and the next life writes again", async () => {
  const session = (n: number) => sessionOf(n, { scrollbackSnapshot: screenText(1_500) });
  const live = async (disk: SimDisk, promised: (n: number) => void) => {
    const writer = new Site(disk).writer();
    for (const n of [1, 2, 3]) {
      await writer.write([session(n)]);
      promised(n);
    }
  };
  const check = async (disk: SimDisk, promised: number) => {
    const site = new Site(disk);
    const found = await site.reader().read();
    const n = Number(found?.sessions[0]?.name.slice(1) ?? 0);
    expect([promised, promised + 1]).toContain(n);
    if (n > 0) expect(found?.sessions).toEqual([session(n)]);
    expect(site.said).toEqual([]);
    await site.writer().write([session(9)]);
    const later = new Site(disk.powerCut(nothing));
    expect((await later.reader().read())?.sessions).toEqual([session(9)]);
    later.disk.rot(PRIMARY, 300, 1);
    expect(await later.names()).toEqual(n > 0 ? [`t${n}`] : undefined);
  };
  expect(await everyCrash({ start: emptyHome(), nothingPromised: 0, live, check })).toBeGreaterThan(400);
});

test("TC-8(b) a crash while damage is read and quarantined loses neither it nor the backup", async () => {
  const { disk: start } = await new Site().withTwo();
  start.plant(PRIMARY, GARBAGE);
  const live = async (disk: SimDisk) => {
    const site = new Site(disk);
    await site.reader().survey();
    await site.writer().write([sessionOf(3)]);
  };
  const check = async (disk: SimDisk) => {
    const site = new Site(disk);
    const names = await site.names();
    expect([["t1"], ["t3"]]).toContainEqual(names ?? []);
    expect(listQuarantine(disk, HOME)).toHaveLength(1);
  };
  expect(await everyCrash({ start, nothingPromised: undefined, live, check })).toBeGreaterThan(100);
});

test("a disk that fills up at any call of a save leaves the last checkpoint whole, and the next save works", async () => {
  const { disk: start } = await new Site().withTwo();
  let failures = 0;
  for (let index = 1; ; index += 1) {
    const site = new Site(start.fork());
    const calls = site.disk.calls + index;
    site.disk.fault = (call) =>
      call.index === calls && ["open", "write", "sync", "link"].includes(call.operation)
        ? { kind: "fail", code: "ENOSPC" }
        : undefined;
    let last = false;
    try {
      await site.writer().write([sessionOf(3)]);
      last = site.disk.calls < calls;
    } catch (error) {
      if (!isFault(error, "ENOSPC")) throw error;
      failures += 1;
    }
    site.disk.fault = undefined;
    if (last) break;
    expect([["t2"], ["t3"]]).toContainEqual((await site.names()) ?? []);
    await site.writer().write([sessionOf(4)]);
    expect(await site.names()).toEqual(["t4"]);
    expect(site.disk.list("/home/recovery").filter((name) => name.endsWith(".tmp"))).toEqual([]);
  }
  expect(failures).toBeGreaterThan(3);
});
