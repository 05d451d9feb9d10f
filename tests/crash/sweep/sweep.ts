// The tests of the sweep: each row of the table in a home of its own, or a sample of all rows in one home.
// SW1. A point that violates nothing leaves its home as good as it found it, so the next point uses the same home.
//      After a violation there is a new one. At the end of a home, `status` and `doctor` find nothing wrong.
// SW2. A fault that did not fire proves nothing: in the full profile, three quarters of them must, and the others are
//      named.
// SW3. Points mostly wait: several homes go through their rows side by side.
import { expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { amount, PROFILE, sampleOf } from "../../sim/fuzz/profile.ts";
import { tryStrace } from "../strace.ts";
import { calmSoon, SOON_MS, type Tried, tryPoint } from "./runner.ts";
import { FaultSite } from "./site.ts";
import { injectionOf, type Point, type Program, type Row, rowsOf } from "./table.ts";

/** SW3: rows wait for their turn as well. */
const PART_MS = 90 * 60_000;
const HOMES = 2 * availableParallelism();
const FIRED = 0.75;

/** Of each of the programs one point in the gate; otherwise all rows. */
function chosen(programs: readonly Program[]): Row[] {
  if (PROFILE.name !== "ci") return rowsOf(programs);
  const points = programs.flatMap((program, turn) => {
    const all = rowsOf([program]).flatMap((row) => row.points);
    return sampleOf(all, all.length, turn);
  });
  return [{ name: `a sample of ${programs.join(", ")}`, points }];
}

export function sweepTests(programs: readonly Program[]): void {
  const strace = tryStrace();
  if (!strace.ok) console.error(`skipped: the sweep of failing system calls: ${strace.why}`);
  const rows = chosen(programs);
  const progress = new Progress(rows.reduce((sum, { points }) => sum + points.length, 0));
  const homes = new Turns(HOMES);
  test.concurrent.skipIf(!strace.ok).each(rows)(
    "$name fails: within ten seconds all works, or it is diagnosed; nothing acknowledged is lost (needs strace)",
    async ({ points }) => {
      const tried = await homes.take(() => sweep(points, progress));
      expect(tried.flatMap(({ violation }) => violation ?? [])).toEqual([]);
    },
    PART_MS,
  );
  test.skipIf(!strace.ok)("three quarters of the faults fired (needs strace)", () => {
    const { tried } = progress;
    const missed = tried.filter(({ hit }) => hit === undefined);
    for (const { point } of missed) console.error(`not reached: ${nameOf(point)}`);
    const slowest = Math.max(0, ...tried.map(({ tookMs }) => tookMs));
    const late = tried.filter(({ tookMs }) => tookMs > SOON_MS).length;
    const counts = `${tried.length} points, ${tried.length - missed.length} fired, ${late} right after more than 10 s`;
    console.error(`the sweep: ${counts}, the slowest after ${seconds(slowest)}`);
    expect(tried.length - missed.length).toBeGreaterThanOrEqual(tried.length * amount(0, FIRED)); // SW2
  });
}

/** SW1 */
async function sweep(points: readonly Point[], progress: Progress): Promise<Tried[]> {
  const all: Tried[] = [];
  let site: FaultSite | undefined;
  try {
    for (const point of points) {
      site ??= await newSite();
      const tried = await tryPoint(site, point);
      progress.add(tried);
      all.push(tried);
      if (tried.violation !== undefined) site = await closed(site);
    }
    if (site !== undefined) await calmSoon(site);
  } finally {
    await closed(site);
  }
  return all;
}

async function newSite(): Promise<FaultSite> {
  const site = new FaultSite();
  await site.begin().catch(async (error: unknown) => {
    await closed(site);
    throw error;
  });
  return site;
}

async function closed(site: FaultSite | undefined): Promise<undefined> {
  await site?.home.close();
  site?.close();
  return undefined;
}

/** What was tried so far. */
class Progress {
  readonly tried: Tried[] = [];
  readonly #of: number;

  constructor(of: number) {
    this.#of = of;
  }

  add(tried: Tried): void {
    this.tried.push(tried);
    const { point, hit, violation, diagnosis, tookMs } = tried;
    const healed = diagnosis === undefined ? "works" : `is diagnosed (${diagnosis})`;
    const words = violation === undefined ? `${healed} after ${seconds(tookMs)}` : `VIOLATION ${violation}`;
    console.error(`${this.tried.length} of ${this.#of}: ${nameOf(point)}: ${hit ?? "not reached"}: ${words}`);
  }
}

/** SW3: so many at a time, in the order in which they asked. */
class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

function nameOf(point: Point): string {
  return `${point.program}, ${point.moment}, ${injectionOf(point)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
