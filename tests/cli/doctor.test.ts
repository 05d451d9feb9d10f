// `holdfast doctor` on healthy and broken homes. Repairs are made on a real disk.
import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { SafeMode } from "../../src/home/safe-mode.ts";
import { writeWanted } from "../../src/home/wanted.ts";
import { encodeEnvelope } from "../../src/log/checkpoint/envelope.ts";
import { realWorld } from "../../src/world/world.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";
import { A, cli, closedHome, emptyHome, harm, pretendDaemon, removeHomes } from "./homes.ts";
import { endAll, Home } from "./terminal-home.ts";

afterAll(async () => {
  await endAll();
  removeHomes();
});

type Check = { name: string; status: string; what: string; why: string | null; next: string | null };
type Answer = { code: number; checks: Check[]; fixed: string[] };

async function doctor(home: string, ...flags: readonly string[]): Promise<Answer> {
  return answer(await cli(["doctor", "--home", home, "--json", ...flags]));
}

function answer({ code, out, err }: { code: number; out: string; err: string }): Answer {
  expect(err).toBe("");
  return { code, ...JSON.parse(out) };
}

function named({ checks }: Answer, name: string): Check | undefined {
  return checks.find((check) => check.name === name);
}

/** Everything below a directory, with permissions, size and modification time. */
function picture(directory: string): string[] {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  return ["", ...paths].map((path) => {
    const { mode, size, mtimeMs } = statSync(join(directory, path));
    return `${path} ${mode.toString(8)} ${size} ${mtimeMs}`;
  });
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, content, { mode: 0o600 });
}

const LONG_AGO = 1_000_000_000;

test("DD1 on a home that is down it inspects, reports that all is well, and changes nothing", async () => {
  const home = await closedHome(30);
  const before = picture(home);
  for (const flags of [[], ["--deep"]]) {
    const found = await doctor(home, ...flags);
    expect(found.checks.filter(({ status }) => status === "problem")).toEqual([]);
    expect(found).toMatchObject({ code: 0, fixed: [] });
    expect(named(found, "log")?.what).toContain("every line of 3 sessions: whole");
  }
  expect(picture(home)).toEqual(before);
});

test("a missing home is reported and not created, not even with --fix", async () => {
  const home = join(emptyHome(), "none");
  const found = await doctor(home, "--fix");
  expect(found).toMatchObject({ code: 0, fixed: [] });
  expect(named(found, "home")).toMatchObject({ status: "warning", next: "holdfast up" });
  expect(existsSync(home)).toBe(false);
});

describe("storage", () => {
  test("a damaged line is reported as a problem with its location; text and exit code agree", async () => {
    const home = await closedHome(30);
    harm(join(home, A, "events.jsonl"), "hello");
    const found = await doctor(home);
    expect(found.code).toBe(1);
    expect(named(found, "log")).toMatchObject({ status: "problem", what: `2 damaged places in ${A}/events.jsonl` });
    const { code, out } = await cli(["doctor", "--home", home]);
    expect(code).toBe(1);
    expect(out).toContain("problem  log: 2 damaged places");
    expect(out).toContain("→ Take a copy of the home, then: holdfast log verify");
    expect(out).toEndWith(" warnings\n");
  });

  test("DS1 a large log is read in full only with --deep, and the answer mentions it", async () => {
    const home = await closedHome(20_000, [A]);
    harm(join(home, A, "events.jsonl"), "hello");
    expect(named(await doctor(home), "log")).toMatchObject({ status: "ok", what: expect.stringContaining("--deep") });
    expect(named(await doctor(home, "--deep"), "log")).toMatchObject({ status: "problem" });
  });

  test("an unusable checkpoint is a warning if its backup is usable, and a problem if neither is", async () => {
    const home = await closedHome(3);
    const facts = { kind: "terminals", version: 1, fold: 1, seq: 7, time: "2026-01-02T03:04:05.678Z" };
    const { bytes } = encodeEnvelope(facts, "{}");
    const primary = join(home, "recovery/checkpoint.json");
    const backup = join(home, "recovery/checkpoint.backup.json");
    write(primary, bytes);
    write(backup, bytes);
    expect(named(await doctor(home), "checkpoints")?.what).toBe("the newest (2026-01-02T03:04:05.678Z) is whole");
    write(backup, "");
    expect(named(await doctor(home), "checkpoints")).toMatchObject({ status: "warning", why: "the file is empty" });
    harm(primary, "terminals");
    expect(named(await doctor(home), "checkpoints")).toMatchObject({ status: "problem" });
    write(backup, bytes);
    expect(named(await doctor(home), "checkpoints")).toMatchObject({
      status: "warning",
      what: expect.stringContaining("the backup can"),
    });
    write(primary, bytes);
    write(join(home, A, "checkpoint.json"), "rubbish");
    expect(named(await doctor(home), "checkpoints")).toMatchObject({ status: "ok" });
    expect(named(await doctor(home, "--deep"), "checkpoints")).toMatchObject({
      status: "warning",
      what: expect.stringContaining(A),
    });
  });

  test("quarantine, small files, ballast and safe mode are reported", async () => {
    const home = await closedHome(3);
    write(join(home, "quarantine/wal-1"), "x");
    write(join(home, "quarantine/wal-1.note.json"), "{}");
    write(join(home, "recovery/recovery-state.json"), "{");
    const { disk, clock } = realWorld();
    await new SafeMode({ disk, clock, home }, () => undefined).enter("a test wants it");
    const { out } = await cli(["doctor", "--home", home]);
    expect(out).toContain("quarantine: 1 item in quarantine: wal-1\n");
    expect(out).toContain("records: recovery/recovery-state.json cannot be read\n");
    expect(out).toContain("ballast: 0 of 16777216 bytes");
    expect(out).toContain("problem  safe-mode: on\n           a test wants it\n");
  });

  test("what the last recovery left for a person to decide is a warning; a recovery that stopped is a problem", async () => {
    const home = await closedHome(3);
    const item = {
      what: "terminal",
      id: "1",
      name: "work",
      fate: "needs you",
      reason: "its holder is gone",
      next: "x",
    };
    const report = { at: "2026-01-02T03:04:05Z", cause: "daemon crash", items: [item], log: null, tookMs: 1 };
    write(join(home, "recovery/reports/2026.json"), JSON.stringify(report));
    const told = named(await doctor(home), "recovery");
    expect(told).toMatchObject({ status: "warning", why: "its holder is gone", next: "holdfast recovery report" });
    expect(told?.what).toContain("1 item for you: work");
    write(
      join(home, "recovery/recovery-state.json"),
      JSON.stringify({ stage: "INVENTORY_FAILED", lastError: "no disk" }),
    );
    const stopped = { status: "problem", why: "no disk", next: "holdfast recovery retry" };
    expect(named(await doctor(home), "recovery")).toMatchObject(stopped);
  });
});

