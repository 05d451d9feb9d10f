// `holdfast drill`, run for real and short: it kills real processes, and whatever is wrong with them shows.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { realProcesses } from "../../src/world/real-process.ts";
import { rejects } from "./expect.ts";
import { cli, emptyHome, removeHomes } from "./homes.ts";

const DRILL_MS = 120_000;
const processes = realProcesses();
/** Short, since sockets are made below it; of our own, since others may run drills as well. */
const place = mkdtempSync("/tmp/hft-");

afterAll(() => {
  removeHomes();
  rmSync(place, { recursive: true, force: true });
});

/** Every process of a drill that takes place here. */
function processesHere(): number[] {
  return processes.list().flatMap(({ pid }) => {
    return processes.variable(pid, "HOLDFAST_DRILL")?.startsWith(place) === true ? pid : [];
  });
}

describe("drill", () => {
  test(
    "kills everybody for a few seconds, and nothing is lost, doubled or left behind; the user's own home is not touched",
    async () => {
      const home = emptyHome();
      const args = ["drill", "--terminals", "4", "--seconds", "5", "--seed", "1", "--json"];
      const { code, out } = await cli(args, { HOLDFAST_HOME: home, TMPDIR: place });
      const found = JSON.parse(out);
      expect({ ...found, code }).toMatchObject({ seed: 1, lost: 0, doubled: 0, orphans: 0, violations: [], code: 0 });
      expect(found.kills).toBeGreaterThan(4);
      expect(found.lines).toBeGreaterThan(50);
      expect(found.liveMs.median).toBeGreaterThan(0);
      expect(found.safeModeMs).toBeLessThan(5000);
      expect([...readdirSync(home), ...readdirSync(place), ...processesHere()]).toEqual([]);
    },
    DRILL_MS,
  );

  test("a number of terminals that makes no sense is refused", async () => {
    rejects(await cli(["drill", "--terminals", "0"]), 2, "from 1 to 500");
  });
});
