// `holdfast backup` of a busy home, and what a restored home does. `full` writes more backups, with more kills.
import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/base/ids.ts";
import { dial } from "../../src/home/dial.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { killIfThere } from "../daemon/home.ts";
import { ours } from "../ours.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { rejects } from "./expect.ts";
import { endAll, Home } from "./terminal-home.ts";

const shelf = mkdtempSync("/tmp/hfb-");
afterAll(async () => {
  await endAll();
  rmSync(shelf, { recursive: true });
}, 180_000);

/** Asks whether it may do something, and waits. */
const ASKS = `#!/bin/sh
while read -r line; do case "$line" in
*'"prompt"'*) echo '{"type":"ask","request":"r1","tool":"Bash","input":{"command":"x"}}' ;;
esac; done
`;
const ITEMS = Array.from({ length: 200 }, (_, at) => at + 1);
const MAP = [
  "name: numbers",
  "mode: mapreduce",
  "map:",
  "  input: numbers.json",
  "  max_parallel: 2",
  "  agent_template:",
  "    - {id: say, shell: 'echo ${item} >> ran'}",
  "",
].join("\n");

/** A place for a home that is to be restored: nothing is there. */
function place(): Home {
  const home = new Home();
  rmSync(home.path, { recursive: true });
  return home;
}

/** Sends messages to an agent, one after the other, and remembers which were acknowledged. */
class Sender {
  readonly acked: string[] = [];
  #isOver = false;
  readonly #done: Promise<void>;

  constructor(home: Home, agent: string) {
    this.#done = this.#send(home, agent);
  }

  async #send(home: Home, agent: string): Promise<void> {
    for (let number = 1; !this.#isOver; ) {
      const line = await dial({ disk: realDisk(), sockets: realSockets(), clock: realClock() }, home.path);
      const client = line.ok ? line.value : undefined;
      for (; client !== undefined && !this.#isOver; number += 1) {
        const [text, message] = [`message ${number}.`, newId(realRandom().bytes(16))];
        const sent = await client.call("agent.send", { id: agent, message, text });
        if (!sent.ok) break;
        this.acked.push(text);
        await Bun.sleep(2); // A load, not a flood: the inbox of an agent is limited.
      }
      client?.close();
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }
}

type Made = { readonly file: string; readonly acked: readonly string[]; readonly seq: number };

/** What the log of a home says, read from the disk. */
const logOf = async (home: Home) => (await home.started("log", "show", "--json")).out;

async function busyHome() {
  const home = new Home();
  writeFileSync(join(home.path, "asks.sh"), ASKS);
  chmodSync(join(home.path, "asks.sh"), 0o755);
  writeFileSync(join(home.path, "numbers.yaml"), MAP);
  writeFileSync(join(home.path, "numbers.json"), JSON.stringify(ITEMS));
  await home.ok("new", "-d", "typing", "--", "sh", "-c", "n=0; while :; do n=$((n+1)); echo line $n; sleep 0.01; done");
  const agent = (await home.ok("agent", "new", "busy", "--provider", "scripted", "--", "cat")).trim();
  await home.ok("agent", "new", "asking", "--provider", "scripted", "--", join(home.path, "asks.sh"));
  await home.ok("agent", "send", "asking", "go");
  const prompts = () => home.json("prompts");
  await until("a prompt is open", async () => (await prompts()).length === 1, prompts);
  const run = Bun.spawn(ours("src/cli/main.ts", "run", "numbers.yaml"), {
    cwd: home.path,
    env: home.env,
    stdio: ["ignore", "ignore", "ignore"],
  });
  const ran = () => existsSync(join(home.path, "ran"));
  await until("the run has begun", ran, ran);
  return { home, agent, run };
}

test("a backup of a busy home has everything that was acknowledged before it, whoever is killed meanwhile", async () => {
  const { home, agent, run } = await busyHome();
  const sender = new Sender(home, agent);
  await until(
    "messages are acknowledged",
    () => sender.acked.length > 20,
    () => sender.acked,
  );
  const rounds = amount(3, 20);
  const files: Made[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const acked = [...sender.acked];
    const file = join(shelf, `${round}.backup`);
    const since = round === 2 ? ["--since", files[1]?.file ?? ""] : [];
    const writing = home.started("backup", file, "--json", ...since);
    if (round % 2 === 1) killIfThere((await home.status()).daemon.pid);
    const { code, out, err } = await writing;
    expect([code, err.replace(/^holdfast: .* The backup begins again\.\n$/m, "")]).toEqual([0, ""]);
    files.push({ file, acked, seq: JSON.parse(out).seq });
  }
  await sender.stop();
  for (const { file, acked, seq } of files) {
    const restored = place();
    await home.ok("backup", "restore", file, restored.path);
    const verdict = JSON.parse(await restored.ok("log", "verify", "--json"));
    expect([verdict.whole, verdict.findings, verdict.wal.end]).toEqual([true, [], seq]);
    const log = await logOf(restored);
    expect(acked.filter((text) => !log.includes(`"${text}"`))).toEqual([]);
    expect(log).toContain('"tool":"Bash"');
    rmSync(restored.path, { recursive: true });
  }
  const [last] = files.slice(-1);
  if (last === undefined) throw new Error("there is a backup");
  await copyWaits(home, last);
  run.kill();
  await replacementGoesOn(home, last.file);
}, 600_000);

