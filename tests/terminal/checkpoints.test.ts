// Checkpoints of a real daemon with real terminals, and of a real writer that is killed.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSessions } from "../../src/core/terminal/checkpoint.ts";
import { CheckpointReader } from "../../src/daemon/terminal/checkpoint-reader.ts";
import { readSpec, terminalFiles } from "../../src/home/held/holder-files.ts";
import { HolderClient } from "../../src/wire/holder/client.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { type DaemonHome, daemonHomes } from "../daemon/home.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";

const newHome = daemonHomes();
const scratch = mkdtempSync(join(tmpdir(), "holdfast-ckpt-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const CHECKPOINT = "recovery/checkpoint.json";
const BACKUP = "recovery/checkpoint.backup.json";

function saved(home: DaemonHome, file = CHECKPOINT) {
  if (!existsSync(home.file(file))) return undefined;
  const { timestamp: time, ...body } = JSON.parse(readFileSync(home.file(file), "utf8"));
  return { time, ...readSessions(body) };
}

/** With an interval of a second instead of a minute. */
function quick(home: DaemonHome): Record<string, string> {
  const path = home.file("config.toml");
  writeFileSync(path, "[checkpoint]\ninterval_ms = 1000\n");
  return { HOLDFAST_CONFIG: path };
}

test("CS-4(a) TC-1(b) SIGTERM writes a last checkpoint: directory, foreground command, filtered environment, no secret", async () => {
  const home = newHome();
  mkdirSync(home.file("sub"));
  const daemon = await home.live();
  const wish = home.wish("one", ["sh", "-mc", "cd sub; sleep 1000; :"]);
  const env = { ...wish.env, EDITOR: "vi", API_TOKEN: "s3cret" };
  const { id } = await home.must("terminal.new", { ...wish, env });
  const { pid } = await home.is(id, "running");
  await until(
    "sleep runs",
    () => readdirSync("/proc").some((other) => isChild(other, pid)),
    () => readdirSync("/proc"),
  );
  expect(await home.stop(daemon)).toBe(0);
  const found = saved(home);
  expect(found?.errors).toEqual([]);
  expect(found?.sessions).toMatchObject([
    {
      terminalId: id,
      name: "one",
      laneId: "default",
      workingDirectory: home.file("sub"),
      shellCommand: "sh -mc 'cd sub; sleep 1000; :'",
      size: { cols: 80, rows: 24 },
      generation: 1,
      policy: "auto",
      foreground: { argv: ["sleep", "1000"], cwd: home.file("sub") },
    },
  ]);
  expect(found?.sessions[0]?.environmentVariables).toEqual({ PATH: wish.env["PATH"] ?? "", EDITOR: "vi" });
  expect(readFileSync(home.file(CHECKPOINT), "utf8")).not.toContain("s3cret");
  expect(Date.parse(found?.sessions[0]?.foreground?.startedAt ?? "")).toBeGreaterThan(Date.now() - 60_000);
});

function isChild(pid: string, parent: number): boolean {
  try {
    const line = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/stat`, "latin1") : "";
    return line.slice(line.lastIndexOf(")") + 2).split(" ")[1] === String(parent) && line.includes("(sleep)");
  } catch (error) {
    if (error instanceof Error) return false; // It has ended in the meantime.
    throw error;
  }
}

test("CS-1(b) TC-8(a) a change is saved an interval later, an ended terminal is left out, and the previous one is the backup", async () => {
  const home = newHome();
  await home.live(quick(home));
  const id = await home.open("one", ["sleep", "1000"]);
  const other = await home.open("two", ["sleep", "1000"]);
  await until(
    "both are saved",
    () => saved(home)?.sessions.length === 2,
    () => saved(home)?.sessions.length,
  );
  await home.must("terminal.move", { id, lane: "side" });
  await home.must("terminal.signal", { id: other, signal: "SIGKILL" });
  await until(
    "the lane is saved",
    () => saved(home)?.sessions[0]?.laneId === "side" && saved(home)?.sessions.length === 1,
    () => [saved(home)?.sessions[0]?.laneId, saved(home)?.sessions.length],
  );
  expect(saved(home, BACKUP)?.errors).toEqual([]);
});

test("CS-2(a) more than 50 inputs into a real terminal trigger a checkpoint within seconds, not a minute later", async () => {
  const home = newHome();
  await home.live(); // The interval is the usual minute.
  const id = await home.open("one", ["cat"]);
  await home.is(id, "running");
  const spec = readSpec(terminalFiles(realDisk(), home.path, id));
  if (spec === undefined) throw new Error("there is no holder.json");
  const line = new HolderClient((events) => realSockets().connect(spec.socket, events), {
    token: spec.token,
    writer: "ann",
  });
  expect((await line.connect()).ok).toBe(true);
  const type = async (times: number) => {
    for (let time = 0; time < times; time += 1) expect((await line.input(Buffer.from("x"))).ok).toBe(true);
  };
  await type(1); // The first look at a terminal counts nothing, so it must have been seen before.
  const began = performance.now();
  await until(
    "a checkpoint",
    async () => {
      await type(10);
      return saved(home)?.sessions.length === 1;
    },
    () => saved(home),
  );
  expect(performance.now() - began).toBeLessThan(30_000);
  line.close();
});

test("TC-8(c) both checkpoints overwritten with garbage: the daemon is live, reports the loss, and the terminal keeps running", async () => {
  const home = newHome();
  const first = await home.live();
  const id = await home.open("one", ["sleep", "1000"]);
  const before = await home.is(id, "running");
  await home.stop(first);
  const second = await home.live();
  await home.stop(second);
  for (const file of [CHECKPOINT, BACKUP]) writeFileSync(home.file(file), `garbage in ${file}`);
  const third = await home.live();
  expect((await home.listed(id)).state).toEqual(before);
  const { items } = await home.report();
  expect(items.find(({ what }) => what === "checkpoint")).toMatchObject({ fate: "could not" });
  expect(items.find(({ what }) => what === "terminal")).toMatchObject({ fate: "back as it was" });
  const aside = readdirSync(home.file("quarantine")).filter((name) => !name.endsWith(".note.json"));
  expect(aside.map((name) => home.text(`quarantine/${name}`)).sort()).toEqual(
    [BACKUP, CHECKPOINT].map((file) => `garbage in ${file}`),
  );
  await home.stop(third);
  expect(saved(home)?.sessions.map(({ name }) => name)).toEqual(["one"]);
});

test("TC-6(c) a newer version's checkpoint is reported and left alone; the daemon works without it", async () => {
  const home = newHome();
  const newer = '{"kind":"terminals","version":99,"body":{}}\n';
  writeFileSync(home.file(CHECKPOINT), newer);
  const daemon = await home.live(quick(home));
  await home.open("one", ["sleep", "1000"]);
  await until(
    "the daemon reports it",
    () => daemon.said().includes("no checkpoint was written: checkpoint.json has version 99"),
    () => daemon.said(),
  );
  expect((await home.report()).items).toMatchObject([{ what: "checkpoint", fate: "needs you" }]);
  expect(await home.stop(daemon)).toBe(0);
  expect(home.text(CHECKPOINT)).toBe(newer);
});

test("SM-3(d) in safe mode no checkpoint is written, not even at the end", async () => {
  const home = newHome();
  const daemon = await home.live({ ...quick(home), HOLDFAST_SAFE_MODE: "a test" });
  await home.open("one", ["sleep", "1000"]);
  expect(await home.stop(daemon)).toBe(0);
  expect(existsSync(home.file(CHECKPOINT))).toBe(false);
});

test("TC-4 a writer killed with SIGKILL again and again always leaves a whole checkpoint, no older than the last acknowledged one", async () => {
  const home = join(scratch, "killed");
  mkdirSync(join(home, "recovery"), { recursive: true });
  let promised = 0;
  for (let kill = 0; kill < 12; kill += 1) {
    const child = Bun.spawn(ours("tests/terminal/checkpoint-loop.ts", home, String(promised + 1)), { stdout: "pipe" });
    let out = "";
    const reader = child.stdout.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      out += decoder.decode(value);
      if (out.split("\n").length > 3 + (kill % 4)) child.kill("SIGKILL");
    }
    await child.exited;
    promised = Number(out.trimEnd().split("\n").at(-1));
    const said: string[] = [];
    const place = { disk: realDisk(), clock: realClock(), home };
    const found = await new CheckpointReader(place, { maxAgeMs: 86_400_000 }, (words) => void said.push(words)).read();
    expect(said).toEqual([]);
    expect([promised, promised + 1]).toContain(Number(found?.sessions[0]?.name.slice(1)));
    promised += 1;
  }
});
