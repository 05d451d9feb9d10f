// Failures that people reported for other programs, each as a test: what the daemon finds broken, missing or racing.
import { expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { TapeReader } from "../../src/log/tape/reader.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realWorld } from "../../src/world/world.ts";
import { BUN } from "../ours.ts";
import { rewriteLast } from "../poison.ts";
import { isInSample } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { type DaemonHome, daemonHomes, killIfThere, processes, readProc } from "./home.ts";

const newHome = daemonHomes();
const SLEEP = ["sleep", "1000"];

/** The newest file of the write-ahead log. */
function walOf(home: DaemonHome): string {
  const names = readdirSync(home.file("wal")).filter((name) => name.endsWith(".wal"));
  return home.file(`wal/${names.sort().at(-1)}`);
}

/** A terminal that was created and for which nothing was done yet, as a daemon leaves it when it dies at once. */
async function created(home: DaemonHome, id: string, argv: readonly string[]): Promise<void> {
  const log = await EventLog.open({ ...realWorld(), home: home.path });
  const recipe = { argv, cwd: home.path, env: { PATH: "/usr/bin:/bin" }, size: { cols: 80, rows: 24 } };
  const data = { name: id.slice(0, 8), lane: "default", ...recipe, generation: 1, at: "2026-01-01T00:00:00.000Z" };
  const ticket = log.append([{ session: `terminals/${id}`, ts: data.at, event: "terminal.created", data }]);
  if (!ticket.ok) throw new Error(ticket.error.message);
  await ticket.value.durable;
  await log.close();
}

if (isInSample(2))
  test("a truncated last line, in the log and in a session's, loses nothing that was acknowledged", async () => {
    const home = newHome();
    const first = await home.live();
    const id = await home.open("one", SLEEP);
    const before = await home.is(id, "running");
    const events = home.file(`terminals/${id}/events.jsonl`);
    await until(
      "the session's log is written",
      () => existsSync(events),
      () => `${events} exists: ${existsSync(events)}`,
    );
    await home.kill(first);
    appendFileSync(events, '{"seq":99,"prev":');
    const wal = readFileSync(walOf(home));
    const end = wal.findLastIndex((byte) => byte !== 0) + 1;
    const file = openSync(walOf(home), "r+");
    writeSync(file, Buffer.from('{"half":'), 0, 8, end);
    closeSync(file);
    const second = await home.live();
    expect((await home.listed(id)).state).toEqual(before);
    await home.must("terminal.rename", { id, name: "other" }); // A second life writes after the cut.
    await home.kill(second);
    await home.live();
    expect(await home.listed(id)).toMatchObject({ name: "other", state: before });
  });

test("DS-2(a) a bad record sets one terminal aside, with its name and a next step; the others come up", async () => {
  const home = newHome();
  const first = await home.live();
  const [bad, good] = [await home.open("bad", SLEEP), await home.open("good", SLEEP)];
  await Promise.all([home.is(bad, "running"), home.is(good, "running")]);
  expect(await home.stop(first)).toBe(0);
  const path = home.file(`terminals/${bad}/events.jsonl`);
  writeFileSync(path, readFileSync(path, "utf8").replace('"boot_id"', '"boot_iD"'));
  const second = home.start();
  await home.isLive(second);
  expect((await home.listed(good)).state.kind).toBe("running");
  expect((await home.listed(bad)).state.kind).toBe("uncertain");
  const { items } = await home.report();
  expect(items.find(({ id }) => id === bad)).toMatchObject({ name: "bad", fate: "needs you" });
  expect(items.find(({ id }) => id === good)).toMatchObject({ fate: "back as it was" });
  expect(await home.ask("terminal.rename", { id: bad, name: "x" })).toMatchObject({ error: { code: "log.frozen" } });
  // Settled: the holder runs on, and keeps its arguments.
  expect(readProc(home.claim(bad)?.pid ?? 0, "cmdline")).toContain(bad); // It was left alone.
});

test("PB2 a terminal whose log does not fold can be removed: its program ends, and it stays removed", async () => {
  const home = newHome();
  const first = await home.live();
  const [bad, good] = [await home.open("bad", SLEEP), await home.open("good", SLEEP)];
  const { pid } = await home.is(bad, "running");
  await home.is(good, "running");
  expect(await home.stop(first)).toBe(0);
  rewriteLast(home.file(`terminals/${bad}/events.jsonl`), "terminal.renamed", "{}");
  const second = await home.live();
  expect((await home.listed(bad)).state.kind).toBe("uncertain");
  const begun = processes.startTime(pid);
  expect(begun).toBeDefined();
  await home.must("terminal.remove", { id: bad });
  await until(
    "its program is gone",
    () => processes.startTime(pid) !== begun,
    () => pid,
  );
  await home.kill(second);
  await home.live();
  expect((await home.must("terminal.list", {})).map(({ name }) => name)).toEqual(["good"]);
  expect((await home.report()).items.map(({ id, fate }) => [id, fate])).toEqual([[good, "back as it was"]]);
});

if (isInSample(2, 1))
  test("a holder's socket deleted while the daemon was down is found again", async () => {
    const home = newHome();
    const first = await home.live();
    const id = await home.open("one", SLEEP);
    const before = await home.is(id, "running");
    await home.kill(first);
    unlinkSync(home.file(`run/${id.slice(0, 16)}.sock`));
    await home.live();
    expect((await home.listed(id)).state).toEqual(before);
    expect((await home.report()).items).toMatchObject([{ id, fate: "back as it was" }]);
    process.kill(before.pid, "SIGKILL");
    expect(await home.is(id, "ended")).toMatchObject({ signal: "SIGKILL" });
  });

test("a stopped holder delays neither recovery nor the list, and is reached again once it continues", async () => {
  const home = newHome();
  const first = await home.live();
  const [stopped, other] = [await home.open("stopped", SLEEP), await home.open("other", SLEEP)];
  const { holder, pid } = await home.is(stopped, "running");
  await home.is(other, "running");
  await home.kill(first);
  process.kill(holder, "SIGSTOP");
  await home.live();
  const { items } = await home.report();
  expect(items.find(({ id }) => id === stopped)).toMatchObject({ fate: "needs you" });
  expect(items.find(({ id }) => id === other)).toMatchObject({ fate: "back as it was" });
  expect((await home.listed(stopped)).state.kind).toBe("running");
  process.kill(holder, "SIGCONT");
  process.kill(pid, "SIGKILL");
  expect(await home.is(stopped, "ended")).toMatchObject({ signal: "SIGKILL" });
});

if (isInSample(2))
  test("programs replaced while they run: the daemon continues, and still starts terminals of its own version", async () => {
    const home = newHome();
    const root = mkdtempSync(join(tmpdir(), "hfdm-"));
    try {
      cpSync(join(ROOT, "src"), join(root, "src"), { recursive: true });
      symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
      const daemon = home.start({}, root);
      await home.isLive(daemon);
      await until(
        "the holder's program is made",
        () =>
          existsSync(home.file("run/bin")) && readdirSync(home.file("run/bin")).some((name) => name.endsWith(".js")),
        () => [
          `${home.file("run/bin")} exists: ${existsSync(home.file("run/bin"))}`,
          readdirSync(home.file("run/bin")),
        ],
      );
      const before = await home.is(await home.open("before", SLEEP), "running");
      rmSync(join(root, "src"), { recursive: true });
      mkdirSync(join(root, "src/holder"), { recursive: true });
      writeFileSync(join(root, "src/holder/main.ts"), "process.exit(3);");
      await home.is(await home.open("after", SLEEP), "running");
      await home.kill(daemon);
      await home.live(); // The new version, which adopts.
      const pids = (await home.must("terminal.list", {})).map(({ state }) => state.kind === "running" && state.pid);
      expect(pids).toContain(before.pid);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });

if (isInSample(2, 1))
  test("DS-4(a) a stop that races a start, at four moments: the next start is live and complete", async () => {
    const home = newHome();
    const first = await home.live();
    const id = await home.open("one", SLEEP);
    const before = await home.is(id, "running");
    await home.kill(first);
    const [socket, state, marker] = ["run/daemon.sock", "recovery/recovery-state.json", "recovery/clean-shutdown.json"];
    const facts: readonly ((pid: number, stateBefore: string) => boolean)[] = [
      () => true,
      (pid) => home.text("run/daemon.lock").includes(`"pid":${pid},`),
      () => existsSync(home.file(socket)),
      (_, stateBefore) => home.text(state) !== stateBefore,
    ];
    for (const fact of facts) {
      // Files of the previous daemon would prove nothing.
      for (const left of [socket, marker]) rmSync(home.file(left), { force: true });
      const stateBefore = home.text(state);
      const racing = home.start();
      await until(
        "the fact",
        () => fact(racing.process.pid, stateBefore),
        () => fact(racing.process.pid, stateBefore),
      );
      const code = await home.stop(racing);
      expect([0, 143]).toContain(code); // 143: before its signal handler was installed.
      expect(existsSync(home.file(marker)) && code === 143).toBe(false);
    }
    await home.live();
    expect((await home.listed(id)).state).toEqual(before);
  });

test("a start that was cancelled but not recorded is made by the next daemon, and a late holder starts nothing", async () => {
  const home = newHome();
  const id = "0123456789abcdef0123456789abcdef";
  await created(home, id, ["touch", "started"]);
  const claim = { v: 1, generation: 1, by: "cancel", pid: 1, startTime: 1, bootId: "b", at: "" };
  const directory = home.file(`terminals/${id}`);
  writeFileSync(join(directory, "claim.json"), JSON.stringify(claim));
  const spec = { v: 1, id, generation: 1, mode: "pty", argv: ["touch", "started"], cwd: home.path, env: {} };
  const rest = {
    size: { cols: 80, rows: 24 },
    token: "t",
    socket: home.file("run/s"),
    tape: { segmentBytes: 4096, maxBytes: 65536 },
  };
  writeFileSync(join(directory, "holder.json"), JSON.stringify({ ...spec, ...rest }));
  await home.live();
  expect(await home.is(id, "ended")).toMatchObject({ code: 0, signal: null });
  rmSync(home.file("started"));
  expect(await Bun.spawn([BUN, join(ROOT, "src/holder/main.ts"), directory]).exited).toBe(0);
  expect(existsSync(home.file("started"))).toBe(false);
});

test("an unreadable claim is still a claim: its command is never run again, only prepared", async () => {
  const home = newHome();
  const id = "0123456789abcdef0123456789abcdef";
  await created(home, id, ["touch", "started"]);
  writeFileSync(home.file(`terminals/${id}/claim.json`), "");
  await home.live();
  await home.is(id, "running");
  expect((await home.report()).items).toMatchObject([{ id, fate: "restarted" }]);
  expect((await home.listed(id)).restored).toMatchObject({ argv: ["/bin/sh"], typed: "touch started" });
  expect(home.text(`terminals/${id}/claim-1.json`)).toBe("");
  expect(home.claim(id)?.generation).toBe(2);
  expect(existsSync(home.file("started"))).toBe(false);
});

test.each(["up", "down"])(
  "a holder killed between the child's end and exit.json, the daemon %s: its shell comes back, and its command is not run again",
  async (daemonIs) => {
    const home = newHome();
    const first = await home.live();
    const id = await home.open("one", ["sh", "-c", "echo x >> ran; exec sleep 1000"]);
    const { pid, holder } = await home.is(id, "running");
    await until(
      "it ran",
      () => home.text("ran") !== "",
      () => home.text("ran"),
    );
    mkdirSync(home.file(`terminals/${id}/exit.json.${holder}.tmp`)); // Its exit cannot be written for now.
    if (daemonIs === "down") await home.kill(first);
    process.kill(pid, "SIGKILL");
    await until(
      "the child has been waited for",
      () => readProc(pid, "stat") === "",
      () => readProc(pid, "stat"),
    );
    process.kill(holder, "SIGKILL");
    await until(
      "the holder is gone",
      () => processes.startTime(holder) === undefined,
      () => processes.startTime(holder),
    );
    if (daemonIs === "down") await home.live();
    const { restored } = await until(
      "it was restored",
      async () => {
        const terminal = await home.listed(id);
        return terminal.generation === 2 && terminal.state.kind === "running" ? terminal : undefined;
      },
      () => home.listed(id),
    );
    expect(restored).toMatchObject({ argv: ["/bin/sh"], reason: "its process was lost; exit status unknown" });
    expect(restored?.typed).toBe("sh -c 'echo x >> ran; exec sleep 1000'");
    expect(home.text("ran")).toBe("x\n");
  },
);

if (isInSample(2, 1))
  test("100 orphans at start are found and stopped; an unrelated process is not", async () => {
    const home = newHome();
    const first = await home.live();
    const script = "i=0; while [ $i -lt 100 ]; do setsid sleep 1000 & i=$((i+1)); done; wait";
    const id = await home.open("many", ["sh", "-c", script]);
    const { holder, pid: shell } = await home.is(id, "running");
    const sleepers = () => home.ours().filter((pid) => home.commandOf(pid).startsWith("sleep\0"));
    await until(
      "a hundred programs sleep",
      () => sleepers().length === 100,
      () => sleepers().length,
    );
    const stranger = Bun.spawn(SLEEP, { env: { HOLDFAST_TERMINAL: "of another home" } });
    await home.kill(first);
    killIfThere(holder);
    // The shell, which gets a hangup from its terminal, is not one of the hundred.
    await until(
      "both are gone",
      () => [holder, shell].every((who) => processes.startTime(who) === undefined),
      () => [holder, shell],
    );
    expect(sleepers().length).toBe(100);
    await home.live();
    expect(sleepers()).toEqual([]);
    expect(stranger.exitCode).toBeNull();
    stranger.kill("SIGKILL");
    const { items } = await home.report();
    expect(items.filter(({ what }) => what === "process").length).toBe(100);
    expect(items.filter(({ what }) => what === "terminal")).toMatchObject([{ id, fate: "restarted" }]);
  });

test("NUL bytes and split characters are on the tape unchanged, across the daemon's death", async () => {
  const home = newHome();
  const first = await home.live();
  const script = "stty -opost; printf 'a\\000b\\303'; until [ -e go ]; do sleep 0.01; done; printf '\\244\\377\\000'";
  const id = await home.open("bytes", ["sh", "-c", script]);
  await until(
    "the first half",
    async () => (await home.listed(id)).bytes >= 4,
    async () => (await home.listed(id)).bytes,
  );
  await home.kill(first);
  writeFileSync(home.file("go"), "");
  await until(
    "the end",
    () => home.exit(id) !== undefined,
    () => home.exit(id),
  );
  await home.live();
  expect((await home.listed(id)).state).toMatchObject({ kind: "ended", code: 0 });
  const tape = new TapeReader(realDisk(), home.file(`terminals/${id}/tape`)).read(0, 100);
  expect(tape.kind === "bytes" && Buffer.from(tape.bytes).toString("latin1")).toBe("a\0b\xc3\xa4\xff\0");
});

if (isInSample(2))
  test("a program killed for memory is killed before us, and takes nothing down with it", async () => {
    const home = newHome();
    const daemon = await home.live();
    const [greedy, other] = [await home.open("greedy", SLEEP), await home.open("other", SLEEP)];
    const { pid, holder } = await home.is(greedy, "running");
    const before = await home.is(other, "running");
    const score = (who: number) => Number(readProc(who, "oom_score_adj"));
    expect(score(pid)).toBeGreaterThan(score(holder));
    expect(score(pid)).toBeGreaterThan(score(daemon.process.pid));
    process.kill(pid, "SIGKILL"); // As the system does it.
    expect(await home.is(greedy, "ended")).toMatchObject({ code: null, signal: "SIGKILL" });
    expect((await home.listed(other)).state).toEqual(before);
    await home.isLive(daemon);
  });
