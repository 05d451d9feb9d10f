// Another version takes the place of an installed one, while everything runs.
import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SCRIPT } from "../golden/agents.ts";
import { HOLDFAST } from "../golden/opened.ts";
import type { Product } from "../golden/product.ts";
import { until } from "../until.ts";
import { binary, installed, programOf, removeAll, VERSION_OF } from "./made.ts";
import { openTerminal, Typist } from "./typist.ts";

/** All of it is a part of the proof; a sample is in the gate. */
const [TERMINALS, CHANGES] = process.env["HOLDFAST_FUZZ"] === "full" ? [25, 20] : [3, 2];

const FLOW = `name: counting
steps:
  - id: count
    shell: for n in $(seq 1 100000); do echo $n; [ -e "$STOP" ] && break; sleep 0.02; done
    env: { STOP: "@STOP@" }
  - id: after
    shell: echo counted
`;

beforeAll(() => {
  for (const variant of ["one", "two", "broken"] as const) binary(variant);
}, 300_000);
afterEach(removeAll, 180_000);

/** What must be the same before and after. */
async function running(place: Product) {
  const terminals = await place.json("ls");
  const [prompt] = await place.json("prompts");
  return {
    terminals: terminals.map(({ id, pid, state }: { id: string; pid: number; state: string }) => ({ id, pid, state })),
    prompt: prompt.id,
  };
}

async function isLive(place: Product, version: string): Promise<void> {
  const { version: found, recovery, safeMode } = await place.json("status");
  expect([found, recovery.stage, safeMode.active]).toEqual([version, "LIVE", false]);
}

function files(place: Product): string[] {
  return readdirSync(join(place.root, "bin")).toSorted();
}

function recordOf(place: Product): string {
  return join(place.home, "recovery/upgrade.json");
}

test(`${CHANGES} up- and downgrades under ${TERMINALS} typing terminals, a run and an open prompt lose nothing`, async () => {
  const place = installed("one");
  const stop = join(place.root, "stop");
  const flow = join(place.root, "flow.yaml");
  writeFileSync(flow, FLOW.replace("@STOP@", stop));
  const names = Array.from({ length: TERMINALS }, (_, at) => `t${at}`);
  for (const name of names) await openTerminal(place, name);
  await place.ok(["agent", "new", "asking", "--provider", "scripted", ...SCRIPT]);
  await place.ok(["agent", "ask", "asking", "ASK me"], [3]);
  const run = await place.json("run", flow, "--detach");
  const typists = names.map((name) => new Typist(place, [programOf(place.root)], name));
  const before = await running(place);
  const [watchdog, daemon, web] = await programs(place);
  for (let change = 1; change <= CHANGES; change += 1) {
    const up = change % 2 === 1;
    const words = up ? ["upgrade", binary("two")] : ["upgrade", "--rollback"];
    const done = await place.json(...words);
    expect(done).toMatchObject({ state: "live", version: VERSION_OF[up ? "two" : "one"] });
    await isLive(place, VERSION_OF[up ? "two" : "one"]);
  }
  expect(await running(place)).toEqual(before);
  expect((await programs(place)).filter((pid) => [watchdog, daemon, web].includes(pid))).toEqual([]);
  for (const typist of typists) expect(await typist.stop()).toBeGreaterThan(1);
  writeFileSync(stop, "");
  await place.shows("counted", "logs", run.id);
  const [prompt] = await place.json("prompts");
  await place.ok(["answer", prompt.id, "allow"]);
  await place.shows("Removed.", "agent", "log", "asking");
  expect([files(place), existsSync(recordOf(place))]).toEqual([["holdfast", "holdfast.previous"], false]);
}, 1_800_000);

async function programs(place: Product): Promise<number[]> {
  const { watchdog, daemon, web } = await place.json("status");
  return [watchdog.pid, daemon.pid, web.pid];
}

describe("a new version that does not work", () => {
  test("is taken back by the command, and what ran runs on", async () => {
    const place = installed("one");
    await openTerminal(place, "t");
    const typist = new Typist(place, [programOf(place.root)], "t");
    const { code, err } = await place.run("upgrade", binary("broken"), "--json");
    expect([code, JSON.parse(err).code]).toEqual([1, "upgrade-failed"]);
    await isLive(place, VERSION_OF.one);
    expect(await typist.stop()).toBeGreaterThan(1);
    expect([files(place), existsSync(recordOf(place))]).toEqual([["holdfast"], false]);
  }, 180_000);

  test("is taken back by itself if the command was killed", async () => {
    const place = installed("one");
    await place.ok(["up"]);
    await killedWhileInstalled(place, "broken");
    await isTakenBack(place);
  }, 180_000);

  test("is taken back by the next start if the power went", async () => {
    const place = installed("one");
    await place.ok(["up"]);
    await killedWhileInstalled(place, "broken");
    await place.powerCut();
    await place.with({ HOLDFAST_BOOT_ID: "the-next" }).run("up"); // It fails, or finds the version before.
    await isTakenBack(place);
  }, 180_000);
});