describe("--fix", () => {
  test("DP2 permissions are repaired, symbolic links are not followed, and the user's own files are left alone", async () => {
    const home = await closedHome(3);
    const outside = join(emptyHome(), "outside");
    writeFileSync(outside, "", { mode: 0o644 });
    mkdirSync(join(home, "run"), { mode: 0o700 });
    symlinkSync(outside, join(home, "run/link"));
    writeFileSync(join(home, "theirs"), "", { mode: 0o644 });
    chmodSync(join(home, "wal"), 0o755);
    expect(named(await doctor(home), "permissions")).toMatchObject({
      status: "warning",
      next: "holdfast doctor --fix",
    });
    chmodSync(home, 0o750);
    chmodSync(join(home, A, "events.jsonl"), 0o644);
    const open = await doctor(home);
    expect(open.code).toBe(1);
    expect(named(open, "permissions")).toMatchObject({ status: "problem", what: expect.stringContaining("3 files") });
    const mended = await doctor(home, "--fix");
    expect(mended.code).toBe(0);
    expect(mended.fixed.length).toBe(3);
    expect(mended.fixed).toContain(`set ${home} to 700; it was 750`);
    const modes = ["", "wal", `${A}/events.jsonl`].map((path) => statSync(join(home, path)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o600]);
    expect([outside, join(home, "theirs")].map((path) => statSync(path).mode & 0o777)).toEqual([0o644, 0o644]);
    expect(named(mended, "permissions")?.status).toBe("ok");
  });

  test("temporary files that no process has open are removed, others stay; run/ is recreated", async () => {
    const home = await closedHome(3);
    const stale = join(home, "recovery/a.tmp");
    const held = join(home, "recovery/b.tmp");
    for (const path of [stale, held]) {
      write(path, "x");
      utimesSync(path, LONG_AGO, LONG_AGO);
    }
    const file = realWorld().disk.open(held, "write");
    expect(file.tryLock()).toBe(true);
    rmSync(join(home, "run"), { recursive: true, force: true });
    const first = await doctor(home, "--fix");
    expect(first.fixed).toEqual([`created ${join(home, "run")}`]);
    const second = await doctor(home, "--fix");
    file.close();
    expect(second.fixed).toEqual([`removed 1 temporary file from ${join(home, "recovery")}`]);
    expect([existsSync(stale), existsSync(held)]).toEqual([false, true]);
  });

  test("DK1 stale sockets are removed; one that answers stays, and is reported if it belongs to no terminal", async () => {
    emptyHome(); // The directory the command line is started in.
    const home = new Home().path; // Short, because socket paths are limited in length.
    mkdirSync(join(home, "run"), { mode: 0o700 });
    mkdirSync(join(home, "wal"), { mode: 0o700 });
    const dead = ["daemon.sock", "00112233445566aa.sock"].map((name) => join(home, "run", name));
    const alive = join(home, "run/ffeeddccbbaa0011.sock");
    const script = `for (const unix of ${JSON.stringify(dead)}) Bun.listen({ unix, socket: { data() {} } }); process.kill(process.pid, "SIGKILL")`;
    await Bun.spawn([process.execPath, "-e", script], { stdio: ["ignore", "ignore", "ignore"] }).exited;
    const server = Bun.listen({ unix: alive, socket: { data: () => undefined } });
    for (const path of [...dead, alive]) {
      chmodSync(path, 0o600);
      lutimesSync(path, LONG_AGO, LONG_AGO);
    }
    const found = await doctor(home);
    expect(named(found, "sockets")?.what).toStartWith("2 stale sockets: ");
    const mended = await doctor(home, "--fix");
    expect(mended.fixed.length).toBe(2);
    expect([...dead, alive].map((path) => existsSync(path))).toEqual([false, false, true]);
    expect(named(mended, "sockets")?.what).toBe(`1 holder without a terminal: ${alive}`);
    server.stop(true);
  });
});

