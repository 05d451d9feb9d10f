// Failures reported for other tools: the machine went down and left a newest checkpoint that is empty, too old, from
// the future, or of a newer version. Each time every terminal is back in its place, doubtful ones are marked, and
// nothing good is overwritten.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readSessions } from "../../src/core/terminal/checkpoint.ts";
import { CheckpointWriter } from "../../src/daemon/terminal/checkpoint-writer.ts";
import { encodeEnvelope } from "../../src/log/checkpoint/envelope.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { type DaemonHome, daemonHomes } from "../daemon/home.ts";
import { boot, isBack, powerCut, tapeText } from "../daemon/power-cut.ts";
import { until } from "../until.ts";

const newHome = daemonHomes();
const HOUR = 3_600_000;
const FILE = "recovery/checkpoint.json";
const LONG_MS = 180_000;

/** A home whose machine went down: two terminals, and a good checkpoint of both with its backup. */
async function crashed(): Promise<{ readonly home: DaemonHome; readonly ids: readonly string[] }> {
  const home = newHome();
  const ids: string[] = [];
  for (const argv of [
    ["bash", "--norc", "--noprofile"],
    ["sh", "-c", "echo ran >> ran; exec sleep 1000"],
  ]) {
    const daemon = await home.live(boot(1));
    const id = await home.open(`t${ids.length}`, argv);
    ids.push(id);
    await home.is(id, "running");
    await home.stop(daemon); // CS-4: writes the last checkpoint; the holders live on.
  }
  await home.live(boot(1));
  await until(
    "it ran",
    () => home.text("ran") === "ran\n",
    () => home.text("ran"),
  );
  await powerCut(home);
  return { home, ids };
}

/** The same checkpoint, written with another clock. */
async function rewritten(home: DaemonHome, byMs: number): Promise<void> {
  const { sessions } = readSessions(JSON.parse(home.text(FILE)));
  const clock = { ...realClock(), now: () => Date.now() + byMs };
  const saved = await new CheckpointWriter({ disk: realDisk(), clock, home: home.path }, () => undefined).write(
    sessions,
  );
  expect(saved.ok).toBe(true);
}

/** Everything was restored from what was left, and no command was run. */
async function allBack(home: DaemonHome, ids: readonly string[]) {
  await home.live(boot(2));
  for (const id of ids) {
    await isBack(home, id, 2);
    expect(tapeText(home, id)).toContain("started again");
  }
  expect(home.text("ran")).toBe("ran\n");
  const { items } = await home.report();
  expect(items.filter(({ what }) => what === "terminal").map(({ fate }) => fate)).toEqual(["restarted", "restarted"]);
  return items.filter(({ what }) => what === "checkpoint");
}

test(
  "TC-8(b) the newest checkpoint has 0 bytes: the backup is used, and the empty one is quarantined",
  async () => {
    const { home, ids } = await crashed();
    writeFileSync(home.file(FILE), "");
    expect(await allBack(home, ids)).toMatchObject([
      { fate: "back as it was", reason: expect.stringContaining("checkpoint.backup.json was used instead") },
    ]);
  },
  LONG_MS,
);

test(
  "TC-8(c) both checkpoints are garbage after a power cut: the loss is reported, terminals come back from the log",
  async () => {
    const { home, ids } = await crashed();
    for (const file of [FILE, "recovery/checkpoint.backup.json"]) writeFileSync(home.file(file), "\u0000garbage");
    expect(await allBack(home, ids)).toMatchObject([{ fate: "could not", reason: expect.stringContaining("is lost") }]);
    expect(readdirSync(home.file("quarantine")).length).toBeGreaterThanOrEqual(2);
  },
  LONG_MS,
);

for (const [when, byMs] of [
  ["30 h old", -30 * HOUR],
  ["from the future, or the clock was set back", 7 * HOUR],
] as const) {
  test(
    `TC-6(f) the checkpoint is ${when}: terminals are back anyway, and marked`,
    async () => {
      const { home, ids } = await crashed();
      await rewritten(home, byMs);
      expect(await allBack(home, ids)).toMatchObject([
        { fate: "needs you", reason: expect.stringContaining("in doubt") },
      ]);
      for (const id of ids) {
        const { restored } = await home.listed(id);
        expect(restored?.notes.join()).toContain("not as it was last seen");
      }
    },
    LONG_MS,
  );
}

test(
  "TC-6(c) the checkpoint is of a newer version: terminals are back, and the file is left alone",
  async () => {
    const { home, ids } = await crashed();
    const { timestamp: time, sessions } = JSON.parse(home.text(FILE));
    const facts = { kind: "terminals", version: 99, fold: 1, seq: 0, time };
    const { bytes } = encodeEnvelope(facts, JSON.stringify({ sessions }));
    writeFileSync(home.file(FILE), bytes);
    expect(await allBack(home, ids)).toMatchObject([
      { fate: "needs you", reason: expect.stringContaining("version 99") },
    ]);
    expect(readFileSync(home.file(FILE))).toEqual(Buffer.from(bytes));
  },
  LONG_MS,
);
