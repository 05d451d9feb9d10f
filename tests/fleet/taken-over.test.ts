// A home as another host gets it from the database: its logs, tapes and checkpoints, and no claim or exit. Real
// processes and commands. Both hosts have the same boot id, as containers on one machine have.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTaken, writeTaken } from "../../src/home/fleet-files.ts";
import { forgetBoot } from "../../src/home/last-life.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { powerCut, Rebooting } from "../cli/power-cut.ts";
import { endAll, type Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";

afterEach(endAll, 180_000);

/** What only its holders have written. */
const OF_HOLDERS = /(?:^|\/)(?:(?:claim|exit|holder)(?:-\d+)?\.json|\d{4}\.journal)$/;

async function takeOver(home: Home): Promise<void> {
  await powerCut(home);
  for (const name of readdirSync(home.path, { recursive: true, encoding: "utf8" }))
    if (OF_HOLDERS.test(name)) rmSync(join(home.path, name));
  const place = { disk: realDisk(), home: home.path };
  await forgetBoot(place);
  await writeTaken(place, { from: "atlas", at: new Date(0).toISOString(), seq: 9, epoch: 3 });
}

function effects(home: Home, name: string): string[] {
  return readFileSync(join(home.path, name), "utf8").split("\n").filter(Boolean);
}

const step = (name: string, more = "") =>
  `name: ${name}\nsteps:\n  - shell: echo ${name} >> ${name}-ran; [ -e go ] || sleep 1000\n    cwd: .\n${more}`;

test("a home that was taken over from another host: what ran there is uncertain, and the report names the host", async () => {
  const home = new Rebooting();
  mkdirSync(join(home.path, "away"));
  for (const name of ["once", "again", "left"]) writeFileSync(join(home.path, `${name}-ran`), "");
  writeFileSync(join(home.path, "once.yml"), step("once"));
  writeFileSync(join(home.path, "again.yml"), step("again", "    idempotent: true\n"));
  writeFileSync(join(home.path, "away/left.yml"), step("left").replace("left-ran", "../left-ran"));
  await home.ok("new", "-d", "shell", "--", "sh");
  for (const name of ["once", "again"]) expect((await home.at("", {}, "run", `${name}.yml`, "-d")).code).toBe(0);
  expect((await home.at("away", {}, "run", "left.yml", "-d")).code).toBe(0);
  for (const name of ["once", "again", "left"])
    await until(
      `${name} ran`,
      () => effects(home, name.concat("-ran")).length === 1,
      () => effects(home, `${name}-ran`),
    );
  expect(await home.listed("shell")).toMatchObject({ state: "running", generation: 1 });

  await takeOver(home);
  rmSync(join(home.path, "away"), { recursive: true });
  expect(await home.ok("up")).toContain("LIVE");
  await until(
    "the idempotent step runs again",
    () => effects(home, "again-ran").length === 2,
    () => effects(home, "again-ran"),
  );
  expect(await home.listed("shell")).toMatchObject({ state: "running", generation: 2 });
  await home.says("shell", "holdfast: taken over from atlas, where its program may still run; started again");
  const report = await home.json("recovery", "report");
  expect(report).toMatchObject({ cause: "taken over", from: "atlas" });
  const text = await home.ok("recovery", "report");
  expect(text).toContain(": taken over from atlas, live after ");
  expect(text).toMatch(/restarted +terminal shell +taken over from atlas, where its program may still run; its shell/);
  expect(text).toMatch(/needs you +workflow once +step 1 of 1 \(\S+\) is uncertain: taken over from atlas, where/);
  expect(text).toMatch(/back as it was +workflow again +it continues at step 1 of 1/);
  expect(text).toMatch(
    /needs you +workflow left +taken over from atlas.*; its directory \S+\/away is not on this host/,
  );
  const status = await home.run("status");
  expect(status.out).toContain("state      LIVE, taken over from atlas\n");
  expect(status.out).not.toContain("was not started");
  expect(readTaken({ disk: realDisk(), home: home.path })).toBeUndefined();

  const runs: { name: string; state: string; id: string }[] = await home.json("workflows");
  const stateOf = (name: string) => runs.find((run) => run.name === name)?.state;
  expect([stateOf("once"), stateOf("again"), stateOf("left")]).toEqual(["uncertain", "running", "interrupted"]);
  await powerCut(home);
  home.boot = 2;
  await home.ok("up");
  expect(await home.json("recovery", "report")).toMatchObject({ cause: "machine crash" });
  expect(effects(home, "once-ran")).toEqual(["once"]); // Whatever else happens, until a person agrees.
  writeFileSync(join(home.path, "go"), "");
  await home.ok("resume", runs.find(({ name }) => name === "once")?.id.slice(0, 8) ?? "", "--rerun");
  expect(effects(home, "once-ran")).toEqual(["once", "once"]);
});