describe("what runs", () => {
  test("a live home is healthy; a holder that hangs is a problem, one that is gone needs a decision", async () => {
    const home = new Home();
    await home.ok("new", "-d", "work", "--", "cat");
    const well = answer(await home.run("doctor", "--json"));
    expect(well.checks.filter(({ status }) => status !== "ok")).toEqual([]);
    expect(named(well, "holders")?.what).toBe("1 terminal, each holder answers");
    const { daemon, watchdog } = await home.status();
    expect(named(well, "locks")?.what).toContain(`watchdog pid ${watchdog.pid}, daemon pid ${daemon.pid}`);
    await home.ok("down");
    const { id } = await home.listed("work");
    const claim = JSON.parse(await Bun.file(join(home.path, "terminals", id, "claim.json")).text());
    process.kill(claim.pid, "SIGSTOP");
    const hangs = answer(await home.run("doctor", "--json"));
    process.kill(claim.pid, "SIGCONT");
    expect(hangs.code).toBe(1);
    expect(named(hangs, "holders")?.what).toBe("1 unresponsive holder of running terminals: work");
    process.kill(claim.pid, "SIGKILL");
    await until(
      "the holder is gone",
      () => !existsSync(`/proc/${claim.pid}/exe`),
      () => `${`/proc/${claim.pid}/exe`} exists: ${existsSync(`/proc/${claim.pid}/exe`)}`,
    );
    const gone = answer(await home.run("doctor", "--json"));
    expect(named(gone, "holders")).toMatchObject({
      status: "warning",
      what: "lost, and waiting for you: 1 terminal (work)",
      next: "holdfast restore work", // Not `rm`: nothing in it is lost for good.
    });
  });

  test("a home that should be up without a daemon is a problem; a daemon without a socket is another", async () => {
    const home = await closedHome(3);
    await writeWanted(realWorld().disk, home, "up");
    const nobody = { status: "problem", why: "it should be up", next: "holdfast up" };
    expect(named(await doctor(home), "locks")).toMatchObject(nobody);
    const release = pretendDaemon(home);
    const found = await doctor(home);
    expect(named(found, "locks")).toMatchObject({
      status: "problem",
      why: "the daemon would not be restarted after a crash",
    });
    expect(named(found, "sockets")).toMatchObject({ status: "problem", what: "the daemon's socket is gone" });
    await writeWanted(realWorld().disk, home, "down");
    expect(named(await doctor(home), "locks")).toMatchObject({ status: "warning", next: "holdfast down" });
    release();
  });

  test("a home whose sockets could not be bound is reported", async () => {
    const home = join(emptyHome(), "x".repeat(90));
    mkdirSync(home, { mode: 0o700 });
    expect(named(await doctor(home), "sockets")).toMatchObject({ status: "problem", why: "the system allows 107" });
  });

  test("--deep shows its progress to a waiting user", async () => {
    const home = new Home();
    await home.ok("new", "-d", "work", "--", "sh", "-c", "echo here; exec cat");
    await home.says("work", "here");
    const window = home.window(["doctor", "--deep"]);
    await window.shows("checking the log: 0 of 1 session");
    await window.shows("reading tapes: 0 of 1");
    await window.shows("all is well");
    expect(await window.exited).toBe(0);
  });
});

