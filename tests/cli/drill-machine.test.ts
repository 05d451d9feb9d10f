// `holdfast drill --machine`, run for real and small: everything of its home is killed at once, and every screen compared.
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { drillPlace, processesIn } from "./drill-place.ts";
import { cli, emptyHome } from "./homes.ts";

const DRILL_MS = 180_000;
const place = drillPlace();

test(
  "RS-7 TC-8 UC-8 the machine goes down at rest, in a checkpoint and in a restoration: every screen is what it was, cell by cell",
  async () => {
    const home = emptyHome();
    const args = ["drill", "--machine", "--terminals", "9", "--seed", "4", "--json"];
    const { code, out } = await cli(args, { HOLDFAST_HOME: home, TMPDIR: place });
    const found = JSON.parse(out);
    expect({ ...found, code }).toMatchObject({
      ...{ seed: 4, kills: 3, lost: 0, doubled: 0, orphans: 0, violations: [], code: 0 },
      screens: { equal: 9, of: 9 },
      // Two rounds with a run of each mode: the step of one and the four items of another are asked about, the third says itself what to do.
      workflows: { runs: 6, uncertain: 10 },
    });
    const moments = found.crashes.map(({ moment }: { moment: string }) => moment);
    expect(moments.toSorted()).toEqual(["at rest", "in a checkpoint", "in a restoration"]);
    expect(found.crashes[0].killed).toMatchObject({ holders: 15 }); // Of nine terminals and six attempts.
    expect(found.crashes[0].killed.ours).toBeGreaterThanOrEqual(2);
    expect(found.liveMs.median).toBeGreaterThan(0);
    expect([...readdirSync(home), ...readdirSync(place), ...processesIn(place)]).toEqual([]);
  },
  DRILL_MS,
);
