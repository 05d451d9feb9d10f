// A home on the real disk with real watchdogs, daemons and programs; when a test is done, all of them are gone.

import { afterEach } from "bun:test";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeWanted } from "../../src/home/wanted.ts";
import { readJson } from "../../src/log/file/json-file.ts";
import { lockPathOf } from "../../src/watchdog/specs.ts";
import { SETTINGS_VARIABLE } from "../../src/wire/heartbeat.ts";
import type { ProcessIdentity } from "../../src/world/process.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { COUNTING, ours } from "../ours.ts";
import { until } from "../until.ts";

const FAKE = join(import.meta.dir, "fake-daemon.ts");

export const processes = realProcesses();
const disk = realDisk();

type Settings = Readonly<Record<string, unknown>>;

export class RealHome {
  readonly path = mkdtempSync(join(tmpdir(), "hf-wd-"));
  readonly disk = disk;
  readonly #watchdogs: Bun.Subprocess[] = [];
  readonly #everybody = new Map<number, ProcessIdentity>();

  /** A watchdog over a fake daemon; with `heal` the daemon starts a new one if it loses this one. */
  watchdog(settings: Settings = {}, env: Readonly<Record<string, string>> = {}): Bun.Subprocess {
    const common = { web: false, heartbeatMs: 2000, ...settings };
    const healer = settings["heal"] === true ? ["heal"] : [];
    const daemon = settings["daemon"] ?? [process.execPath, ...COUNTING, FAKE, this.path, ...healer];
    const given = JSON.stringify({ ...common, daemon });
    const words = ours("src/watchdog/main.ts", this.path);
    const log = openSync(join(this.path, "watchdog.log"), "a");
    const options = { cwd: this.path, env: { ...process.env, ...env, [SETTINGS_VARIABLE]: given } };
    const child = Bun.spawn(words, { ...options, stdio: ["ignore", "ignore", log] });
    closeSync(log);
    this.#watchdogs.push(child);
    return child;
  }

  /** The holder of a lock of this home; undefined if it is free. */
  holder(name: string): ProcessIdentity | undefined {
    const { pid, startTime, bootId } = readJson(disk, lockPathOf(this.path, name)) ?? {};
    if (typeof pid !== "number" || typeof startTime !== "number" || typeof bootId !== "string") return undefined;
    const who = { pid, startTime, bootId };
    if (!processes.alive(who)) return undefined;
    this.#everybody.set(pid, who);
    return who;
  }

  /** A live daemon that is not `other`. An earlier one may have died on its way. */
  daemon(other?: { readonly pid: number }): Promise<ProcessIdentity> {
    return until(
      "a live daemon",
      () => {
        const who = this.holder("daemon");
        return who !== undefined && who.pid !== other?.pid && this.said(`daemon (${who.pid}): live`) && who;
      },
      () => this.log,
    );
  }

  newWatchdog(other?: { readonly pid: number }): Promise<ProcessIdentity> {
    return until(
      "a watchdog",
      () => {
        const who = this.holder("watchdog");
        return who !== undefined && who.pid !== other?.pid && who;
      },
      () => this.log,
    );
  }

  /** Waits until the watchdog has logged it. */
  said(text: string): boolean {
    return this.log.includes(text);
  }

  get log(): string {
    const path = join(this.path, "watchdog.log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  json(name: string): Readonly<Record<string, unknown>> | undefined {
    return readJson(disk, join(this.path, name));
  }

  async close(): Promise<void> {
    await writeWanted(disk, this.path, "down");
    for (const name of ["watchdog", "daemon"]) this.holder(name);
    for (const child of this.#watchdogs) child.kill("SIGKILL");
    for (const child of this.#watchdogs) await child.exited;
    for (const who of this.#everybody.values()) processes.kill(who, "SIGKILL");
    for (const who of this.#everybody.values())
      await until(
        "the end",
        () => !processes.alive(who),
        () => processes.alive(who),
      );
    const late = this.holder("daemon");
    if (late !== undefined) processes.kill(late, "SIGKILL");
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Called once by a test file; returns a function that creates homes. */
export function realHomes(): () => RealHome {
  const homes: RealHome[] = [];
  afterEach(async () => {
    for (const home of homes.splice(0)) await home.close();
  });
  return () => {
    const home = new RealHome();
    homes.push(home);
    return home;
  };
}
