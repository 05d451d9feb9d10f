// `holdfast migrate` as a user types it, and with a daemon that is killed while it works.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";
import { daemonHomes } from "../daemon/home.ts";
import { until } from "../until.ts";
import { checkpointFile, jobState, MAPPING, sessionState, THREE } from "./old-layouts.ts";

afterAll(endAll);
const newHome = daemonHomes();
const MINUTE = 60_000;

function write(path: string, value: unknown): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
}

test(
  "UC-7(c) UC-10(a,c,d) AC10 a migrated run is listed as resumable, and resume continues at the right step with its values",
  async () => {
    const home = new Home();
    const file = (name: string) => join(home.path, name);
    const flow = write(file("flow.yml"), THREE);
    const original = write(file("old/sessions/session-aaa.json"), sessionState({ metadata: { workflow_path: flow } }));
    write(
      file("old/state/session-bbb/checkpoints/x.checkpoint.json"),
      checkpointFile({ workflow_path: flow }, { status: "Running" }),
    );
    write(file("old/state/w/mapreduce/jobs/mapreduce-123/job.json"), jobState({ config: {} }));
    write(file("old/sessions/damaged.json"), "{");
    const before = { text: readFileSync(original, "utf8"), at: statSync(original).mtimeMs };
    const dry = await home.run("migrate", "old", "--dry-run");
    expect(dry.code).toBe(1);
    expect(dry.out).toContain("session-aaa (release): would be migrated");
    expect(dry.err).toContain("2 runs would be migrated. The originals are unchanged.");
    expect(await home.json("workflows")).toEqual([]);
    const done = await home.run("migrate", "old");
    expect(done.code).toBe(1);
    expect(done.out).toMatch(
      /damaged: COULD NOT be migrated: The file is not JSON: .*\n.*damaged\.json\n {2}→ It was left as it is\./,
    );
    expect(done.out).toMatch(
      /mapreduce-123: COULD NOT be migrated: .* does not say which workflow file .*\n.*\n {2}→ Name the file: --workflow FILE/,
    );
    expect(done.out).toMatch(
      /session-aaa \(release\): migrated as [0-9a-f]{8}: it continues at step 3 of 3\n.*\n {2}→ holdfast resume [0-9a-f]{8}/,
    );
    const map = write(file("map.yml"), MAPPING);
    const { migrated, items } = JSON.parse((await home.run("migrate", "old", "--workflow", map, "--json")).out);
    expect(migrated).toBe(1);
    type Item = { old: string; run: string; fate: string };
    const run = (old: string) => (items as Item[]).find((item) => item.old === old)?.run ?? "";
    const rows: { id: string; state: string; step: number }[] = await home.json("workflows");
    expect(rows.map(({ id, state, step }) => [id, state, step]).sort()).toEqual(
      [
        [run("session-aaa"), "failed", 3],
        [run("session-bbb"), "interrupted", 3],
        [run("mapreduce-123"), "interrupted", 1],
      ].sort(),
    );
    expect((await home.run("resume", run("session-aaa"))).code).toBe(0);
    expect(readFileSync(file("effects"), "utf8")).toBe("three ann v1\n"); // Steps one and two are not run again.
    const asked = await home.run("resume", run("session-bbb"));
    expect(asked.code).toBe(3);
    expect(asked.err).toContain("may have been running");
    expect((await home.run("resume", run("session-bbb"), "--rerun")).code).toBe(0);
    expect((await home.run("resume", run("mapreduce-123"), "--done")).code).toBe(1); // An item had failed before.
    expect(readFileSync(file("effects"), "utf8")).toBe("three ann v1\nthree bob v2\nitem 5\nsum 4 1\n");
    await home.ok("down");
    const again = await home.run("migrate", "old", "--workflow", map);
    expect(again.err).toContain("0 runs migrated.");
    expect({ text: readFileSync(original, "utf8"), at: statSync(original).mtimeMs }).toEqual(before);
    expect((await home.run("migrate", "nowhere")).code).toBe(4);
    expect((await home.run("migrate", ".", "--dry-run")).code).toBe(1);
  },
  2 * MINUTE,
);

