// `holdfast relay service`, with programs that stand in for systemd; its unit is read as systemd reads it.
import { afterEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandWords } from "../cli/unit-parser.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";
import { askDesk, newDirectory } from "./relay-site.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const FLAGS = ["--domain", "relay.test", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"];

/** They note their calls; lingering is refused. */
function fakeSystemd(user: string): { readonly PATH: string; calls(): string[] } {
  const [programs, log] = [join(user, "bin"), join(user, "calls")];
  mkdirSync(programs);
  writeFileSync(log, "");
  const scripts = {
    systemctl: `echo "systemctl $*" >> "${log}"; echo ActiveState=inactive`,
    loginctl: `case "$1" in enable-linger) echo "Access denied" >&2; exit 1;; esac; echo Linger=no`,
  };
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(programs, name), 0o755);
  }
  const calls = () => readFileSync(log, "utf8").trim().split("\n");
  return { PATH: `${programs}:${process.env["PATH"]}`, calls };
}

function install(user: string, PATH: string, ...more: readonly string[]) {
  return run(user, PATH, "install", ...FLAGS, ...more);
}

async function run(user: string, PATH: string, ...words: readonly string[]) {
  const argv = ours("src/cli/main.ts", "relay", "service", ...words);
  const child = Bun.spawn(argv, { env: { HOME: user, PATH }, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = [await child.stdout.text(), await child.stderr.text(), await child.exited];
  return { out, err, code };
}

test("RU1 RV1 the unit is written and started, and what it starts is a relay that a signal ends", async () => {
  const user = newDirectory(closers);
  const { PATH, calls } = fakeSystemd(user);
  const home = join(user, "a b%h$HOME");
  const { out, code } = await install(user, PATH, "--home", home, "--json");
  const unit = join(user, ".config/systemd/user/holdfast-relay.service");
  expect(JSON.parse(out)).toMatchObject({ installed: true, unit, home });
  expect(code).toBe(1); // RV2: lingering was refused.
  expect(out).toContain("sudo loginctl enable-linger");
  expect(calls().filter((call) => !call.includes(" show "))).toEqual([
    "systemctl --user daemon-reload",
    "systemctl --user enable holdfast-relay.service",
    "systemctl --user restart holdfast-relay.service",
  ]);
  const words = commandWords(readFileSync(unit, "utf8"), "ExecStart");
  const child = Bun.spawn(words, { cwd: "/", env: { PATH }, stdio: ["ignore", "ignore", "ignore"] });
  closers.push(() => child.kill("SIGKILL"));
  const status = () => askDesk(home, { method: "status" }).catch(() => undefined); // It is not there yet.
  const { pid, domain } = await until("it answers", status, () => child.exitCode);
  expect([pid, domain]).toEqual([child.pid, "relay.test"]);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});

test("RV1 --print changes nothing, and without systemd nothing is written", async () => {
  const user = newDirectory(closers);
  const { PATH, calls } = fakeSystemd(user);
  const printed = await install(user, PATH, "--system", "--print");
  expect([printed.code, printed.err, calls()]).toEqual([0, "", [""]]);
  expect(printed.out).toContain("WantedBy=multi-user.target\n");
  writeFileSync(join(user, "bin/systemctl"), '#!/bin/sh\necho "no bus" >&2; exit 1\n');
  const broken = await install(user, PATH);
  expect([broken.code, broken.out]).toEqual([1, ""]);
  expect(broken.err).toContain("no bus");
});

test("RV3 status shows what systemd says, and remove takes the unit away once systemd has stopped it", async () => {
  const user = newDirectory(closers);
  const { PATH, calls } = fakeSystemd(user);
  const unit = join(user, ".config/systemd/user/holdfast-relay.service");
  const before = await run(user, PATH, "status");
  expect([before.code, before.out]).toEqual([1, "not installed: holdfast relay service install\n"]);
  await install(user, PATH, "--home", join(user, "relay"));
  const shown = JSON.parse((await run(user, PATH, "status", "--json")).out);
  expect(shown).toEqual({ installed: true, unit, enabled: false, active: false, state: "inactive", pid: null });
  expect((await run(user, PATH, "status")).out).toBe(`${unit}: inactive, does not start at boot\n`);
  const systemctl = readFileSync(join(user, "bin/systemctl"));
  writeFileSync(join(user, "bin/systemctl"), '#!/bin/sh\necho "no bus" >&2; exit 1\n');
  const refused = await run(user, PATH, "remove");
  expect([refused.code, existsSync(unit)]).toEqual([1, true]);
  writeFileSync(join(user, "bin/systemctl"), systemctl);
  expect(JSON.parse((await run(user, PATH, "remove", "--json")).out)).toMatchObject({ installed: false, unit });
  expect(existsSync(unit)).toBe(false);
  expect(calls()).toContain("systemctl --user disable --now holdfast-relay.service");
  expect((await run(user, PATH, "remove")).out).toContain("there is no unit");
});

const needsSystemd = Bun.which("systemd-analyze") === null;

test.skipIf(needsSystemd)("systemd itself accepts the unit (needs systemd)", async () => {
  const user = newDirectory(closers);
  const { PATH } = fakeSystemd(user);
  const path = join(user, "holdfast-relay.service");
  writeFileSync(path, (await install(user, PATH, "--system", "--print", "--home", join(user, "a b%h$HOME"))).out);
  const child = Bun.spawn(["systemd-analyze", "verify", path], { stdio: ["ignore", "pipe", "pipe"] });
  const said = (await child.stdout.text()) + (await child.stderr.text());
  expect(said.split("\n").filter((line) => line.includes("holdfast-relay"))).toEqual([]);
});
