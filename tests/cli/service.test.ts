// `holdfast service` with a real Holdfast and a fake systemd (fake-systemctl.ts); real systemd also checks the unit's
// text.
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGED_BINARY, packagedUnit } from "../../src/cli/service/packaged.ts";
import { until } from "../until.ts";
import { rejects } from "./expect.ts";
import { ServiceHome } from "./service-home.ts";
import { endAll } from "./terminal-home.ts";
import { commandWords, linesOf, unitWords } from "./unit-parser.ts";

afterAll(endAll, 180_000);

const INSTALLING = [
  "systemctl --user daemon-reload",
  "systemctl --user enable holdfast.service",
  "loginctl enable-linger",
  "systemctl --user restart holdfast.service",
];

describe("service install", () => {
  test("SI2 running programs move under systemd without noticing; installing twice is the same as installing once", async () => {
    const home = new ServiceHome();
    await home.ok("new", "-d", "work", "--", "cat");
    const { pid } = await home.listed("work");
    const before = await home.pids();
    const installed = await home.json("service", "install");
    expect(installed).toMatchObject({ installed: true, unit: home.unit, home: home.state });
    expect(installed.steps.map(({ step }: { step: string }) => step)).toEqual([
      "unit",
      "enable",
      "linger",
      "hand-over",
      "start",
    ]);
    expect(
      home.calls().map((call) => call.replace(/ [^ ]+$/, (word) => (call.startsWith("loginctl") ? "" : word))),
    ).toEqual(INSTALLING);
    const after = await home.pids();
    expect(after).toEqual({ daemon: before.daemon, watchdog: home.starts.at(-1) ?? 0 });
    expect(await home.listed("work")).toMatchObject({ state: "running", pid });

    expect(await home.json("service", "status")).toMatchObject({
      ...{ installed: true, current: true, enabled: true, active: true, linger: true, unreachable: null },
      ...{ home: home.state, pid: after.watchdog },
    });
    expect(await home.ok("service", "status")).toContain(
      `active     yes (active, pid ${after.watchdog})\nlinger     yes\n`,
    );
    const again = await home.run("service", "install");
    expect({ code: again.code, err: again.err }).toEqual({ code: 0, err: "" });
    expect(again.out).toContain("start: it is already running");
    expect(home.calls()).toEqual(INSTALLING.slice(0, 2));
    expect(await home.pids()).toEqual(after);
    expect(await home.ok("doctor")).toContain("service: installed, enabled, active, lingering");
  });

  test("only systemd restarts its watchdog: a daemon from before leaves that to systemd", async () => {
    const home = new ServiceHome();
    await home.ok("up");
    await home.ok("service", "install");
    const { daemon, watchdog } = await home.pids();
    process.kill(watchdog, "SIGKILL");
    await until(
      "another watchdog runs",
      async () => ![watchdog, null].includes((await home.pids()).watchdog),
      () => [watchdog, null],
    );
    expect(await home.pids()).toEqual({ daemon, watchdog: home.starts.at(-1) ?? 0 });
    expect(home.starts.length).toBe(2);
    expect(readFileSync(join(home.state, "run/watchdog.log"), "utf8")).not.toContain("another one runs");
  });

  test("down goes through systemd and survives a boot; up starts it through systemd; remove leaves everything running", async () => {
    const home = new ServiceHome();
    await home.ok("service", "install");
    await home.ok("new", "-d", "work", "--", "cat");
    const { pid } = await home.listed("work");
    home.calls();
    const down = await home.run("down");
    expect(down).toMatchObject({ code: 0, out: "" });
    expect(down.err).toContain("stopped through systemd (holdfast.service)");
    expect(home.calls()).toEqual(["systemctl --user --no-block stop holdfast.service"]);
    const starts = home.starts.length;
    await home.systemctl("start", "holdfast.service"); // As happens at boot.
    expect(home.starts.length).toBe(starts);
    expect(await home.json("service", "status")).toMatchObject({ active: false, enabled: true });

    const up = await home.run("up");
    expect(up.code).toBe(0);
    expect(up.err).toContain("systemd (holdfast.service) keeps it");
    expect(home.calls()).toContain("systemctl --user --no-block start holdfast.service");
    expect((await home.pids()).watchdog).toBe(home.starts.at(-1) ?? 0);
    expect(await home.listed("work")).toMatchObject({ state: "running", pid });

    const { daemon } = await home.pids();
    expect((await home.json("service", "remove")).installed).toBe(false);
    expect(home.calls()).toEqual(["systemctl --user disable --now holdfast.service", "systemctl --user daemon-reload"]);
    expect(home.unitText).toBeUndefined();
    await until(
      "a watchdog runs again",
      async () => (await home.pids()).watchdog !== null,
      async () => (await home.pids()).watchdog,
    );
    expect(await home.pids()).toMatchObject({ daemon });
    expect(home.starts).not.toContain((await home.pids()).watchdog);
    expect(await home.listed("work")).toMatchObject({ state: "running", pid });
    expect(await home.ok("service", "remove")).toContain("unit: there is no unit");
  });

  test("SI4 if lingering is refused the exit code is 1 with the command to run; the rest is installed", async () => {
    const home = new ServiceHome();
    home.refuseLinger();
    const { code, out } = await home.run("service", "install");
    expect(code).toBe(1);
    expect(out).toMatch(/linger: .*Access denied.*\n {2}→ sudo loginctl enable-linger \S+\n/);
    expect(await home.json("service", "status")).toMatchObject({ active: true, linger: false });
    expect((await home.run("doctor")).out).toContain("it ends with your last login");
  });
});

