// A home whose file system becomes read-only: `status` and `doctor` name the mount and the next command, whether the
// daemon is there or not, and everything works again once it can be written. Its mount is covered by a read-only one of
// the same directory.
import { afterAll, afterEach, expect, test } from "bun:test";
import { killIfThere } from "../daemon/home.ts";
import { until } from "../until.ts";
import { endAll, Home } from "./terminal-home.ts";

const mounted = new Set<string>();

function mount(...words: readonly string[]): boolean {
  return Bun.spawnSync(["mount", ...words]).exitCode === 0;
}

function cover(path: string): boolean {
  if (!mount("--bind", path, path)) return false;
  mounted.add(path);
  return mount("-o", "remount,bind,ro", path);
}

function uncover(path: string): void {
  Bun.spawnSync(["umount", "-l", path]);
  mounted.delete(path);
}

const probe = new Home();
const works = cover(probe.path);
uncover(probe.path);
if (!works) console.error("skipped: a read-only home: mounting is not allowed here");

afterEach(() => {
  for (const path of mounted) uncover(path);
});
afterAll(endAll, 180_000);

/** As long as a person may have to wait for the diagnosis. */
const WITHIN_MS = 10_000;

async function status(home: Home) {
  const { code, out, err } = await home.run("status", "--json");
  return { code, err, ...JSON.parse(out) };
}

type Check = { readonly name: string; readonly status: string; readonly what: string; readonly next: string };

async function isDiagnosed(home: Home): Promise<readonly Check[]> {
  const began = performance.now();
  const next = `mounted read-only on ${home.path}. \`dmesg\` says why, if it was not intended; then: mount -o remount,rw`;
  const told = await home.run("status");
  expect(told.code).toBe(1);
  expect(told.out).toMatch(/^disk {7}.*: EROFS/m);
  expect(told.out).toContain(next);
  const { code, disk } = await status(home);
  expect([code, disk.code]).toEqual([1, "EROFS"]);
  const doctor = await home.run("doctor", "--json");
  expect(doctor.code).toBe(1);
  const checks: Check[] = JSON.parse(doctor.out).checks;
  const system = checks.find(({ name }) => name === "file-system");
  expect(system?.status).toBe("problem");
  expect(system?.what).toContain(`on ${home.path} `);
  expect(system?.next).toContain(next);
  expect(performance.now() - began).toBeLessThan(WITHIN_MS);
  return checks;
}

test.skipIf(!works)(
  "with a live daemon, whose failed write is shown until it succeeds (needs mount)",
  async () => {
    const home = new Home();
    await home.ok("new", "-d", "one", "--", "cat");
    expect(await status(home)).toMatchObject({ code: 0, disk: null });
    cover(home.path);
    const asked = home.run("new", "-d", "two", "--", "cat"); // It may be refused, or wait for its holder.
    const failed = async () => (await status(home)).disk?.since;
    await until("the daemon's write failed", async () => typeof (await failed()) === "string", failed);
    const checks = await isDiagnosed(home);
    const disk = checks.find(({ name }) => name === "disk");
    expect([disk?.status, disk?.what]).toEqual(["problem", "the daemon cannot write"]);
    uncover(home.path);
    await until(
      "all is well again",
      async () => (await status(home)).code === 0,
      () => home.run("status"),
    );
    await asked;
    await home.ok("rename", "one", "three");
  },
  180_000,
);

test.skipIf(!works)(
  "without a daemon, which cannot be started (needs mount)",
  async () => {
    const home = new Home();
    await home.ok("up");
    const { watchdog, daemon } = await status(home);
    // Stopped first: the one that is killed last would start the other again.
    for (const signal of ["SIGSTOP", "SIGKILL"] as const)
      for (const { pid } of [watchdog, daemon]) killIfThere(pid, signal);
    cover(home.path);
    await isDiagnosed(home);
    const up = await home.run("up");
    expect(up.code).not.toBe(0);
    expect(up.err).toContain("EROFS");
    expect(up.err).toContain("The file system is read-only.");
    uncover(home.path);
    await home.ok("up");
  },
  180_000,
);