describe("the setup", () => {
  test("DU1 agents are found with their versions; one that hangs delays the command briefly and leaves nothing running", async () => {
    const home = await closedHome(3);
    const bin = join(emptyHome(), "bin");
    const mark = join(bin, "pid");
    const program = (name: string, script: string) => {
      write(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    };
    program("claude", "echo '2.1.0 (Claude Code)'; echo more");
    program("codex", `trap '' TERM; echo $$ > '${mark}'; while :; do sleep 1; done`);
    program("gemini", "exit 3");
    write(join(dirname(bin), "package.json"), '{ "name": "claude-code", "version": "3.0.0" }');
    const own = join(bin, "claude-home");
    write(join(own, "settings.json"), '{"hooks":{"Stop":[{"command":"s3cret"}],"\\u001b[2J":1},"env":{"T":"s3cret"}}');
    write(join(own, "projects/x"), "");
    const login = { CLAUDE_CONFIG_DIR: own, ANTHROPIC_API_KEY: "s3cret", HOME: own, OPENAI_API_KEY: "" };
    const env = { PATH: `${bin}:/usr/bin:/bin`, ...login, GEMINI_API_KEY: "", CODEX_API_KEY: "", GOOGLE_API_KEY: "" };
    // Terminates although one agent never does.
    const found = answer(await cli(["doctor", "--home", home, "--json"], env));
    const lines = found.checks.filter(({ name }) => name === "agents");
    expect(lines.map(({ status, what }) => [status, what])).toEqual([
      [
        "ok",
        `claude 2.1.0 (Claude Code), ${bin}/claude; login: ANTHROPIC_API_KEY; hooks: Stop; conversations: ${own}/projects`,
      ],
      ["ok", `codex (version unknown), ${bin}/codex; no login seen; no hooks; no conversations yet`],
      ["ok", `gemini (does not start: code 3), ${bin}/gemini; no login seen; no hooks; no conversations yet`],
      ["ok", "not on the PATH: opencode, cursor-agent"],
    ]);
    expect(JSON.stringify(found)).not.toContain("s3cret");
    const doubt = "how claude 3.0 keeps its conversations is not known (tried: 2.1.327)";
    expect(named(found, "conversations")).toMatchObject({ status: "warning", what: doubt });
    const pid = (await Bun.file(mark).text()).trim();
    await until(
      "the one that hung is gone",
      () => !existsSync(`/proc/${pid}/exe`),
      () => `${`/proc/${pid}/exe`} exists: ${existsSync(`/proc/${pid}/exe`)}`,
    );
  });

  test("mistakes in the configuration are a problem, and a clock that went backwards is a warning", async () => {
    const home = await closedHome(3);
    const config = join(emptyHome(), "config.toml");
    write(config, "daemon = 7\n");
    const tomorrow = Date.now() / 1000 + 86_400;
    utimesSync(join(home, A, "events.jsonl"), tomorrow, tomorrow);
    const found = answer(await cli(["doctor", "--home", home, "--json"], { HOLDFAST_CONFIG: config }));
    expect(found.code).toBe(1);
    expect(named(found, "configuration")).toMatchObject({ status: "problem", next: "holdfast config check" });
    expect(named(found, "clock")).toMatchObject({ status: "warning", why: expect.stringContaining("events.jsonl") });
  });
});

describe("a home that cannot be entered", () => {
  const USER = 65_534;

  /** As somebody who is not root: root may enter everything. */
  async function doctorAs(home: string) {
    const command = ours("src/cli/main.ts", "doctor", "--home", home, "--json");
    const words = ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", "--", ...command];
    const child = Bun.spawn(words, { cwd: "/", env: { PATH: "/usr/bin:/bin" }, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return answer({ code, out, err });
  }

  test.skipIf(process.getuid?.() !== 0)(
    "is diagnosed: which directory is closed, whose it is, and what to do (needs root)",
    async () => {
      const outer = mkdtempSync("/tmp/hfx-");
      chmodSync(outer, 0o755);
      const home = join(outer, "home");
      mkdirSync(home, { mode: 0o700 });
      const closed = await doctorAs(home);
      expect(closed.code).toBe(1);
      expect(named(closed, "home")).toEqual({
        ...{ name: "home", status: "problem", what: `${home} cannot be accessed` },
        why: expect.stringContaining(`${home} belongs to user 0 and has mode 700; you are `),
        next: expect.stringContaining("sudo chown -R"),
      });
      expect(named(closed, "runtime")).toBeDefined();
      chownSync(home, USER, USER);
      chmodSync(home, 0o000);
      expect(named(await doctorAs(home), "home")).toMatchObject({ status: "problem", next: `chmod 700 ${home}` });
      chmodSync(outer, 0o700);
      expect(named(await doctorAs(home), "home")?.why).toStartWith(`${outer} belongs to user 0 and has mode 700`);
      chmodSync(outer, 0o755);
      chmodSync(home, 0o700);
      expect(named(await doctorAs(home), "home")?.status).not.toBe("problem");
      rmSync(outer, { recursive: true });
    },
    180_000,
  );
});
