// The machine goes down on a disk that forgets unsynced data, at every call of a terminal's life: its creation, its
// output, its checkpoints, its restoration and its next life. Then it comes back, and nothing that was promised is
// missing.
import { expect, test } from "bun:test";
import { parseClaim } from "../../src/wire/holder/json.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { nothing } from "../sim/survive.ts";
import { Boot, DIRECTORY, ID } from "./sim-boot.ts";

const OLD = "\u001b[32mthe old life 終端\u001b[0m\r\n";
const SEEN = "seen by a checkpoint and synced by nobody\r\n";
const NEW = "a new life, whole from its first letter to its last\r\n";

/** The gate tries every call, and a sample of the outcomes of each. */
const takesLong = true;

type Promised = {
  readonly created: boolean;
  /** What the tape is guaranteed to have. */
  readonly synced: readonly string[];
  /** What the screen of the last checkpoint is guaranteed to show. */
  readonly saved: string;
  readonly generation: number;
};

const NOTHING: Promised = { created: false, synced: [], saved: "", generation: 0 };

async function firstBoot(disk: SimDisk, promised: (now: Promised) => void): Promise<void> {
  const boot = await Boot.open(disk, 0);
  await boot.create();
  promised({ ...NOTHING, created: true });
  expect(await boot.begin()).toBe(true);
  promised({ ...NOTHING, created: true, generation: 1 });
  boot.print(OLD);
  await boot.sync();
  promised({ created: true, generation: 1, synced: ["the old life"], saved: "" });
  await boot.checkpoint();
  promised({ created: true, generation: 1, synced: ["the old life"], saved: "the old life" });
  boot.print(SEEN);
  await boot.checkpoint();
  promised({ created: true, generation: 1, synced: ["the old life"], saved: "seen by a checkpoint" });
  await boot.log.close();
}

async function secondBoot(disk: SimDisk, promised: (now: Promised) => void): Promise<void> {
  const boot = await Boot.open(disk, 1);
  const before = { created: true, synced: ["the old life"], saved: "the old life", generation: 1 };
  await boot.restore();
  expect(boot.terminal?.generation).toBe(2);
  promised({ ...before, generation: 2 });
  expect(await boot.begin()).toBe(true);
  boot.print("second\r\n");
  await boot.sync();
  promised({ ...before, generation: 2, synced: ["the old life", "started again", "second\r\n"] });
  await boot.checkpoint();
  promised({ created: true, generation: 2, synced: ["the old life", "started again", "second\r\n"], saved: "second" });
  await boot.log.close();
}

/** The next boot: everything promised is there, and work continues from there. */
async function check(disk: SimDisk, promised: Promised): Promise<void> {
  const boot = await Boot.open(disk, 2);
  if (boot.terminal === undefined) return void expect(promised.created).toBe(false);
  expect(boot.terminal).toMatchObject({ name: "one", policy: "auto", recipe: { argv: ["sh"], cwd: "/" } });
  expect(boot.terminal.generation).toBeGreaterThanOrEqual(promised.generation);
  for (const words of promised.synced) expect(boot.tapeText()).toContain(words);
  const { sessions, doubt } = await boot.reader.survey();
  expect(doubt).toBeNull();
  const seen = sessions.get(ID);
  if (promised.saved !== "") expect(seen?.scrollbackSnapshot).toContain(promised.saved);
  await boot.restore();
  expect(await boot.begin()).toBe(true);
  expect(boot.terminal?.restored?.offset ?? 0).toBeGreaterThanOrEqual(seen?.screen?.offset ?? 0);
  expect(await boot.begin()).toBe(false);
  boot.print(NEW);
  await boot.sync();
  await boot.checkpoint();
  // The next checkpoint combines the last snapshot with the tape: nothing of the new life is missing.
  const shown = (await boot.reader.survey()).sessions.get(ID)?.scrollbackSnapshot ?? "";
  expect(plain(shown)).toContain(NEW.trim());
  expectOneClaimEach(disk);
  await boot.log.close();
}

/** Without colours and cursor movements. */
function plain(vt: string): string {
  const parts = vt.replaceAll("\r\n", "").split("\u001b[");
  return parts.map((part, at) => (at === 0 ? part : part.replace(/^[^A-Za-z]*[A-Za-z]/, ""))).join("");
}

function expectOneClaimEach(disk: SimDisk): void {
  const names = disk.list(DIRECTORY).filter((name) => /^claim(-\d+)?\.json$/.test(name));
  const generations = names.map(
    (name) => parseClaim(disk.peek(`${DIRECTORY}/${name}`) ?? new Uint8Array(0))?.generation,
  );
  expect(new Set(generations).size).toBe(names.length);
}

test("TC-4 a power cut at any call of a terminal's first life and of its checkpoints: the next boot brings it back", async () => {
  const survived = await everyCrash({
    start: new SimDisk(),
    nothingPromised: NOTHING,
    live: firstBoot,
    check,
    takesLong,
  });
  expect(survived).toBeGreaterThan(amount(100, 500));
}, 240_000);

test("TC-4 a power cut at any call of a restoration, after the tape lost output that a checkpoint had seen", async () => {
  const disk = new SimDisk();
  await firstBoot(disk, () => undefined);
  const start = disk.powerCut(nothing);
  const nothingPromised = { created: true, synced: ["the old life"], saved: "seen by a checkpoint", generation: 1 };
  const survived = await everyCrash({ start, nothingPromised, live: secondBoot, check, takesLong });
  expect(survived).toBeGreaterThan(amount(100, 500));
}, 240_000);

test("a snapshot ahead of what is left of its tape: the next life begins after it, and is complete", async () => {
  const disk = new SimDisk();
  await firstBoot(disk, () => undefined);
  const boot = await Boot.open(disk.powerCut(nothing), 1);
  expect(boot.tapeText()).not.toContain("synced by nobody");
  const offset = (await boot.reader.survey()).sessions.get(ID)?.screen?.offset ?? 0;
  await boot.restore();
  expect(boot.terminal?.restored?.offset).toBe(offset);
  await boot.begin();
  boot.print(NEW);
  await boot.sync();
  expect(boot.tapeText()).toContain("started again");
  await boot.checkpoint();
  const shown = (await boot.reader.survey()).sessions.get(ID)?.scrollbackSnapshot ?? "";
  expect(plain(shown)).toContain(NEW.trim());
  expect(shown).toContain("seen by a checkpoint");
});
