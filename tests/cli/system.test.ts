// The commands about Holdfast itself: logs, recovery, config, status. Real processes, a real daemon.
import { afterEach, expect, test } from "bun:test";
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rewriteLast } from "../poison.ts";
import { until } from "../until.ts";
import { rejects } from "./expect.ts";
import { endAll, Home } from "./terminal-home.ts";

afterEach(endAll, 180_000);

test("logs shows the last lines of watchdog and daemon, and follows new ones", async () => {
  const home = new Home();
  mkdirSync(join(home.path, "run"));
  rejects(await home.run("logs"), 4, "There is no log at");
  await home.ok("up");
  const lines: string[] = await home.json("logs", "-n", "500");
  expect(lines.some((line) => /daemon \d+: live after \d+ ms/.test(line))).toBe(true);
  expect((await home.ok("logs", "-n", "1")).split("\n")).toHaveLength(2);
  expect(await home.ok("logs", "-n", "0")).toBe("");
  const window = home.window(["logs", "-n", "0", "--follow"]);
  await until(
    "it follows",
    async () => {
      const { daemon, recovery } = await home.status();
      // Killed any sooner on a busy machine, no daemon would ever report that it is live.
      if (recovery.stage === "LIVE") process.kill(daemon.pid, "SIGKILL");
      return window.seen.includes("live after");
    },
    () => window.seen,
  );
  window.type("\u0003");
  expect(await window.exited).toBe(0);
});

test("logs leaves out the NULs that a power cut left where lines were", async () => {
  const home = new Home();
  mkdirSync(join(home.path, "run"));
  const nuls = "\0".repeat(5_000);
  writeFileSync(join(home.path, "run/watchdog.log"), `first\n\n${nuls}\n${nuls}second\nthird${nuls}\n`);
  expect(await home.ok("logs")).toBe("first\n\nsecond\nthird\n");
  expect(await home.json("logs", "-n", "2")).toEqual(["second", "third"]);
});

test("recovery: the stage and the reports, with the daemon up and down; a missing report is an error; skip", async () => {
  const home = new Home();
  mkdirSync(join(home.path, "recovery"));
  expect(await home.ok("recovery", "status")).toBe("stage    no recovery yet\n");
  rejects(await home.run("recovery", "report"), 4, "There has been no recovery on this home yet.");
  rejects(await home.run("recovery", "retry"), 75, "The daemon is not running.");
  await home.ok("new", "-d", "t", "--", "cat");
  expect(await home.ok("recovery", "status")).toContain("stage    LIVE, attempt 1\n");
  expect(await home.json("recovery", "retry")).toEqual({ stage: "LIVE" });
  expect(await home.ok("recovery", "skip")).toBe("There is nothing to skip.\n");
  rejects(await home.run("recovery", "skip", "t"), 4, '"t" is not set aside.');
  const { id, pid } = await home.listed("t");
  const { report } = await home.json("recovery", "status");
  expect(await home.json("recovery", "report", report)).toMatchObject({ cause: "clean start", items: [] });
  rejects(await home.run("recovery", "report", "none"), 4, `The newest is ${report}.`);
  await home.ok("down");
  expect(await home.json("recovery", "status")).toMatchObject({ stage: "LIVE", running: false, report });
  writeFileSync(join(home.path, `recovery/reports/${report}.json`), "{}");
  rejects(await home.run("recovery", "report"), 1, `The report ${report} cannot be read.`);

  // An event of its log does not fold: it is listed, skipped and kept, and the terminal goes on at the next start.
  const log = join(home.path, `terminals/${id}/events.jsonl`);
  rewriteLast(log, "terminal.renamed", "{}");
  const poisoned = readFileSync(log, "utf8");
  await home.ok("up");
  const [row, ...others] = await home.json("recovery", "skip");
  expect([row, others]).toMatchObject([{ what: "terminal", id, name: "t", skipped: null }, []]);
  expect(row.bytes).toEqual({ kind: "event", seq: expect.any(Number) });
  const said = await home.ok("recovery", "skip", "t");
  expect(said).toContain(`event ${row.bytes.seq}, skipped from the next start on`);
  expect(said).toContain("→ holdfast down && holdfast up");
  await home.ok("down");
  await home.ok("up");
  expect(await home.listed("t")).toMatchObject({ state: "running", pid });
  expect(readFileSync(log, "utf8")).toStartWith(poisoned);
  expect(await home.ok("log", "verify", id)).toContain("whole: ");
});

