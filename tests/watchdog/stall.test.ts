// A disk that stalls, for real: a process that waits for it in state D is left alone, however long; one that just hangs
// is not.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../until.ts";
import { processes, type RealHome, realHomes } from "./real-home.ts";

const newHome = realHomes();
/**
 * Short, to keep the test short; a second program is silent from the start, and its restarts show that the limit has
 * passed.
 */
const QUICK = { heartbeatMs: 100, killAfterMs: 600, graceMs: 200, crashes: 1000 };
const SILENT = { programs: { silent: { argv: ["sleep", "1000"], heartbeatMs: 100 } } };

function times(home: RealHome, text: RegExp): number {
  return home.log.match(text)?.length ?? 0;
}

/** Ends the stall. Nothing waits for the disk any more. */
function flow(home: RealHome): void {
  Bun.spawnSync(["timeout", "1", "sh", "-c", `: > ${join(home.path, "stall")}`]);
}

async function leftAlone(home: RealHome): Promise<void> {
  const who = await home.daemon();
  process.kill(who.pid, "SIGUSR1");
  await until(
    "it waits in state D",
    () => processes.waitsForDisk(who.pid),
    () => processes.waitsForDisk(who.pid),
  );
  const ends = () => times(home, /silent \(\d+\): signalled/g);
  const before = ends();
  await until(
    "the limit has been over three times",
    () => ends() >= before + 3,
    () => ends(),
  );
  expect(home.said(`daemon (${who.pid}) is unresponsive`)).toBe(true);
  // Settled: had it been ended, it would stay so.
  expect(processes.alive(who)).toBe(true);
  expect(processes.waitsForDisk(who.pid)).toBe(true);
  flow(home);
  await until(
    "it goes on",
    () => !processes.waitsForDisk(who.pid),
    () => processes.waitsForDisk(who.pid),
  );
  const after = ends();
  await until(
    "the limit has been over twice more",
    () => ends() >= after + 2,
    () => ends(),
  );
  // Settled: had it been ended, it would stay so.
  expect(processes.alive(who)).toBe(true); // No signal was pending for it.
  process.kill(who.pid, "SIGSTOP");
  await until(
    "it is ended",
    () => !processes.alive(who),
    () => processes.alive(who),
  );
  await home.daemon(who);
}

test("WD-2(d,e) a daemon that waits for the disk is reported and left alone past every limit; one that hangs is killed", async () => {
  const home = newHome();
  expect(Bun.spawnSync(["mkfifo", join(home.path, "stall")]).exitCode).toBe(0);
  home.watchdog({ ...QUICK, ...SILENT });
  try {
    await leftAlone(home);
  } finally {
    flow(home);
  }
});
