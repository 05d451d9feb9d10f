// The Debian package: made by `npm run deb`, installed by dpkg, used, and removed. In CI on this very system; elsewhere
// below a directory that dpkg takes for one, so that a developer's machine stays as it is.
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import about from "../../package.json" with { type: "json" };
import { debOf } from "../../scripts/deb.ts";
import { ROOT, readText } from "../../scripts/files.ts";
import { PACKAGED_BINARY, PACKAGED_UNIT, packagedUnit } from "../../src/cli/service/packaged.ts";
import { commandWords } from "../cli/unit-parser.ts";
import { BUN } from "../ours.ts";
import { until } from "../until.ts";
import { filesOf, run, treeOf, use } from "./tried.ts";

const scratch = mkdtempSync(join(tmpdir(), "hfd-"));
const REALLY = process.env["CI"] !== undefined;
const SYSTEM = REALLY ? "/" : join(scratch, "system");
const HOLDFAST = join(SYSTEM, PACKAGED_BINARY);
const MAY = process.getuid?.() === 0 && Bun.which("dpkg") !== null;
const DPKG = [
  "dpkg",
  ...(REALLY ? [] : [`--root=${SYSTEM}`, "--force-depends"]),
  "--path-include=/usr/share/*",
] as const;
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const env = { HOME: join(scratch, "home"), PATH };
const HOME = join(env.HOME, ".local/state/holdfast");

afterAll(() => {
  if (REALLY && MAY) run(["dpkg", "--purge", "holdfast"], { PATH });
  rmSync(scratch, { recursive: true, force: true });
});

test("the same binary gives the same package, whatever the clock says", () => {
  const made = () => debOf({ binary: Buffer.from("binary"), target: "linux-arm64", timeS: 1_700_000_000 });
  const one = made();
  expect(Buffer.compare(one, made())).toBe(0);
  expect(
    Buffer.compare(one, debOf({ binary: Buffer.from("other"), target: "linux-arm64", timeS: 1_700_000_000 })),
  ).not.toBe(0);
});

describe.skipIf(!MAY)("the package (needs root and dpkg)", () => {
  test("is made and installed, with everything where Debian looks for it", () => {
    mkdirSync(env.HOME);
    if (!REALLY) {
      mkdirSync(join(SYSTEM, "var/lib/dpkg/info"), { recursive: true });
      for (const name of ["status", "available"]) writeFileSync(join(SYSTEM, "var/lib/dpkg", name), "");
    }
    const made = run([BUN, "scripts/deb.ts"], { ...process.env, SOURCE_DATE_EPOCH: "1700000000" }, ROOT);
    expect([made.code, made.err]).toEqual([0, ""]);
    const deb = made.out.trim();
    expect(basename(deb)).toMatch(new RegExp(`^holdfast_${about.version}_(?:amd64|arm64)\\.deb$`));
    // What the manual pages trigger takes a sixth of the test: it is done once, when the package is removed.
    const installed = run([...DPKG, "--no-triggers", "--install", deb], { PATH });
    expect([installed.code, installed.code === 0 ? "" : installed.err]).toEqual([0, ""]);
    expect(lstatSync(HOLDFAST)).toMatchObject({ uid: 0, gid: 0, mode: 0o100755, mtimeMs: 1_700_000_000_000 });
    expect(readFileSync(join(SYSTEM, PACKAGED_UNIT), "utf8")).toBe(packagedUnit());
    const page = Bun.gunzipSync(readFileSync(join(SYSTEM, "usr/share/man/man1/holdfast.1.gz")));
    expect(new TextDecoder().decode(page)).toBe(readText("docs/holdfast.1"));
    const bash = readFileSync(join(SYSTEM, "usr/share/bash-completion/completions/holdfast"), "utf8");
    expect(run([HOLDFAST, "completions", "bash"], env).out).toBe(bash);
    expect(run([...DPKG, "--verify", "holdfast"], { PATH })).toEqual({ code: 0, out: "", err: "" });
  });

  test("everything works from there", async () => {
    expect(await use(HOLDFAST, env)).toEqual({
      ...{ states: ["a running", "b ended"], workflow: 0, printed: "printed", found: true, page: true },
      ...{ completed: ["a", "b"], runtime: "ok" },
    });
  });

  test("PU2 its unit takes over what runs, and is from then on what restarts the watchdog", async () => {
    const unit = readFileSync(join(SYSTEM, PACKAGED_UNIT), "utf8");
    const here = (key: string) =>
      commandWords(unit, key).map((word) =>
        [PACKAGED_BINARY, PACKAGED_UNIT].includes(word) ? join(SYSTEM, word) : word,
      );
    const watchdog = () => JSON.parse(run([HOLDFAST, "status", "--json"], env).out).watchdog.pid;
    expect(run([HOLDFAST, "up"], env).code).toBe(0);
    expect(run(here("ExecCondition"), env)).toEqual({ code: 0, out: "", err: "" });
    expect(watchdog()).toBe(null);
    const service = Bun.spawn(here("ExecStart"), { cwd: "/", env, stdio: ["ignore", "ignore", "ignore"] });
    try {
      await until("the service's watchdog runs", () => watchdog() === service.pid, watchdog);
      const mark = JSON.parse(readFileSync(join(HOME, "recovery/service.json"), "utf8"));
      expect(mark.unit).toBe(join(SYSTEM, PACKAGED_UNIT));
    } finally {
      run([HOLDFAST, "down", "--kill"], env);
      await service.exited;
    }
    expect(run(here("ExecCondition"), env).code).toBe(1); // RY1: `down` lasts.
  });

  test("service status and remove know its unit once it is enabled", () => {
    const bin = join(scratch, "bin");
    mkdirSync(bin);
    for (const name of ["systemctl", "loginctl"])
      writeFileSync(join(bin, name), "#!/bin/sh\necho UnitFileState=enabled\n", { mode: 0o755 });
    const managed = { ...env, PATH: `${bin}:${PATH}` };
    const unit = existsSync(PACKAGED_UNIT) ? PACKAGED_UNIT : join(env.HOME, ".config/systemd/user/holdfast.service");
    const is = REALLY; // It is where systemd looks only in CI.
    expect(JSON.parse(run([HOLDFAST, "service", "status", "--json"], managed).out)).toMatchObject({
      ...{ installed: is, current: is, enabled: true, home: is ? HOME : null, unit },
    });
    const removed = run([HOLDFAST, "service", "remove"], managed);
    expect([removed.code, removed.out.includes(`${PACKAGED_UNIT} is off`)]).toEqual([0, is]);
    expect(existsSync(join(HOME, "recovery/service.json"))).toBe(false);
  });

  test("removing it leaves nothing but the home", () => {
    const ours = run([...DPKG, "--listfiles", "holdfast"], { PATH })
      .out.trim()
      .split("\n");
    const files = ours.filter((path) => existsSync(join(SYSTEM, path)) && !lstatSync(join(SYSTEM, path)).isDirectory());
    const home = treeOf(HOME);
    expect(files.length).toBeGreaterThan(8);
    expect(run([...DPKG, "--purge", "holdfast"], { PATH }).code).toBe(0);
    expect(files.filter((path) => existsSync(join(SYSTEM, path)))).toEqual([]);
    if (!REALLY) expect(filesOf(SYSTEM).filter((path) => !path.startsWith("var/lib/dpkg/"))).toEqual([]);
    expect([home.length > 10, treeOf(HOME)]).toEqual([true, home]);
  });
});
