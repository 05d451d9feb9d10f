import { expect, test } from "bun:test";
import { SimDisk } from "../../tests/sim/disk.ts";
import { put } from "../../tests/world/places.ts";
import { lastLogLine } from "./log-file.ts";

function lastOf(...lines: readonly string[]): string | undefined {
  const disk = new SimDisk();
  for (const directory of ["/h", "/h/run"]) disk.makeDirectory(directory);
  put(disk, "/h/run/watchdog.log", `${lines.join("\n")}\n`);
  return lastLogLine(disk, "/h");
}

const OLD = "T daemon 6: live after 20 ms";
const WHY = "T daemon 7: the daemon cannot start: open /h/wal: EMFILE. Too many open files.";
const ENDED = "T watchdog 5: daemon (7): exited 1";
const STARTED = "T watchdog 5: daemon (8): started";

test("LF2 the last message is why the daemon ended, and not that it did, or that the next one is started", () => {
  expect(lastOf(OLD, WHY, ENDED)).toBe(WHY);
  expect(lastOf(OLD, WHY, ENDED, STARTED)).toBe(WHY);
  expect(lastOf(OLD, WHY, ENDED, STARTED, "T watchdog 5: daemon (8) is unresponsive")).toBe(WHY);
});

test("LF2 what came after the end, and an end without a word, is the last message itself", () => {
  const refused = "T watchdog 5: spawn bun: EAGAIN. The system allows no more processes.";
  expect(lastOf(WHY, ENDED, refused)).toBe(refused);
  expect(lastOf(OLD, ENDED)).toBe(ENDED);
  expect(lastOf(OLD, "T watchdog 5: daemon (6): killed SIGKILL")).toBe("T watchdog 5: daemon (6): killed SIGKILL");
});
