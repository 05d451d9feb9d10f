// `holdfast drill --machine`, run for real and small: everything of its home is killed at once, and every screen
// compared.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rejects } from "../cli/expect.ts";
import { cli, emptyHome } from "../cli/homes.ts";
import { isInSample } from "../sim/fuzz/profile.ts";
import { drillPlace, processesIn } from "./place.ts";

const DRILL_MS = 180_000;
const place = drillPlace();

// One of the two kinds of drills for each commit: the other one is drill.test.ts.
if (isInSample(2))
  test(
    "UC-8(b) AG-3(c) PR-3(d) the machine goes down at rest, in a checkpoint and in a restoration: every screen is unchanged, cell by cell",
    async () => {
      const home = emptyHome();
      const args = ["drill", "--machine", "--terminals", "9", "--seed", "4", "--json"];
      const { code, out } = await cli(args, { HOLDFAST_HOME: home, TMPDIR: place });
      const found = JSON.parse(out);
      expect({ ...found, code }).toMatchObject({
        ...{ seed: 4, kills: 3, lost: 0, doubled: 0, orphans: 0, violations: [], code: 0 },
        screens: { equal: 9, of: 9 },
        // Two rounds with a run of each mode: the step of one and the four items of another are asked about, the third
        // decides itself.
        workflows: { runs: 6, uncertain: 10 },
        agents: { agents: 2, messages: 4 },
      });
      const moments = found.crashes.map(({ moment }: { moment: string }) => moment);
      expect(moments.toSorted()).toEqual(["at rest", "in a checkpoint", "in a restoration"]);
      expect(found.crashes[0].killed).toMatchObject({ holders: 17 }); // Of nine terminals, six attempts and two agents.
      expect(found.crashes[0].killed.ours).toBeGreaterThanOrEqual(2);
      expect(found.agents.prompts).toBeGreaterThanOrEqual(2); // One after each round at least.
      expect(found.liveMs.median).toBeGreaterThan(0);
      expect([...readdirSync(home), ...readdirSync(place), ...processesIn(place)]).toEqual([]);
    },
    DRILL_MS,
  );

test("a number of terminals that makes no sense is refused, with its range", async () => {
  rejects(await cli(["drill", "--machine", "--terminals", "0"]), 2, "from 1 to 500");
});

// Costs as much as the one before.
if (isInSample(3))
  test(
    "a program started on request is waited for until it runs, however slow its shell is",
    async () => {
      const bin = join(emptyHome(), "bin");
      mkdirSync(bin);
      writeFileSync(join(bin, "sh"), '#!/bin/sh\nsleep 2\nexec /bin/sh "$@"\n', { mode: 0o755 });
      const args = ["drill", "--machine", "--terminals", "8", "--seed", "124", "--keep", "--json"];
      const { code, out } = await cli(args, { TMPDIR: place, PATH: `${bin}:/usr/bin:/bin` });
      const found = JSON.parse(out);
      expect({ ...found, code }).toMatchObject({ doubled: 0, lost: 0, violations: [], code: 0 });
      // With this seed t7 asks, and continues by being run again: it ran when it was opened, and after each of two
      // rounds.
      expect(readFileSync(join(found.home, "drill/ran/t7"), "utf8")).toBe("ran\n".repeat(3));
    },
    DRILL_MS,
  );