/** Beside its original, which goes on. */
async function copyWaits(home: Home, { file, seq }: Made): Promise<void> {
  const copy = place();
  await home.ok("backup", "restore", file, copy.path);
  expect((statSync(copy.path).mode & 0o777).toString(8)).toBe("700");
  await copy.ok("up");
  expect((await copy.status()).safeMode.reason).toBe(
    `it is a restored copy of ${home.path}: what was running waits for you`,
  );
  expect(await copy.listed("typing")).toMatchObject({ state: "uncertain" });
  expect((await home.listed("typing")).state).toBe("running");
  const begun = (await logOf(copy)).split("\n").filter((line) => Number(/"seq":(\d+)/.exec(line)?.[1] ?? 0) > seq);
  expect(begun.filter((line) => /process\.starting|terminal\.restor/.test(line))).toEqual([]);
  const due = begun.flatMap(
    (line) => /"session":"(state\/[^"]*)".*attempt\.started.*"attempt":"\w+\.(\d+)"/.exec(line) ?? [],
  );
  for (let at = 0; at < due.length; at += 3)
    expect(existsSync(join(copy.path, due[at + 1] ?? "", "attempts", due[at + 2] ?? "", "claim.json"))).toBe(false);
  expect(begun.length).toBeGreaterThan(0);
  expect((await copy.ok("recovery", "report")).split("\n")[0]).toContain("machine crash");
  const identity = (of: Home) => JSON.parse(readFileSync(join(of.path, "recovery/home.json"), "utf8")).id;
  expect(identity(copy)).not.toBe(identity(home));
  expect(await copy.run("up", "--replace-original")).toMatchObject({
    code: 75,
    err: expect.stringContaining("Holdfast is running"),
  });
  await copy.ok("down", "--kill");
  expect(await copy.run("up", "--replace-original")).toMatchObject({
    code: 1,
    err: expect.stringContaining("was started since"),
  });
  await copy.end();
}

/** The original is gone; what it had done when it was backed up is not done again. */
async function replacementGoesOn(home: Home, file: string): Promise<void> {
  const [replacement, gone] = [place(), `${home.path}-gone`];
  await home.ok("backup", "restore", file, replacement.path);
  rejects(await replacement.run("up", "--replace-original"), 1, `is a copy of ${home.path}, which is still there`);
  await home.ok("down", "--kill");
  renameSync(home.path, gone);
  const attempts = JSON.parse((await replacement.started("logs", "numbers", "--json")).out);
  const done: number[] = attempts
    .filter(({ code }: { code: number | null }) => code === 0)
    .map(({ item }: { item: number }) => item);
  expect(done.length).toBeGreaterThan(0);
  await replacement.ok("up", "--replace-original");
  expect((await replacement.status()).safeMode.active).toBe(false);
  const log = () => logOf(replacement);
  await until("the run went on", async () => (await log()).includes("workflow.attempt.started"), log);
  const typing = () => replacement.listed("typing");
  await until("the terminal is back", async () => (await typing()).state === "running", typing);
  const ran = readFileSync(join(gone, "ran"), "utf8").split("\n").map(Number);
  expect(done.filter((item) => ran.filter((one) => one === item).length !== 1)).toEqual([]);
  await replacement.end();
  rmSync(gone, { recursive: true });
}

test("what cannot be done is refused with the next step, and nothing is left of it", async () => {
  const home = new Home();
  const [file, dir] = [join(shelf, "one"), place()];
  rejects(await home.run("backup", join(home.path, "x")), 1, "is in the home itself");
  rejects(await home.run("backup", "/no/such/x"), 1, "There is no directory /no/such.");
  await home.ok("up");
  await home.ok("down");
  await home.ok("backup", file); // Without a daemon: none is started.
  expect((await home.status()).daemon.pid).toBe(null);
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  rejects(await home.run("backup", file), 1, `${file} exists.`);
  await home.ok("backup", file, "--force");
  rejects(await home.run("backup", `${file}2`, "--encrypt"), 2, "there is no terminal to ask for it");
  rejects(await home.run("backup", "restore", file, home.path), 1, `${home.path} is not empty.`);
  writeFileSync(`${file}.words`, "one two three four\n");
  const words = ["--passphrase-file", `${file}.words`];
  await home.ok("backup", `${file}2`, "--encrypt", ...words);
  await home.ok("backup", "verify", `${file}2`, ...words);
  writeFileSync(`${file}.words`, "one two three five\n");
  rejects(await home.run("backup", "verify", `${file}2`, ...words), 1, `This passphrase does not open ${file}2.`);
  writeFileSync(`${file}2`, readFileSync(file).fill(0, 300, 301));
  rejects(await home.run("backup", "restore", `${file}2`, dir.path), 1, `${file}2 is not whole`);
  expect([existsSync(dir.path), existsSync(`${dir.path}.restoring`)]).toEqual([false, false]);
  const left = readdirSync(shelf).filter((name) => name.startsWith("one"));
  expect(left.sort()).toEqual(["one", "one.words", "one2"]);
});