describe("when it is not possible", () => {
  test("without systemd --user nothing is changed, and the error names the alternative", async () => {
    const home = new ServiceHome();
    home.broken = "Failed to connect to bus: No medium found";
    rejects(
      await home.run("service", "install"),
      1,
      "There is no systemd --user here: Failed to connect to bus: No medium found.",
    );
    expect([existsSync(home.unit), existsSync(home.state)]).toEqual([false, false]);
    const status = await home.ok("service", "status");
    expect(status).toStartWith("installed  no\n");
    expect(status).toContain("  → holdfast up "); // `service install` would only fail.
    expect(status).not.toContain("service install");
    const printed = await home.ok("service", "install", "--print");
    expect(commandWords(printed, "ExecStart").at(-1)).toBe(home.state);
    expect(linesOf(printed, "Environment").flatMap(unitWords)).toContain(`PATH=${home.env["PATH"]}`);
    expect(printed).not.toContain("SSH_AUTH_SOCK");
  });

  test("down, up and remove work without a systemd manager", async () => {
    const home = new ServiceHome();
    await home.ok("service", "install");
    await home.systemctl("stop", "holdfast.service");
    home.broken = "Failed to connect to bus: Host is down";
    const down = await home.run("down");
    expect(down.code).toBe(0);
    expect(down.err).toContain("Host is down. Stopping Holdfast without it.");
    const up = await home.run("up");
    expect(up.code).toBe(0);
    expect(up.err).toContain("Starting Holdfast without it.");
    expect(await home.ok("service", "remove")).toContain("The files are gone, and that is enough");
    expect([home.unitText, existsSync(join(home.unit, "../default.target.wants/holdfast.service"))]).toEqual([
      undefined,
      false,
    ]);
  });

  test("a second home does not take the service from the first; a bad configuration is reported before anything changes", async () => {
    const home = new ServiceHome();
    await home.ok("service", "install");
    const other = join(home.path, "other");
    rejects(
      await home.run("service", "install", "--home", other),
      1,
      `The service is installed for another home: ${home.state}.`,
    );
    writeFileSync(join(home.path, "config.toml"), "daemon = 7\n");
    expect((await home.run("service", "install")).code).toBe(1);
    expect((await home.run("__ready")).code).toBe(255);
  });
});

const needsSystemd = Bun.which("systemd-analyze") === null;

test.skipIf(needsSystemd)("systemd itself accepts the unit, unusual paths included (needs systemd)", async () => {
  const home = new ServiceHome();
  const odd = join(home.path, "a b%h$HOME'");
  const text = await home.ok("service", "install", "--print", "--home", odd);
  const unit = join(home.path, "holdfast.service");
  writeFileSync(unit, text);
  const runtime = join(home.path, "rt");
  mkdirSync(runtime);
  chmodSync(runtime, 0o700);
  const env = { ...home.env, XDG_RUNTIME_DIR: runtime };
  const verify = async () => {
    const child = Bun.spawn(["systemd-analyze", "verify", "--user", unit], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, said: (out + err).split("\n").filter((line) => line.includes("holdfast.service")) };
  };
  expect(await verify()).toEqual({ code: 0, said: [] });
  writeFileSync(unit, packagedUnit().replaceAll(PACKAGED_BINARY, process.execPath));
  expect(await verify()).toEqual({ code: 0, said: [] });
  writeFileSync(unit, text.replace("KillMode=process", "KillMode=nobody"));
  expect((await verify()).said.length).toBeGreaterThan(0);
});
