// What the benchmark of a machine's recovery waits for, read from a checkpoint of today's version.
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { savedScreens } from "../../bench/recovery-machine.ts";
import { CHECKPOINT_BACKUP, CHECKPOINT_FACTS, CHECKPOINT_FILE } from "../../src/core/terminal/checkpoint.ts";
import { CheckpointStore } from "../../src/log/checkpoint/store.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { emptyHome, removeHomes } from "../cli/homes.ts";
import { sessionOf } from "../terminal/checkpoint-sessions.ts";

afterAll(removeHomes);

const AT = "2026-01-02T03:04:05.678Z";
const SCREEN = { offset: 1, cols: 80, rows: 24, exact: true, at: AT, title: "", alternate: false };

test("terminals whose screen is in the checkpoint are counted; without a checkpoint there are none", async () => {
  const home = emptyHome();
  expect(savedScreens(home)).toBe(0);
  const keep = { backup: join(home, CHECKPOINT_BACKUP) };
  const place = { home, path: join(home, CHECKPOINT_FILE), keep, ...CHECKPOINT_FACTS };
  const store = new CheckpointStore(realDisk(), realClock(), place);
  const sessions = [sessionOf(1), sessionOf(2, { screen: SCREEN }), sessionOf(3, { screen: SCREEN })];
  expect(await store.save({ sessions }, 1)).toMatchObject({ ok: true });
  expect(savedScreens(home)).toBe(2);
});
