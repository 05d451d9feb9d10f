import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import * as homes from "../../../tests/cli/homes.ts";
import { LogView } from "../../log/inspect.ts";
import { placeFromEnd } from "../../log/session/back.ts";
import { FROM_START } from "../../log/session/session-log.ts";
import { realDisk } from "../../world/real/disk.ts";
import { type Cursors, cursorAt, type Harm, inOrder } from "./merge.ts";

afterAll(homes.removeHomes);

const disk = realDisk();
const many = Array.from({ length: 30 }, (_, i) => `agents/s${i}`);

function cursorsOf(view: LogView): Cursors {
  return new Map(view.sessions.map((session) => [session, cursorAt()]));
}

function seqs(view: LogView, cursors: Cursors, from: number, until: number, harms: Harm[] = []): number[] {
  return [...inOrder(view, cursors, { from, until }, harms)].map(({ entry }) => entry.seq);
}

const upTo = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe("inOrder", () => {
  test("thousands of entries of many sessions are read once each, ascending, over many windows", async () => {
    const view = new LogView(disk, await homes.closedHome(5000, many));
    expect(seqs(view, cursorsOf(view), 1, Number.POSITIVE_INFINITY)).toEqual(upTo(1, 5000));
  });

  test("a range contains what it says, and the next one continues after it", async () => {
    const view = new LogView(disk, await homes.killedHome(50, 40));
    const cursors = cursorsOf(view);
    expect(seqs(view, cursors, 7, 60)).toEqual(upTo(7, 60));
    expect(seqs(view, cursors, 61, 75)).toEqual(upTo(61, 75));
    expect(seqs(view, cursors, 76, 1000)).toEqual(upTo(76, 90));
    expect(seqs(view, cursors, 91, 1000)).toEqual([]);
  });

  test("an entry first seen in the write-ahead log is not seen again after its drain", async () => {
    const home = await homes.killedHome(50, 40);
    const cursors = cursorsOf(new LogView(disk, home));
    expect(seqs(new LogView(disk, home), cursors, 1, 90)).toEqual(upTo(1, 90));
    const log = await homes.openLog(home);
    await homes.write(log, 0, 10);
    await log.close();
    for (const cursor of cursors.values()) cursor.next = 0;
    const harms: Harm[] = [];
    expect(seqs(new LogView(disk, home), cursors, 1, Number.POSITIVE_INFINITY, harms)).toEqual(upTo(91, 100));
    expect(harms).toEqual([]);
  });

  test("damage is reported if something follows it; at the end of a log it may be an unfinished write", async () => {
    const home = await homes.closedHome(30);
    const view = new LogView(disk, home);
    const path = join(home, homes.A, "events.jsonl");
    homes.harm(path, '"i":27');
    const last: Harm[] = [];
    expect(seqs(view, cursorsOf(view), 1, 30, last)).not.toContain(28);
    expect(last).toEqual([]);
    homes.harm(path, '"i":3,');
    const middle: Harm[] = [];
    seqs(view, cursorsOf(view), 1, 30, middle);
    expect(middle.map(({ session, reading }) => `${session} ${reading.kind}`)).toEqual([
      `${homes.A} harmed`,
      `${homes.A} break`,
    ]);
  });
});

describe("placeFromEnd", () => {
  test("reading from the position gives exactly the requested entries, however long the log is", async () => {
    const home = homes.emptyHome();
    const log = await homes.openLog(home);
    for (let i = 0; i < 400; i++) {
      const appended = log.append([homes.entry(homes.A, "x".repeat(i % 10 === 0 ? 40_000 : i))]);
      if (appended.ok) await appended.value.durable;
    }
    await log.close();
    const view = new LogView(disk, home);
    for (const wanted of [1, 2, 200, 390, 391, 400, 401]) {
      const place = placeFromEnd(disk, join(home, homes.A), (seq) => seq < wanted);
      expect([...view.read(homes.A, place)].map((reading) => reading.kind === "entry" && reading.entry.seq)).toEqual(
        wanted > 400 ? [] : upTo(wanted, 400),
      );
    }
  });

  test("a session that has no log yet is read from the start", () => {
    expect(placeFromEnd(disk, join(homes.emptyHome(), "agents/x"), () => true)).toEqual(FROM_START);
  });
});
