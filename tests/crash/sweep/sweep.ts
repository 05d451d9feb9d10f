// The tests of the sweep: each row of the table in a home of its own, or a sample of all rows in one home.
// SW1. A point that violates nothing leaves its home as good as it found it, so the next point uses the same home.
//      After a violation there is a new one. At the end of a home, `status` and `doctor` find nothing wrong.
// SW2. A fault that did not fire proves nothing: in the full profile, most of them must.
import { expect, test } from "bun:test";
import { AgentHome } from "../../agent/agent-home.ts";
import { amount, PROFILE, sampleOf } from "../../sim/fuzz/profile.ts";
import { tryStrace } from "../strace.ts";
import { type Tried, tryPoint } from "./runner.ts";
import { FaultSite } from "./site.ts";
import { injectionOf, type Point, type Program, type Row, rowsOf } from "./table.ts";

const ROW_MS = 30 * 60_000;

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
  const counts = { tried: 0, fired: 0 };
  test.skipIf(!strace.ok).each(chosen(programs))(
    "$name fails: within ten seconds all works, or it is diagnosed; nothing acknowledged is lost (needs strace)",
    async ({ points }) => {
      const tried = await sweep(points);
      counts.tried += tried.length;
      counts.fired += tried.filter(({ hit }) => hit !== undefined).length;
      expect(tried.flatMap(({ violation }) => violation ?? [])).toEqual([]);
    },
    ROW_MS,
  );
  test.skipIf(!strace.ok)("most of the faults fired (needs strace)", () => {
    console.error(`points of the sweep: ${counts.tried}, fired: ${counts.fired}`);
    expect(counts.fired).toBeGreaterThanOrEqual(counts.tried * amount(0, 0.5)); // SW2
  });
}

/** SW1 */
async function sweep(points: readonly Point[]): Promise<Tried[]> {
  const all: Tried[] = [];
  let site: FaultSite | undefined;
  try {
    for (const point of points) {
      site ??= await newSite();
      const tried = await tryPoint(site, point);
      console.error(`${point.program}, ${point.moment}, ${injectionOf(point)}: ${tried.hit ?? "not reached"}`);
      all.push(tried);
      if (tried.violation !== undefined) site = await closed(site);
    }
    for (const word of site === undefined ? [] : ["status", "doctor"])
      expect(await site?.cli(word)).toMatchObject({ code: 0 });
  } finally {
    await closed(site);
  }
  return all;
}

async function newSite(): Promise<FaultSite> {
  const site = new FaultSite(new AgentHome());
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