test("a changed configuration is pending until a reload or SIGHUP; a wrong one is refused, and some of it waits for a restart", async () => {
  const home = new Home();
  const file = join(home.path, "config.toml");
  const checked = async () => {
    const { checks } = JSON.parse((await home.run("doctor", "--json")).out);
    const { status, what } = checks.find(({ name }: { name: string }) => name === "configuration");
    return {
      inUse: (await home.json("config", "check")).inUse,
      said: (await home.run("config", "check")).err,
      status,
      what,
    };
  };
  expect(await home.json("config", "check")).toMatchObject({ found: true, inUse: null });
  await home.ok("up");
  expect(await checked()).toMatchObject({ inUse: true, said: "", status: "ok" });

  appendFileSync(file, '[provider.mine]\nkind = "scripted"\ncommand = ["cat"]\n');
  const changed = `${file} has changed since the daemon read it`;
  expect(await checked()).toMatchObject({ inUse: false, status: "warning", what: changed });
  expect((await checked()).said).toBe(`holdfast: ${changed}.\n  → holdfast reload\n`);
  expect(await home.ok("status")).toContain(`pending    ${changed}\n  → holdfast reload\n`);
  const refused = await home.run("agent", "new", "a", "--provider", "mine");
  expect(refused.err).toContain("There is no provider mine.");
  expect(refused.err).toContain("holdfast reload");
  expect(await home.json("reload")).toEqual({ path: file, applied: ["provider.mine"], restart: [] });
  expect(await checked()).toMatchObject({ inUse: true, said: "", status: "ok" });
  await home.ok("agent", "new", "a", "--provider", "mine");

  const right = readFileSync(file, "utf8");
  const line = right.split("\n").length;
  writeFileSync(file, `${right}[provider.mine2]\n  kind = "nothing"\n`);
  rejects(await home.run("reload"), 1, `config.toml:${line + 1}:3: provider.mine2.kind`);
  await home.ok("agent", "new", "b", "--provider", "mine"); // What was in effect stays.
  expect((await home.run("agent", "new", "c", "--provider", "mine2")).code).not.toBe(0);
  writeFileSync(file, `${right.replace("[web]\n", "[web]\nport = 1\n")}[rule.all]\ndecision = "allow"\ntool = "*"\n`);
  process.kill((await home.status()).daemon.pid, "SIGHUP");
  await until(
    "the signal has it reloaded",
    async () => (await home.json("rules", "ls")).length === 1,
    () => home.ok("logs"),
  );
  expect((await home.status()).pending).toEqual([
    { what: `web.port in ${file} will count from the next start on`, next: "holdfast down && holdfast up" },
  ]);
  expect(await checked()).toMatchObject({ inUse: false, status: "warning" });
  await home.ok("down");
  await home.ok("up");
  expect(await checked()).toMatchObject({ inUse: true, said: "", status: "ok" });

  const other = join(home.path, "other.toml");
  writeFileSync(other, "");
  const { err } = await home.at("", { HOLDFAST_CONFIG: other }, "config", "check");
  expect(err).toStartWith(`holdfast: the running daemon uses ${file}, not ${other}.\n`);
});

test("config: the effective values and their origin; secrets of watched programs are not shown", async () => {
  const home = new Home();
  rmSync(join(home.path, "config.toml"));
  expect(await home.ok("config", "check")).toContain("the defaults apply");
  const watch = '[watch.mail]\ncommand = ["sleep", "9"]\nenv = { MAIL_TOKEN = "s3cret", BOX = "in" }\n';
  writeFileSync(join(home.path, "config.toml"), `[terminal]\nterm = "vt100"\n${watch}`);
  expect(await home.ok("config", "check")).toContain("config.toml is valid");
  const shown = await home.ok("config", "show");
  expect(shown).toContain('term = "vt100"');
  expect(shown).not.toContain("s3cret");
  const { config, found } = await home.json("config", "show");
  expect({ found, term: config.terminal.term, env: config.watch.mail.env }).toEqual({
    found: true,
    term: "vt100",
    env: { MAIL_TOKEN: "(not shown)", BOX: "in" },
  });
  writeFileSync(join(home.path, "config.toml"), "[terminal]\nterm = 3\n");
  rejects(await home.run("config", "show"), 1, "config.toml:2:");
  expect(JSON.parse((await home.run("config", "check", "--json")).out).problems).toHaveLength(1);
});

test("up makes a home readable by others private and reports it; files beside Holdfast's own are left alone", async () => {
  const home = new Home();
  const mode = () => statSync(home.path).mode & 0o777;
  // Bun keeps a cache in the user's home directory, which must be neither this one nor a new one in the root.
  const up = () => home.at("", { HOME: "/dev/null" }, "up");
  chmodSync(home.path, 0o755);
  expect((await up()).err).toContain(`restricted ${home.path} to its owner (700); it was 755`);
  expect(mode()).toBe(0o700);
  expect((await up()).err).not.toContain("alone");
  writeFileSync(join(home.path, "theirs"), "");
  chmodSync(home.path, 0o755);
  expect((await up()).err).toContain(`other users can access ${home.path} (755)`);
  expect(mode()).toBe(0o755);
});

test("up twice says that it is up; ls with nothing, with one and with ended terminals; down twice is not an error", async () => {
  const home = new Home();
  expect((await home.run("up")).code).toBe(0);
  expect((await home.run("up")).code).toBe(0);
  expect((await home.run("ls")).err).toContain("holdfast new");
  await home.ok("new", "-d", "one", "--", "sh", "-c", "exit 3");
  await home.run("wait", "one");
  expect(await home.ok("ls")).toMatch(/^one +main +ended 3 /m);
  await home.ok("rm", "one");
  expect(await home.json("ls")).toEqual([]);
  await home.ok("down");
  expect((await home.run("down")).code).toBe(0);
});
