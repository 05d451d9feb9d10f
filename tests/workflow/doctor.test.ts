// What `holdfast doctor` reports about workflows, on real homes.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { unified } from "./old-layouts.ts";

afterAll(endAll);

type Check = { name: string; status: string; what: string; why: string | null; next: string | null };

async function ofWorkflows(home: Home, ...flags: readonly string[]): Promise<Check[]> {
  const { checks } = JSON.parse((await home.run("doctor", "--json", ...flags)).out);
  return (checks as Check[]).filter(({ name }) => name === "workflows");
}

test("doctor reports resumable runs, unusable checkpoints, lost steps, runs without a log and attempts missing from the log", async () => {
  const home = new Home();
  const file = (name: string) => join(home.path, name);
  const text = (name: string) => readFileSync(file(name), { encoding: "utf8", flag: "a+" });
  writeFileSync(file("a.yml"), "steps:\n  - shell: exit 1\n");
  writeFileSync(file("b.yml"), "steps:\n  - id: long\n    shell: echo $PPID > holder; sleep 1000\n");
  await home.run("run", "a.yml");
  expect(await ofWorkflows(home)).toMatchObject([{ status: "ok", what: "1 run, 1 of them unfinished" }]);
  const lost = (await home.ok("run", "-d", "b.yml")).trim();
  await until(
    "it runs",
    () => text("holder").trim() !== "",
    () => text("holder").trim(),
  );
  const sessions = `state/${readdirSync(file("state"))[0]}/sessions`;
  const [failed] = readdirSync(file(sessions)).filter((id) => id !== lost);
  await until(
    "its start is in its log",
    () => text(`${sessions}/${lost}/events.jsonl`).includes("attempt.running"),
    () => text(`${sessions}/${lost}/events.jsonl`),
  );
  await home.ok("down");
  process.kill(Number(text("holder")), "SIGKILL");
  writeFileSync(file(`${sessions}/${failed}/checkpoint.json`), "{");
  mkdirSync(file(`${sessions}/${failed}/attempts/7`), { mode: 0o700 });
  utimesSync(file(`${sessions}/${failed}/attempts/7`), 1_000_000_000, 1_000_000_000);
  mkdirSync(file(`${sessions}/session-ccc`), { mode: 0o700 });
  writeFileSync(file(`${sessions}/session-ccc/checkpoint.json`), JSON.stringify(unified("BeforeStep")), {
    mode: 0o600,
  });
  const before = readdirSync(file("state"), { recursive: true }).sort();
  // The step has just begun, and is judged once that phase is over.
  let found: Check[] = [];
  await until(
    "the step counts as lost",
    async () => {
      found = await ofWorkflows(home, "--fix");
      return found.some(({ what }) => what.startsWith("1 step lost: long of b"));
    },
    () => found,
  );
  expect(found.map(({ status, what }) => [status, what.replace(/\(.*|: state.*|: \/.*/, "…")])).toEqual([
    ["warning", "the checkpoint of 1 run cannot be used: a …"],
    ["warning", "1 step lost: long of b …"],
    ["warning", "1 run without a log…"],
    ["warning", "1 attempt that no log knows…"],
  ]);
  expect(found.map(({ next }) => next?.split(":")[0])).toContain("holdfast migrate --dry-run");
  expect(readdirSync(file("state"), { recursive: true }).sort()).toEqual(before); // --fix changes none of it.
  const { checks } = JSON.parse((await home.run("doctor", "--json", "--deep")).out);
  const deep = (checks as Check[]).find(({ name }) => name === "checkpoints");
  expect(deep?.what).toContain("cannot be used");
  await home.ok("up");
  await until(
    "it is uncertain",
    async () => (await ofWorkflows(home)).some(({ what }) => what.startsWith("1 run waits for you: b")),
    async () => await ofWorkflows(home),
  );
});

test("DW3 doctor raises no alarm beside a busy run, whose attempts begin while it looks", async () => {
  const home = new Home();
  const steps = Array.from({ length: 400 }, () => "  - shell: 'true'\n").join("");
  writeFileSync(join(home.path, "busy.yml"), `steps:\n${steps}`);
  await home.ok("run", "-d", "busy.yml");
  const found: string[] = [];
  let looks = 0;
  for (let isBusy = true; isBusy && looks < 8; looks += isBusy ? 1 : 0) {
    const all = await ofWorkflows(home);
    found.push(...all.filter(({ status }) => status !== "ok").map(({ what }) => what));
    isBusy = all[0]?.what.includes("1 run, 1 of them unfinished") === true;
  }
  expect(found).toEqual([]);
  expect(looks).toBeGreaterThan(0); // Otherwise it was over before we looked.
});
