import { describe, expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { SimDisk } from "../../tests/sim/disk.ts";
import { everyCrash } from "../../tests/sim/every-crash.ts";
import { joinPath } from "../base/path.ts";
import { EventLog } from "./event-log.ts";
import { readWhole } from "./file/file.ts";
import { importFrames } from "./import.ts";
import { decodeFrame } from "./wal/frame.ts";

const SESSIONS = ["agents/a1", "terminals/t1"] as const;
const OPTIONS = { ballastBytes: 0, segmentBytes: 64 << 10, pageBytes: 256 };

type Entries = readonly (readonly [seq: number, prev: number, data: string])[];

function open(disk: SimDisk, home: string): Promise<EventLog> {
  return EventLog.open({ disk, clock: new SimClock(), home }, OPTIONS);
}

async function append(log: EventLog, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const ts = "2026-01-01T00:00:00.000Z";
    const answer = log.append(SESSIONS.map((session) => ({ session, ts, event: "tested", data: { text } })));
    if (!answer.ok) throw new Error(answer.error.message);
    await answer.value.durable;
  }
}

function entriesIn(log: EventLog, session: string): Entries {
  const found: [number, number, string][] = [];
  for (const reading of log.read(session))
    if (reading.kind === "entry") {
      const { seq, prev, data } = reading.entry;
      found.push([seq, prev, JSON.stringify(data)]);
    } else throw new Error(`${session}: ${reading.kind}`);
  return found;
}

const allIn = (log: EventLog) => SESSIONS.map((session) => entriesIn(log, session));

/** Each frame as its writer wrote it, a batch for each. */
function batchesIn(disk: SimDisk, home: string): Uint8Array[] {
  const wal = joinPath(home, "wal");
  const texts = disk
    .list(wal)
    .sort()
    .map((name) => Buffer.from(readWhole(disk, joinPath(wal, name)) ?? []).toString("latin1"));
  const lines = texts.flatMap((text) => text.replaceAll(/\0+/g, "").split("\n"));
  const whole = lines.filter((line) => (decodeFrame(Buffer.from(line, "latin1"), 0)?.count ?? 0) > 0);
  return whole.map((line) => Buffer.from(`${line}\n`, "latin1"));
}

/** A home that was used, the frames of its log, and what is in its sessions. */
async function used(count: number) {
  const disk = new SimDisk();
  const log = await open(disk, "/from");
  await append(log, ...Array.from({ length: count }, (_, nth) => `entry ${nth}`));
  return { disk, batches: batchesIn(disk, "/from"), entries: allIn(log) };
}

const imported = (disk: SimDisk, batches: readonly Uint8Array[], drained = 0) =>
  importFrames({ disk, clock: new SimClock(), home: "/to" }, batches, drained);

describe("bringing entries of another disk into the log", () => {
  test("an empty home has them all, in every session, and goes on behind them", async () => {
    const { batches, entries } = await used(5);
    const disk = new SimDisk();
    expect(await imported(disk, batches)).toEqual({ ok: true, value: { end: 10, added: 10 } });
    expect(await imported(disk, batches)).toEqual({ ok: true, value: { end: 10, added: 0 } });
    expect(await imported(disk, [...batches, ...batches])).toEqual({ ok: true, value: { end: 10, added: 0 } });
    const log = await open(disk, "/to");
    expect(log.report).toMatchObject({ lost: [], torn: [], frozen: [], quarantined: [], replayed: 10 });
    expect(allIn(log)).toEqual(entries);
    await append(log, "more");
    expect(entriesIn(log, "agents/a1").at(-1)).toEqual([11, 9, '{"text":"more"}']);
  });

  test("a home with its own log gets what is behind its end, whatever it has drained", async () => {
    const { batches, entries } = await used(6);
    for (const drains of [false, true]) {
      const disk = new SimDisk();
      await imported(disk, batches.slice(0, 3));
      const log = await open(disk, "/to");
      if (drains) await log.close();
      const killed = disk.processKill();
      expect(await imported(killed, batches)).toEqual({ ok: true, value: { end: 12, added: 6 } });
      expect(allIn(await open(killed, "/to"))).toEqual(entries);
    }
  });

  test("behind a snapshot only the rest is needed; the session logs have what is before it", async () => {
    const { disk: from, batches, entries } = await used(6);
    const closed = from.processKill();
    await (await open(closed, "/from")).close();
    const disk = new SimDisk();
    for (const session of SESSIONS) {
      const lines = Buffer.from(readWhole(closed, `/from/${session}/events.jsonl`) ?? []).toString();
      disk.plant(`/to/${session}/events.jsonl`, Buffer.from(`${lines.split("\n").slice(0, 3).join("\n")}\n`));
    }
    expect(await imported(disk, batches.slice(3), 6)).toEqual({ ok: true, value: { end: 12, added: 6 } });
    expect(allIn(await open(disk, "/to"))).toEqual(entries);
  });

  test("a hole, and bytes that are no frame, are refused, and nothing is changed", async () => {
    const { batches } = await used(4);
    const disk = new SimDisk();
    const refusal = async (given: readonly Uint8Array[], drained = 0) => {
      const answer = await imported(disk, given, drained);
      expect(disk.list("/to/wal")).toEqual([]);
      return answer.ok ? undefined : answer.error.code;
    };
    expect(await refusal(batches.slice(1))).toBe("log.hole");
    expect(await refusal(batches.filter((_, nth) => nth !== 2))).toBe("log.hole");
    expect(await refusal(batches.slice(2), 2)).toBe("log.hole");
    const first = batches[0] ?? new Uint8Array();
    for (let at = 0; at < first.length; at++)
      expect(await refusal([first.map((byte, nth) => (nth === at ? byte ^ 1 : byte))])).toBe("log.frames");
    expect(await refusal([first.subarray(0, -1)])).toBe("log.frames");
  });

  test("what is torn here is in the quarantine, and what was lost here is mended", async () => {
    const { batches, entries } = await used(6);
    const disk = new SimDisk();
    await imported(disk, batches.slice(0, 4));
    const [name = ""] = disk.list("/to/wal");
    const bytes = Buffer.from(readWhole(disk, `/to/wal/${name}`) ?? []);
    bytes[bytes.indexOf("entry 2")] = 0x58;
    disk.plant(`/to/wal/${name}`, bytes);
    expect(await imported(disk, batches)).toEqual({ ok: true, value: { end: 12, added: 8 } });
    expect(disk.list("/to/quarantine").length).toBeGreaterThan(0);
    const log = await open(disk, "/to");
    expect(log.report.lost).toEqual([]);
    expect(allIn(log)).toEqual(entries);
  });

  test("a crash at every call leaves the log as it was or with all of it, and it can be repeated", async () => {
    const { batches, entries } = await used(4);
    const start = new SimDisk();
    await imported(start, batches.slice(0, 2));
    await (await open(start, "/to")).close();
    const survived = await everyCrash({
      start: start.processKill(),
      nothingPromised: false,
      live: async (disk, promised) => {
        await imported(disk, batches);
        promised(true);
      },
      check: async (disk, isPromised) => {
        const log = await open(disk.processKill(), "/to");
        const has = entriesIn(log, "agents/a1").length;
        expect(isPromised ? [4] : [2, 4]).toContain(has);
        expect((await imported(disk, batches)).ok).toBe(true);
        const again = await open(disk, "/to");
        expect(allIn(again)).toEqual(entries);
        await append(again, "more");
        expect(again.report.lost).toEqual([]);
      },
    });
    expect(survived).toBeGreaterThan(20);
  });
});