async function isTakenBack(place: Product): Promise<void> {
  const isBack = () => Bun.spawnSync([programOf(place.root), "--version"]).stdout.toString() === `${VERSION_OF.one}\n`;
  await until("the version before has its name again", isBack, () => files(place));
  await until(
    "it has finished",
    () => !existsSync(recordOf(place)),
    () => files(place),
  );
  await isLive(place, VERSION_OF.one);
  expect(files(place)).toEqual(["holdfast"]);
}

test("if the power goes before a working version is known to work, the next start finishes the upgrade", async () => {
  const place = installed("one");
  await openTerminal(place, "t");
  await killedWhileInstalled(place, "two");
  await place.powerCut();
  const next = place.with({ HOLDFAST_BOOT_ID: "the-next" });
  await next.ok(["up"]);
  await until(
    "it has finished",
    () => !existsSync(recordOf(place)),
    () => files(place),
  );
  await isLive(next, VERSION_OF.two);
  expect(files(place)).toEqual(["holdfast", "holdfast.previous"]);
  expect((await next.json("ls")).map(({ state }: { state: string }) => state)).toEqual(["running"]);
  expect(await next.json("upgrade", "--rollback")).toMatchObject({ state: "live", version: VERSION_OF.one });
}, 180_000);

/** Upgrades, and kills that as soon as the new version has the name. */
async function killedWhileInstalled(place: Product, variant: "two" | "broken"): Promise<void> {
  const words = [programOf(place.root), "upgrade", binary(variant)];
  const child = Bun.spawn(words, { cwd: "/", env: { ...place.env }, stdio: ["ignore", "ignore", "ignore"] });
  const isInstalled = () =>
    existsSync(`${programOf(place.root)}.replaced`) && !existsSync(`${programOf(place.root)}.next`);
  await until("the new version is installed", isInstalled, () => files(place));
  child.kill("SIGKILL");
  await child.exited;
  expect(existsSync(recordOf(place))).toBe(true);
}

describe("refused, and nothing is changed", () => {
  const about = {
    name: "holdfast",
    version: "8.0.0",
    platform: "linux-x64",
    formats: { terminals: 99, agent: 99, workflow: 99, rpc: 99 },
  };

  /** A file that says this when it is asked what it is. */
  function saying(place: Product, line: string): readonly string[] {
    const file = join(place.root, `new-${Bun.hash(line)}`);
    writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' '${line}'\n`, { mode: 0o755 });
    return [file, "--sha256", new Bun.CryptoHasher("sha256").update(readFileSync(file)).digest("hex")];
  }

  test("without the right digest, another program, another machine's, or one that cannot read our formats", async () => {
    const place = installed("one");
    const plain = join(place.root, "plain");
    copyFileSync("/bin/true", plain);
    const wrong = ["--sha256", "0".repeat(64)];
    const cases: [string, readonly string[]][] = [
      ["usage", []],
      ["usage", [plain, "--rollback"]],
      ["usage", [plain, "--sha256", "xyz"]],
      ["digest", [plain]],
      ["digest", [plain, ...wrong]],
      ["not-holdfast", saying(place, "hello")],
      ["platform", saying(place, JSON.stringify({ ...about, platform: "linux-riscv" }))],
      ["formats", saying(place, JSON.stringify({ ...about, formats: { ...about.formats, terminals: 1 } }))],
      ["unknown", ["--rollback"]],
    ];
    for (const [code, words] of cases) {
      const { err } = await place.run("upgrade", ...words, "--json");
      expect([words, JSON.parse(err).code]).toEqual([words, code]);
    }
    expect([files(place), existsSync(place.home)]).toEqual([["holdfast"], false]);
  });

  test("from the sources it names the other way", async () => {
    const { err, code } = await installed("one").by(HOLDFAST).run("upgrade", "/bin/true");
    expect([code, err]).toEqual([1, expect.stringContaining("git pull")]);
  });
});
