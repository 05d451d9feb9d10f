// Real processes: the exercise is killed with SIGKILL, in a full run hundreds of times, and nothing that it
// acknowledged is ever missing.
// The page cache survives a kill, so this proves the recovery of torn work, not the syncs: for those see tests/sim and
// tests/bugs.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realWorld } from "../../src/world/world.ts";
import { amount, PROFILE } from "../sim/fuzz/profile.ts";
import { SimRandom } from "../sim/random.ts";
import { parseAcks } from "./acks.ts";
import { exercise, type Moment } from "./child.ts";
import { verify } from "./verify.ts";

const scratch = mkdtempSync(join(tmpdir(), "holdfast-kill-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const SEEDS = Array.from({ length: amount(2, 12) }, (_, index) => (PROFILE.seed % 100_000) + index);
const KILLS_FOR_EACH = amount(10, 18);
/** One directory's processes at a time for each core; more would only wait for each other. */
const AT_ONCE = 2;
const NO_END = "1000000";
const MINUTES = 3 * 60_000;

/** One directory, its acknowledgements so far, and how often its writer was killed. */
class Victim {
  readonly home: string;
  readonly seed: number;
  acks = "";
  kills = 0;
  killsInRecovery = 0;

  constructor(seed: number) {
    this.home = join(scratch, `home-${seed}`);
    this.seed = seed;
    mkdirSync(join(this.home, "wal"), { recursive: true });
  }

  async run(moment: Moment, events = NO_END): Promise<void> {
    const ended = await exercise(["run", this.home, "--events", events, "--seed", String(this.seed)], moment);
    this.acks += ended.out;
    const killed = moment.kind !== "never";
    expect({ seed: this.seed, moment, ...ended, out: "" }).toMatchObject(
      killed ? { signal: "SIGKILL" } : { code: 0, signal: null },
    );
    if (killed) this.kills += 1;
    if (killed && !ended.err.includes("recovered")) this.killsInRecovery += 1;
    this.check();
  }

  /** As it is, before any recovery. */
  check(): void {
    const broken = verify({ ...realWorld(), home: this.home }, parseAcks(this.acks));
    expect({ seed: this.seed, kills: this.kills, broken }).toEqual({ seed: this.seed, kills: this.kills, broken: [] });
  }
}

function randomMoment(random: SimRandom): Moment {
  const dice = random.fraction();
  if (dice < 0.05) return { kind: "at once" };
  if (dice < 0.15) return { kind: "recovering" };
  if (dice < 0.45) return { kind: "wal changes", count: 1 + random.int(40) };
  return { kind: "lines", count: 1 + random.int(random.chance(0.3) ? 60 : 12) };
}

async function lifeAndDeaths(victim: Victim): Promise<void> {
  const random = new SimRandom(victim.seed);
  while (victim.kills < KILLS_FOR_EACH) {
    await victim.run(randomMoment(random));
    if (victim.kills % 8 === 0) await victim.run({ kind: "never" }, "0"); // recovers, writes a little, ends well
  }
  // On a busy machine the signal may come only after recovery: it is sent until it was in time once.
  while (victim.killsInRecovery === 0) await victim.run({ kind: "recovering" });
  const events = parseAcks(victim.acks).reduce(
    (top, ack) => (ack.kind === "transaction" ? Math.max(top, ack.last) : top),
    0,
  );
  await victim.run({ kind: "never" }, String(events + 200));
}

test(
  `EL-2 EL-3(a,b,c,d) ${SEEDS.length * KILLS_FOR_EACH} SIGKILLs lose nothing acknowledged, and the run still reaches its end`,
  async () => {
    const start = performance.now();
    const victims = SEEDS.map((seed) => new Victim(seed));
    const waiting = victims.slice();
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (let victim = waiting.pop(); victim !== undefined; victim = waiting.pop()) await lifeAndDeaths(victim);
    });
    await Promise.all(workers);
    const kills = victims.reduce((sum, victim) => sum + victim.kills, 0);
    const early = victims.reduce((sum, victim) => sum + victim.killsInRecovery, 0);
    const acks = victims.reduce((sum, victim) => sum + parseAcks(victim.acks).length, 0);
    const ms = Math.round(performance.now() - start);
    console.error(`${kills} kills (${early} before recovery had ended), ${acks} acknowledgements, none lost, ${ms} ms`);
    expect(kills).toBeGreaterThanOrEqual(SEEDS.length * KILLS_FOR_EACH);
    expect(early).toBeGreaterThanOrEqual(SEEDS.length);
    for (const victim of victims) {
      const file = `${victim.home}.acks`;
      writeFileSync(file, victim.acks);
      expect(await exercise(["verify", victim.home, file])).toMatchObject({ code: 0, out: "" });
    }
  },
  MINUTES,
);