test(
  "UC-10(b) kill -9 of the daemon in the middle of a migration: the next one completes it, and every item exists once",
  async () => {
    const home = newHome();
    const flow = write(home.file("map.yml"), MAPPING);
    const items = Array.from({ length: 20_000 }, (_, at) => `${at} ${"x".repeat(100)}`);
    const pending = items.slice(4).map((_, at) => `item_${at + 4}`);
    const wish = { directory: home.file("old"), workflows: [], env: {}, dryRun: false };
    write(
      home.file("old/mapreduce/jobs/big/job.json"),
      jobState({ config: { workflow_path: flow }, work_items: items, pending_items: pending }),
    );
    let cut = 0;
    for (let kill = 0; kill < 4; kill += 1) {
      const daemon = await home.live();
      const asking = home.ask("workflow.migrate", wish).catch(() => undefined); // The daemon is killed under it.
      const there = () => home.runs().some((id) => existsSync(home.file(`state/old/sessions/${id}/events.jsonl`)));
      for (let looks = 0; looks < 20 * kill && !there(); looks += 1) await new Promise(setImmediate);
      await home.kill(daemon);
      if ((await asking)?.ok !== true) cut += 1;
    }
    expect(cut).toBeGreaterThan(0);
    await home.live();
    const report = await home.must("workflow.migrate", wish);
    expect(report.items.map(({ fate }) => ["migrated", "before"].includes(fate))).toEqual([true]);
    const [listed] = await home.must("workflow.list", {});
    expect(listed?.items).toEqual({
      total: 20_000,
      active: 1,
      succeeded: 2,
      failed: 1,
      complete: true,
      mayFail: false,
    });
    expect((await home.must("workflow.migrate", wish)).migrated).toBe(0);
    expect(await home.must("workflow.list", {})).toHaveLength(1);
  },
  2 * MINUTE,
);

test("SM-3(g) UC-10(b) what safe mode kept from being migrated is migrated when the operator leaves it", async () => {
  const home = newHome();
  const flow = write(home.file("flow.yml"), THREE);
  write(home.file("state/old/sessions/session-aaa.json"), sessionState({ metadata: { workflow_path: flow } }));
  await home.live({ HOLDFAST_SAFE_MODE: "a test" });
  expect(await home.must("workflow.list", {})).toEqual([]);
  await home.must("safe-mode.exit", {});
  const listed = () => home.must("workflow.list", {});
  await until("it is migrated", async () => (await listed()).length === 1, listed);
});

test(
  "UC-10(a,b) Prodigy's own directories are found, and resume with the id of an old session takes it over and goes on",
  async () => {
    const home = new Home();
    const file = (name: string) => join(home.path, name);
    const flow = write(file("flow.yml"), THREE);
    write(file(".prodigy/sessions/session-aaa.json"), sessionState({ metadata: { workflow_path: flow } }));
    write(
      file(".prodigy/sessions/session-other.json"),
      sessionState({ id: "session-other", metadata: { workflow_path: flow } }),
    );
    write(
      file("elsewhere/state/session-bbb/checkpoints/x.checkpoint.json"),
      checkpointFile({ workflow_path: flow }, { status: "Running" }),
    );
    const resumed = await home.at(".", { PRODIGY_HOME: "elsewhere" }, "resume", "session-aaa", "--json");
    expect([resumed.code, JSON.parse(resumed.out).state]).toEqual([0, "done"]);
    expect(await home.json("workflows")).toHaveLength(1); // Only what was asked for.
    const again = await home.run("resume", "session-aaa");
    expect(again.err).toContain("release"); // It is known by its old id, and done.
    const all = JSON.parse((await home.at(".", { PRODIGY_HOME: "elsewhere" }, "migrate", "--json")).out);
    const fates = all.items.map(({ old, fate }: { old: string; fate: string }) => `${old} ${fate}`).sort();
    expect(fates).toEqual(["session-aaa before", "session-bbb migrated", "session-other migrated"]);
    const unknown = await home.run("resume", "session-none");
    expect([unknown.code, unknown.err]).toEqual([4, expect.stringContaining('There is no run "session-none"')]);
  },
  MINUTE,
);
