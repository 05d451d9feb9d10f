// A real disk that stalls for seconds under the real daemon and watchdog: a file system of its own, frozen and thawed.
// Z1. Whatever happens to the test, the file system thaws by itself: a process that waits for a frozen one cannot even
//     be killed.
import { afterAll, expect, test } from "bun:test";
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SETTINGS_VARIABLE } from "../../src/wire/heartbeat.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";
import { type DaemonHome, daemonHomes, processes } from "./home.ts";

const MAX_S = 20;
/**
 * Above the silence that the watchdog tolerates below, which must be above the start time of a daemon on a busy
 * machine.
 */
const STALL_MS = 3_000;
const SETTINGS = { web: false, heartbeatMs: 200, killAfterMs: 2_000, graceMs: 200, crashes: 1_000 };

const run = (...words: readonly string[]) => Bun.spawnSync([...words], { stdio: ["ignore", "ignore", "pipe"] });

/** A small file system in a file; needs root and loop devices. */
class Volume {
  readonly #place = mkdtempSync(join(tmpdir(), "hfz-"));
  readonly path = join(this.#place, "m");
  readonly trouble: string | undefined;
  #guard: Bun.Subprocess | undefined;

  constructor() {
    const image = join(this.#place, "image");
    closeSync(openSync(image, "w"));
    truncateSync(image, 128 << 20);
    mkdirSync(this.path);
    const made = Bun.which("mkfs.ext4") !== null && Bun.which("fsfreeze") !== null && run("mkfs.ext4", "-q", image);
    const mounted = made ? run("mount", "-o", "loop", image, this.path) : made;
    this.trouble = mounted && mounted.exitCode === 0 ? undefined : "a loop device cannot be mounted here";
  }

  freeze(): void {
    const guard = ["sh", "-c", `sleep ${MAX_S}; fsfreeze -u ${this.path}`]; // Z1
    this.#guard = Bun.spawn(guard, { stdio: ["ignore", "ignore", "ignore"], detached: true });
    expect(run("fsfreeze", "-f", this.path).exitCode).toBe(0);
  }

  thaw(): void {
    run("fsfreeze", "-u", this.path);
    if (this.#guard !== undefined) process.kill(-this.#guard.pid, "SIGKILL");
    this.#guard = undefined;
  }

  close(): void {
    this.thaw();
    run("umount", this.path);
    rmSync(this.#place, { recursive: true, force: true });
  }

  /** Outside the frozen file system. */
  beside(name: string): string {
    return join(this.#place, name);
  }
}

const newHome = daemonHomes();
const volume = new Volume();
afterAll(() => volume.close());
if (volume.trouble !== undefined) console.error(`skipped: a real disk that stalls: ${volume.trouble}`);

/** Moves it outside the frozen file system. */
function moveOut(home: DaemonHome, name: string): void {
  const place = volume.beside(name);
  cpSync(home.file(name), place, { recursive: true });
  rmSync(home.file(name), { recursive: true });
  symlinkSync(place, home.file(name));
}

function watchdogOn(home: DaemonHome): Bun.Subprocess {
  writeFileSync(home.file("recovery/wanted.json"), '{"v":1,"wanted":"up"}\n');
  const words = ours("src/watchdog/main.ts", home.path);
  const env = { PATH: "/usr/bin:/bin", HOME: home.path, [SETTINGS_VARIABLE]: JSON.stringify(SETTINGS) };
  const log = Bun.file(volume.beside("log"));
  return Bun.spawn(words, { cwd: "/", env, stdio: ["ignore", "ignore", log] });
}

/** Nothing is killed, and the pending request completes. */
async function stalls(home: DaemonHome): Promise<void> {
  const watchdog = watchdogOn(home);
  const live = () =>
    home
      .ask("status", {})
      .then((status) => status?.ok === true && status.value.recovery.stage === "LIVE" && status.value);
  const { daemon } = await until("it is live", live, () => live());
  const id = await home.open("one", ["sleep", "1000"]);
  const before = await home.is(id, "running");
  const client = await home.client();
  const crashes = home.text("recovery/crash-history.json");
  volume.freeze();
  const began = performance.now();
  let answered = false;
  const asked = client?.call("terminal.rename", { id, name: "two" }).finally(() => {
    answered = true;
  });
  await until(
    "the daemon waits for the disk",
    () => processes.waitsForDisk(daemon.pid),
    () => processes.waitsForDisk(daemon.pid),
  );
  await until(
    "the stall has lasted long enough",
    () => performance.now() - began > STALL_MS,
    () => performance.now() - began,
  );
  expect(processes.waitsForDisk(daemon.pid)).toBe(true);
  expect(answered).toBe(false);
  volume.thaw();
  expect(await asked).toMatchObject({ ok: true });
  const status = await until("it is live", live, () => live());
  expect(status).toMatchObject({ daemon: { pid: daemon.pid }, watchdog: { pid: watchdog.pid } });
  expect(await home.listed(id)).toMatchObject({ name: "two", state: before });
  expect(home.text("recovery/crash-history.json")).toBe(crashes);
  writeFileSync(home.file("recovery/wanted.json"), '{"v":1,"wanted":"down"}\n');
  watchdog.kill("SIGTERM");
  expect(await watchdog.exited).toBe(0);
}

test.skipIf(volume.trouble !== undefined)(
  "WD-2(e) the disk of the home stalls for longer than a hang may last, and nothing is killed (needs root and a loop device)",
  () => stalls(newHome(volume.path)),
  180_000,
);

test.skipIf(volume.trouble !== undefined)(
  "WD-2(e) only the disk of the log stalls, with the watchdog running, and nothing is killed (needs root and a loop device)",
  () => {
    const home = newHome(volume.path);
    moveOut(home, "recovery"); // The watchdog writes there, and would be blocked as well.
    return stalls(home);
  },
  180_000,
);
