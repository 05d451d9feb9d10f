// The machine goes down: every process of a home is killed at once, and the next daemon runs in another boot.
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isInSample } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { type DaemonHome, daemonHomes, killIfThere, processes } from "./home.ts";
import { boot, isBack, powerCut, tapeText } from "./power-cut.ts";

const newHome = daemonHomes();
const SHELL = ["bash", "--norc", "--noprofile"];
const MARK = "holdfast: the machine went down; started again ";
const SESSION = "0f7a2f8e-1111-4222-8333-444455556666";

/** Prints its pid and its arguments, and waits. */
function program(home: DaemonHome, name: string): string {
  mkdirSync(home.file("bin"), { recursive: true });
  writeFileSync(home.file(`bin/${name}`), `#!/bin/sh\necho "$0 $*" >> ${home.file(`${name}-ran`)}\nexec sleep 1000\n`);
  chmodSync(home.file(`bin/${name}`), 0o755);
  return home.file(`bin/${name}`);
}

/** The looks that no checkpoint has yet; empty if there is none. */
function sightings(home: DaemonHome): string {
  const path = home.file("recovery/sightings.json");
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

test("after a machine crash twelve terminals are back: same ids, same tapes, and a line that says what happened", async () => {
  const home = newHome();
  await home.live(boot(1));
  const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => home.open(`t${n}`, SHELL)));
  const before = await Promise.all(ids.map((id) => home.is(id, "running")));
  await until(
    "all have a prompt",
    () => ids.every((id) => tapeText(home, id).includes("bash-")),
    () => ids,
  );
  await until(
    "a look at each of them is on disk",
    () => ids.every((id) => sightings(home).includes(id)),
    () => sightings(home),
  );
  await powerCut(home);
  const begun = performance.now();
  const status = await home.isLive(home.start(boot(2)));
  console.log(`machine crash → 12 terminals back: ${(performance.now() - begun).toFixed(0)} ms`);
  expect(status.recovery.progress).toEqual({ done: 12, total: 12 });
  const { cause, items } = await home.report();
  expect(cause).toBe("machine crash");
  expect(items.map(({ fate }) => fate)).toEqual(ids.map(() => "restarted"));
  expect(items[0]?.reason).toMatch(
    /^the machine went down; its shell; in \/\S+; last output \d+\.\d s before the crash, of which the last second may be missing; its directory and program are known as of (?:[\d.]+ s before )?its last output$/,
  );
  for (const [at, id] of ids.entries()) {
    const { state, generation } = await home.listed(id);
    expect({ kind: state.kind, generation }).toEqual({ kind: "running", generation: 2 });
    expect(state).not.toEqual(before[at]);
    const [old = "", said = ""] = tapeText(home, id).split(MARK);
    expect(old).toContain("bash-");
    expect(said).toContain("its shell");
    expect(existsSync(home.file(`terminals/${id}/claim-1.json`))).toBe(true);
    expect(existsSync(home.file(`terminals/${id}/holder-1.json`))).toBe(true);
    expect(home.claim(id)?.generation).toBe(2);
  }
});

if (isInSample(2))
  test("a program that the machine killed a moment before its holder comes back; one that ended by itself stays ended", async () => {
    const home = newHome();
    const first = await home.live(boot(1));
    const killed = await home.open("killed", SHELL);
    const asked = await home.open("asked", ["sh", "-c", "read line; exit 3"]);
    const { pid } = await home.is(killed, "running");
    const { pid: other } = await home.is(asked, "running");
    await home.kill(first);
    killIfThere(pid);
    await until(
      "its end is on disk",
      () => existsSync(home.file(`terminals/${killed}/exit.json`)),
      () =>
        `${home.file(`terminals/${killed}/exit.json`)} exists: ${existsSync(home.file(`terminals/${killed}/exit.json`))}`,
    );
    process.kill(other, "SIGUSR1"); // Nothing that a machine sends to all.
    await until(
      "its end is on disk too",
      () => existsSync(home.file(`terminals/${asked}/exit.json`)),
      () =>
        `${home.file(`terminals/${asked}/exit.json`)} exists: ${existsSync(home.file(`terminals/${asked}/exit.json`))}`,
    );
    await powerCut(home);
    await home.live(boot(2));
    expect(await home.listed(killed)).toMatchObject({ generation: 2, state: { kind: "running" } });
    expect(await home.listed(asked)).toMatchObject({ generation: 1, state: { kind: "ended", signal: "SIGUSR1" } });
  });

