import { afterAll, expect, test } from "bun:test";
import * as homes from "../../../tests/cli/homes.ts";
import { LogView } from "../../log/inspect.ts";
import { realDisk } from "../../world/real/disk.ts";
import { DurableEnd } from "./durable.ts";

afterAll(homes.removeHomes);

const disk = realDisk();

function open(home: string) {
  const view = new LogView(disk, home);
  return { home, view, sessions: view.sessions };
}

test("K1 the last batch counts only once a later frame or a session's log has it", async () => {
  const home = await homes.killedHome(3, 9);
  const durable = new DurableEnd(disk);
  expect(open(home).view.marks.end).toBe(12);
  expect(durable.of(open(home))).toBe(11);
  const log = await homes.openLog(home);
  expect(durable.of(open(home))).toBe(12);
  await homes.write(log, 0, 1);
  expect(durable.of(open(home))).toBe(12);
  await log.drain();
  expect(durable.of(open(home))).toBe(13);
  await log.close();
});

test("a home without a write-ahead log reaches as far as its sessions' logs", async () => {
  const home = await homes.closedHome(5);
  for (const path of homes.walFiles(home)) disk.unlink(path);
  expect(new DurableEnd(disk).of(open(home))).toBe(5);
  expect(new DurableEnd(disk).of(open(homes.emptyHome()))).toBe(0);
});
