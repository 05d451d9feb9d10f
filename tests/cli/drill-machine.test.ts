// `holdfast drill --machine`, run for real and small: everything of its home is killed at once, and every screen compared.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { identify } from "../../src/world/process.ts";
import { realProcesses } from "../../src/world/real-process.ts";
import { cli, emptyHome, removeHomes } from "./homes.ts";

const DRILL_MS = 180_000;
const processes = realProcesses();
const place = mkdtempSync("/tmp/hft-");

afterAll(() => {
  for (let left = processesHere(); left.length > 0; left = processesHere()) {
    for (const who of left.flatMap((pid) => identify(processes, pid) ?? [])) processes.kill(who, "SIGKILL");
  }
  removeHomes();
  rmSync(place, { recursive: true, force: true });
});

function processesHere(): number[] {
  return processes.list().flatMap(({ pid }) => {
    return processes.variable(pid, "HOLDFAST_DRILL")?.startsWith(place) === true ? pid : [];
  });
}

test(
  "RS-7 TC-8 the machine goes down at rest, in a checkpoint and in a restoration: every screen is what it was, cell by cell",
  async () => {
    const home = emptyHome();
    const args = ["drill", "--machine", "--terminals", "9", "--seed", "4", "--json"];
    const { code, out } = await cli(args, { HOLDFAST_HOME: home, TMPDIR: place });
    const found = JSON.parse(out);
    expect({ ...found, code }).toMatchObject({
      ...{ seed: 4, kills: 3, lost: 0, doubled: 0, orphans: 0, violations: [], code: 0 },
      screens: { equal: 9, of: 9 },
    });
    const moments = found.crashes.map(({ moment }: { moment: string }) => moment);
    expect(moments.toSorted()).toEqual(["at rest", "in a checkpoint", "in a restoration"]);
    expect(found.crashes[0].killed).toMatchObject({ holders: 9 });
    expect(found.crashes[0].killed.ours).toBeGreaterThanOrEqual(2);
    expect(found.liveMs.median).toBeGreaterThan(0);
    expect([...readdirSync(home), ...readdirSync(place), ...processesHere()]).toEqual([]);
  },
  DRILL_MS,
);