if (isInSample(2, 1))
  test("a command that cannot be resumed comes back as its shell, with the old command prepared and not run", async () => {
    const home = newHome();
    await home.live(boot(1));
    const id = await home.open("make", ["sh", "-c", "echo x >> ran; exec sleep 1000"]);
    await until(
      "it ran",
      () => home.text("ran") === "x\n",
      () => home.text("ran"),
    );
    await powerCut(home);
    await home.live(boot(2));
    await until(
      "the command is at the prompt",
      () => (tapeText(home, id).split(MARK)[1] ?? "").endsWith("sh -c 'echo x >> ran; exec sleep 1000'"),
      () => tapeText(home, id).split(MARK)[1] ?? "",
    );
    expect(home.text("ran")).toBe("x\n");
    expect((await home.report()).items).toMatchObject([
      {
        id,
        fate: "restarted",
        reason: expect.stringMatching(/sh -c 'echo x.* is typed at the prompt; press Enter to run it/),
      },
    ]);
  });

test("an agent continues its conversation, with its original options; one that had not begun starts it", async () => {
  const home = newHome();
  const claude = program(home, "claude");
  mkdirSync(home.file(`.claude/projects/${home.path.replace(/[^A-Za-z0-9]/g, "-")}`), { recursive: true });
  await home.live(boot(1));
  const env = { PATH: "/usr/bin:/bin", HOME: home.path };
  const words = [claude, "--session-id", SESSION, "--permission-mode", "plan", "fix it"];
  const { id } = await home.must("terminal.new", { ...home.wish("agent", words), env });
  const ran = () => home.text("claude-ran").trim().split("\n");
  await until(
    "it ran",
    () => home.text("claude-ran") !== "",
    () => home.text("claude-ran"),
  );
  await home.is(id, "running");
  await powerCut(home);
  const first = await home.live(boot(2));
  await until(
    "it began again",
    () => ran().length === 2,
    () => ran().length,
  );
  expect(ran()[1]).toBe(`${claude} --session-id ${SESSION} --permission-mode plan`);
  writeFileSync(home.file(`.claude/projects/${home.path.replace(/[^A-Za-z0-9]/g, "-")}/${SESSION}.jsonl`), "{}\n");
  await home.kill(first);
  await powerCut(home);
  await home.live(boot(3));
  await until(
    "it went on",
    () => ran().length === 3,
    () => ran().length,
  );
  expect(ran()[2]).toBe(`${claude} --resume ${SESSION} --permission-mode plan`);
  expect((await home.listed(id)).generation).toBe(3);
});

if (isInSample(2))
  test("a conversation that one terminal continues is not given to another that may have had it", async () => {
    const home = newHome();
    const claude = program(home, "claude");
    await home.live(boot(1));
    const env = { PATH: "/usr/bin:/bin", HOME: home.path };
    for (const [name, words] of Object.entries({ named: ["--session-id", SESSION], unnamed: ["--continue"] })) {
      const { id } = await home.must("terminal.new", { ...home.wish(name, [claude, ...words]), env });
      await home.is(id, "running");
    }
    const conversations = `.claude/projects/${home.path.replace(/[^A-Za-z0-9]/g, "-")}`;
    mkdirSync(home.file(conversations), { recursive: true });
    writeFileSync(home.file(`${conversations}/${SESSION}.jsonl`), "{}\n");
    await powerCut(home);
    await home.live(boot(2));
    const { items } = await home.report();
    const told = Object.fromEntries(items.map(({ name, reason }) => [name, reason]));
    expect(told["named"]).toContain(`continues with: ${claude} --resume ${SESSION}`);
    expect(told["unnamed"]).toContain(`${claude} --continue is typed at the prompt; press Enter to run it`);
  });

test("policies: ask waits for a person, never stays down; `restore` starts either, and keeps its state", async () => {
  const home = newHome();
  await home.live(boot(1));
  const made = await Promise.all(
    (["auto", "ask", "never"] as const).map((policy) =>
      home.must("terminal.new", { ...home.wish(policy, SHELL), policy }),
    ),
  );
  const [auto = "", ask = "", never = ""] = made.map(({ id }) => id);
  for (const id of [auto, ask, never]) await home.is(id, "running");
  await until(
    "all have a prompt",
    () => made.every(({ id }) => tapeText(home, id).includes("bash-")),
    () => made,
  );
  await powerCut(home);
  const daemon = await home.live(boot(2));
  await home.is(auto, "running");
  for (const id of [ask, never]) await home.is(id, "uncertain");
  const { items } = await home.report();
  expect(items.find(({ id }) => id === ask)).toMatchObject({
    fate: "needs you",
    reason: expect.stringMatching(/^the machine went down; its policy is ask; last output \d+\.\d s before the crash/),
    next: "holdfast restore ask",
  });
  expect(items.find(({ id }) => id === never)).toMatchObject({ fate: "needs you" });
  await home.must("terminal.restore", { id: ask, way: "plan" });
  await home.is(ask, "running");
  await home.must("terminal.policy", { id: ask, policy: "auto" });
  const again = await home.ask("terminal.restore", { id: ask, way: "plan" });
  expect(again).toMatchObject({ ok: false, error: { code: "still-running" } });
  await home.kill(daemon);
  await home.live(boot(2));
  expect(await home.listed(ask)).toMatchObject({ policy: "auto", generation: 2, state: { kind: "running" } });
  expect(await home.listed(never)).toMatchObject({ policy: "never", generation: 1, state: { kind: "uncertain" } });
});

if (isInSample(2, 1))
  test("a missing directory: the nearest existing one is used, and its command is not run elsewhere", async () => {
    const home = newHome();
    const tail = program(home, "tail");
    mkdirSync(home.file("work/tree/deep"), { recursive: true });
    await home.live(boot(1));
    const wish = { ...home.wish("deep", [tail, "-f", "log"]), cwd: home.file("work/tree/deep") };
    const { id } = await home.must("terminal.new", wish);
    await home.is(id, "running");
    await until(
      "it ran",
      () => home.text("tail-ran") !== "",
      () => home.text("tail-ran"),
    );
    await powerCut(home);
    rmSync(home.file("work/tree"), { recursive: true });
    await home.live(boot(2));
    const { restored } = await home.listed(id);
    expect(restored).toMatchObject({ cwd: home.file("work"), typed: `${tail} -f log` });
    const gone = `${home.file("work/tree/deep")} is gone: started in ${home.file("work")}`;
    expect(restored?.notes).toContain(gone);
    await until(
      "the tape shows the line",
      () => tapeText(home, id).includes(gone),
      () => tapeText(home, id),
    );
    expect(home.text("tail-ran").trim().split("\n").length).toBe(1);
  });

test("RS-4(a) a crash in the middle of restoring: started terminals are adopted, the rest follows, each started once", async () => {
  const home = newHome();
  await home.live(boot(1));
  const ids = await Promise.all(Array.from({ length: 9 }, (_, n) => home.open(`t${n}`, SHELL)));
  for (const id of ids) await home.is(id, "running");
  await powerCut(home);
  const claimed = () => ids.filter((id) => home.claim(id)?.generation === 2);
  for (const few of [1, 4]) {
    const daemon = home.start(boot(2));
    await until(
      `${few} are claimed`,
      () => claimed().length >= few,
      () => claimed().length,
    );
    await home.kill(daemon);
  }
  const early = new Map(claimed().map((id) => [id, home.claim(id)?.pid]));
  await home.live(boot(2));
  for (const id of ids) {
    const { holder } = await home.is(id, "running");
    expect((await home.listed(id)).generation).toBe(2);
    if (early.has(id)) expect(holder).toBe(early.get(id) ?? 0);
  }
  const { items } = await home.report();
  expect(items.filter(({ what }) => what === "terminal").map(({ fate }) => fate)).toEqual(ids.map(() => "restarted"));
});

if (isInSample(2))
  test("a reboot in the middle of a recovery is another machine crash, and starts the next generation", async () => {
    const home = newHome();
    await home.live(boot(1));
    const ids = await Promise.all(Array.from({ length: 6 }, (_, n) => home.open(`t${n}`, SHELL)));
    for (const id of ids) await home.is(id, "running");
    await powerCut(home);
    home.start(boot(2));
    await until(
      "one is restored",
      () => ids.some((id) => home.claim(id)?.generation === 2),
      () => ids,
    );
    await powerCut(home);
    writeFileSync(
      home.file("recovery/recovery-state.json"),
      JSON.stringify({ stage: "RECONCILING", timestamp: "", attemptCount: 1, lastError: null, bootId: "boot-2" }),
    );
    await home.live(boot(3));
    expect((await home.report()).cause).toBe("machine crash");
    for (const id of ids) await isBack(home, id, 2);
  });

test("rollback ends what was started; the terminal is as it was before, and can be restored another way", async () => {
  const home = newHome();
  const tail = program(home, "tail");
  const first = await home.live(boot(1));
  const id = await home.open("t", [tail, "-F", "log"]);
  await until(
    "it ran",
    () => home.text("tail-ran") !== "",
    () => home.text("tail-ran"),
  );
  await home.kill(first);
  await powerCut(home);
  const second = await home.live(boot(2));
  const { pid } = await isBack(home, id, 2);
  await home.must("recovery.rollback", { id });
  expect(await home.is(id, "uncertain")).toMatchObject({ reason: "rolled back; before that: the machine went down" });
  await until(
    "its program has ended",
    () => processes.startTime(pid) === undefined,
    () => processes.startTime(pid),
  );
  await until(
    "its end is on disk",
    () => home.exit(id)?.generation === 2,
    () => home.exit(id)?.generation,
  );
  await home.kill(second);
  await home.live(boot(2));
  expect(await home.listed(id)).toMatchObject({ state: { kind: "uncertain" }, recipe: { argv: [tail, "-F", "log"] } });
  await home.must("terminal.restore", { id, way: "shell" });
  await isBack(home, id, 3);
  expect((await home.listed(id)).restored).toMatchObject({ argv: ["/bin/sh"], typed: "" });
  expect(readdirSync(home.file(`terminals/${id}`))).toEqual(
    expect.arrayContaining(["claim-1.json", "claim-2.json", "exit-2.json", "claim.json"]),
  );
  await home.must("recovery.accept", { id });
  expect(await home.ask("recovery.rollback", { id })).toMatchObject({ ok: false, error: { code: "accepted" } });
});

if (isInSample(2, 1))
  test("a holder killed while the daemon lives: its terminal is back at once, and its remaining processes are stopped", async () => {
    const home = newHome();
    await home.live();
    const id = await home.open("t", ["sh", "-c", "setsid sleep 1000 & exec bash --norc"]);
    const { holder } = await home.is(id, "running");
    const sleepers = () => home.ours().filter((pid) => home.commandOf(pid).startsWith("sleep\0"));
    await until(
      "its sleeper is there",
      () => sleepers().length === 1,
      () => sleepers().length,
    );
    killIfThere(holder);
    await isBack(home, id, 2);
    expect(sleepers()).toEqual([]);
    await until(
      "it was reported",
      async () => (await home.report()).cause === "holder crash",
      async () => (await home.report()).cause,
    );
    expect((await home.report()).items).toMatchObject([{ id, fate: "restarted" }]);
  });

if (isInSample(2, 1))
  test("a terminal that is lost over and over is left for a person to decide", async () => {
    const home = newHome();
    await home.live();
    const id = await home.open("t", SHELL);
    for (const generation of [1, 2, 3, 4]) {
      await isBack(home, id, generation);
      killIfThere((await home.is(id, "running")).holder);
    }
    await home.is(id, "uncertain");
    expect((await home.listed(id)).generation).toBe(4);
    const reason = "its process was lost; exit status unknown; it was started again 3 times within a minute";
    await until(
      "it was reported",
      async () => (await home.report()).items[0]?.reason.startsWith(reason),
      async () => (await home.report()).items[0]?.reason,
    );
  });

if (isInSample(2))
  test("what the system stopped on its way down comes back; what a person ended does not", async () => {
    const home = newHome();
    await home.live(boot(1));
    const [stopped, ended] = [await home.open("stopped", SHELL), await home.open("ended", SHELL)];
    const { holder } = await home.is(stopped, "running");
    await home.is(ended, "running");
    await home.must("terminal.signal", { id: ended, signal: "SIGKILL" });
    await home.is(ended, "ended");
    process.kill(holder, "SIGTERM");
    expect(await home.is(stopped, "ended")).toMatchObject({ stoppedIn: "boot-1" });
    await powerCut(home);
    await home.live(boot(2));
    await isBack(home, stopped, 2);
    expect((await home.listed(ended)).state.kind).toBe("ended");
    const { items } = await home.report();
    expect(items).toMatchObject([
      { id: stopped, reason: expect.stringContaining("stopped when the machine went down") },
    ]);
  });
