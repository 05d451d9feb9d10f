// `holdfast drill`, run for real and short: it kills real processes, and whatever is wrong with them shows.
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { rejects } from "../cli/expect.ts";
import { cli, emptyHome } from "../cli/homes.ts";
import { ours } from "../ours.ts";
import { isInSample, sampleOf } from "../sim/fuzz/profile.ts";
import { drillPlace, processesIn } from "./place.ts";

const DRILL_MS = 180_000;
const place = drillPlace();

/** As a thread of a killed process does that was still in the middle of a write, but for longer. */
async function startLateWriter(): Promise<void> {
  const home = join(place, readdirSync(place)[0] ?? "");
  const writes = `let n = 0; const until = performance.now() + 1500; console.log("writes");
    const { writeFileSync } = require("node:fs");
    try { while (performance.now() < until) writeFileSync(process.argv[1] + "/late-" + n++, ""); } catch {}`;
  const writer = Bun.spawn([process.execPath, "-e", writes, home], { cwd: "/", env: {}, stdout: "pipe" });
  for await (const _ of writer.stdout) return;
}

/** Runs a drill in a window, and breaks it off once it shows this. */
async function brokenOff(
  at: string,
  how: "^C" | "^C ^C" | "SIGTERM" | "SIGHUP",
  before: () => Promise<void> = () => Promise.resolve(),
): Promise<{ exit: number; seen: string }> {
  let seen = "";
  const shown = Promise.withResolvers<void>();
  const data = (_: unknown, bytes: Uint8Array) => {
    seen += Buffer.from(bytes).toString();
    if (seen.includes(at)) shown.resolve();
  };
  const child = Bun.spawn(ours("src/cli/main.ts", "drill", "--terminals", "3", "--seconds", "2", "--seed", "3"), {
    cwd: place,
    env: { PATH: "/usr/bin:/bin", TMPDIR: place },
    terminal: { cols: 120, rows: 24, data },
  });
  await Promise.race([shown.promise, child.exited]);
  await before();
  if (how === "^C" || how === "^C ^C") child.terminal?.write("\u0003");
  else child.kill(how);
  while (how === "^C ^C" && child.exitCode === null && child.signalCode === null) {
    await Promise.race([child.exited, Bun.sleep(5)]); // An impatient person, again and again.
    child.terminal?.write("\u0003");
  }
  return { exit: await child.exited, seen };
}

describe("drill", () => {
  // One of the two kinds of drills for each commit: the other one is machine.test.ts.
  if (isInSample(2, 1))
    test(
      "SM-5 UC-8(d) AG-3(c) PR-3(d) SP-2(a) kills everybody, agents too, for a few seconds, and nothing is lost, doubled or left behind; the user's own home is not touched",
      async () => {
        const home = emptyHome();
        const args = ["drill", "--terminals", "4", "--seconds", "5", "--seed", "1", "--json"];
        const { code, out } = await cli(args, { HOLDFAST_HOME: home, TMPDIR: place });
        const found = JSON.parse(out);
        expect({ ...found, code }).toMatchObject({ seed: 1, lost: 0, doubled: 0, orphans: 0, violations: [], code: 0 });
        expect(found.kills).toBeGreaterThan(4);
        expect(found.lines).toBeGreaterThan(50);
        expect(found.workflows.runs).toBeGreaterThanOrEqual(3); // One of each mode at least.
        expect(found.workflows.effects).toBeGreaterThanOrEqual(4 * found.workflows.runs);
        expect(found.agents).toMatchObject({ agents: 3 });
        expect(found.agents.messages).toBeGreaterThan(5);
        expect(found.agents.prompts).toBeGreaterThan(0);
        expect(found.killed.map(({ what }: { what: string }) => what)).toContain("agent");
        expect(found.liveMs.median).toBeGreaterThan(0);
        expect(found.safeModeMs).toBeLessThan(5000);
        expect([...readdirSync(home), ...readdirSync(place), ...processesIn(place)]).toEqual([]);
      },
      DRILL_MS,
    );

  test(
    "aborted in sampled ways and moments, it ends everything at once and returns the shell's exit code for that signal",
    async () => {
      const ways = [
        { at: "opening", how: "^C", code: [130] },
        { at: "opening", how: "SIGTERM", code: [143] },
        { at: "killing at random", how: "^C", code: [130] },
        { at: "live again after", how: "^C ^C", code: [130] },
        { at: "live again after", how: "SIGHUP", code: [129] },
        { at: "three crashes in a row", how: "^C", code: [130] },
        // A process that still writes in its home during removal does not change the exit code, and is outlasted.
        { at: "live again after", how: "^C", code: [130], before: startLateWriter },
        // Here it may be finished before it gets the signal.
        { at: "comparing the state", how: "^C", code: [130, 0] },
        { at: "ending everything", how: "^C", code: [130, 0] },
      ] as const;
      for (const { at, how, code, ...more } of sampleOf(ways, ways.length)) {
        const { exit, seen } = await brokenOff(at, how, "before" in more ? more.before : undefined);
        expect({ at, how, seen, right: code.some((one) => one === exit) ? "right" : exit }).toMatchObject({
          right: "right",
        });
        expect({ at, how, left: [...readdirSync(place), ...processesIn(place)] }).toEqual({ at, how, left: [] });
      }
    },
    2 * DRILL_MS,
  );

  test("a number of terminals that makes no sense is refused", async () => {
    rejects(await cli(["drill", "--terminals", "0"]), 2, "from 1 to 500");
  });
});
