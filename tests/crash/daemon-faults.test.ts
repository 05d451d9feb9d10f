// System calls of a real daemon, a real watchdog and a real holder fail, or kill them: strace attaches to one of them
// in a home that is up, with a terminal running.
// DF1. What was acknowledged is there afterwards: every terminal that was opened, and the last name that was given.
// DF2. The program of the terminal is the same one, unless its holder died.
// DF3. Holdfast is live again. A daemon whose log broke has left, and is replaced. If the watchdog died together with
//      the daemon, the next command starts it.
// DF5. A fault that stays is diagnosed within ten seconds: `status` shows it, and `status` and `doctor` fail. If the
//      daemon has ended because of it, the next one works instead.
// DF4. A fault that did not fire proves nothing: in the full profile, most of them must.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DAEMON_LOCK, WATCHDOG_LOCK } from "../../src/home/layout.ts";
import { holderOf } from "../../src/home/running.ts";
import { SETTINGS_VARIABLE } from "../../src/wire/heartbeat.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { type DaemonHome, daemonHomes, isGone, killIfThere, processes } from "../daemon/home.ts";
import { ours } from "../ours.ts";
import { amount, sampleOf } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { Injection, tryStrace } from "./strace.ts";

const straceWorks = tryStrace();
if (!straceWorks.ok) console.error(`skipped: failing system calls of the daemon: ${straceWorks.why}`);

const newHome = daemonHomes();
/** A watchdog that is as patient as strace is slow, and does not take faults for a crash loop. */
const SETTINGS = { web: false, heartbeatMs: 500, killAfterMs: 60_000, graceMs: 1_000, crashes: 1_000 };
/** It prints without end, so that its holder has something to write. */
const PRINTS = ["sh", "-c", "i=0; while :; do i=$((i+1)); echo line $i; sleep 0.1; done"];
const MAX_WISHES = 8;
const MAX_OPENED = 2;
const MINUTES = 3 * 60_000;

type Victim = "daemon" | "watchdog" | "holder";
type Case = { readonly victim: Victim; readonly what: string };

const FORK = "clone,clone3,vfork,fork";
const KILL = "signal=KILL";
const DISK_ERRORS = ["EIO", "EROFS", "ENOSPC", "EDQUOT"];

function crossed(calls: readonly string[], errors: readonly string[]): (readonly [string, string])[] {
  return calls.flatMap((call) => errors.map((error) => [call, `error=${error}`] as const));
}

const CALLS: Readonly<Record<Victim, readonly (readonly [calls: string, fault: string])[]>> = {
  daemon: [
    ["fdatasync", KILL],
    ["pwrite64", "error=ENOSPC"],
    ["pwrite64", "error=EIO"],
    ["openat", "error=EMFILE"],
    ["openat", KILL],
    [FORK, "error=EAGAIN"],
    ...crossed(["fsync", "fdatasync", "rename", "ftruncate", "mkdir"], DISK_ERRORS),
    ...crossed(["pwrite64"], ["EROFS", "EDQUOT"]),
    ...crossed(["openat"], DISK_ERRORS),
  ],
  watchdog: [
    ["openat", "error=EMFILE"],
    ["pwrite64", "error=ENOSPC"],
    [FORK, "error=EAGAIN"],
    ["openat", KILL],
    ...crossed(["openat", "fsync", "rename"], DISK_ERRORS),
  ],
  holder: [
    ["pwrite64", "error=ENOSPC"],
    ["pwrite64", "error=EIO"],
    ["openat", "error=EMFILE"],
    ["pwrite64", KILL],
    ...crossed(["fdatasync", "ftruncate"], DISK_ERRORS),
  ],
};
/** Some calls are rare. */
const whens = (calls: string) => (/clone|rename|fsync|mkdir|ftruncate/.test(calls) ? [1, 2] : [1, 2, 5]);

const CASES: readonly Case[] = Object.entries(CALLS).flatMap(([victim, faults]) =>
  faults.flatMap(([calls, fault]) =>
    whens(calls).map((when) => ({ victim: victimNamed(victim), what: `${calls}:${fault}:when=${when}` })),
  ),
);
/** One of each victim in the gate. */
const SAMPLE = (["daemon", "watchdog", "holder"] as const).flatMap((victim, turn) => {
  const all = CASES.filter((one) => one.victim === victim);
  return sampleOf(all, all.length, turn);
});

function victimNamed(name: string): Victim {
  if (name === "daemon" || name === "watchdog") return name;
  return "holder";
}

/** A home that is up, and what was promised of it. */
class Site {
  readonly home: DaemonHome = newHome();
  readonly trace = mkdtempSync(join(tmpdir(), "holdfast-injected-"));
  readonly acknowledged: string[] = [];
  name = { promised: 0, asked: 0 };
  id = "";

  /** As `up`: `up` is wanted, and there is a watchdog. */
  startWatchdog(): void {
    writeFileSync(this.home.file("recovery/wanted.json"), '{"v":1,"wanted":"up"}\n');
    const env = { PATH: "/usr/bin:/bin", HOME: this.home.path, [SETTINGS_VARIABLE]: JSON.stringify(SETTINGS) };
    const log = Bun.file(this.home.file("said"));
    Bun.spawn(ours("src/watchdog/main.ts", this.home.path), { cwd: "/", env, stdio: ["ignore", "ignore", log] });
  }

  pidOf(lock: string): number | undefined {
    return holderOf({ disk: realDisk(), processes }, this.home.file(lock))?.pid;
  }

  /** DF3. The pid of the daemon, which is not `other`. */
  live(other?: number): Promise<number> {
    return until(
      "it is live, and watched",
      async () => {
        const watchdog = this.pidOf(WATCHDOG_LOCK);
        const daemon = this.pidOf(DAEMON_LOCK);
        if (watchdog === undefined && daemon === undefined) this.startWatchdog(); // DF3
        const status = await this.home.ask("status", {});
        if (status?.ok !== true || status.value.recovery.stage !== "LIVE" || watchdog === undefined) return undefined;
        return status.value.daemon.pid === other ? undefined : status.value.daemon.pid;
      },
      () => this.home.text("said"),
    );
  }

  async begin(): Promise<void> {
    this.startWatchdog();
    await this.live();
    this.id = await this.home.open("n0", PRINTS);
    await this.home.is(this.id, "running");
  }

  /** Asks the daemon for something that it makes durable; a refusal or no answer promises nothing. */
  async wish(turn: number): Promise<void> {
    if (turn % 2 === 1 && turn < 2 * MAX_OPENED) {
      const made = await this.home.ask("terminal.new", this.home.wish(`t${turn}`, ["sleep", "1000"]));
      if (made?.ok === true) this.acknowledged.push(made.value.id);
      return;
    }
    this.name.asked += 1;
    const renamed = await this.home.ask("terminal.rename", { id: this.id, name: `n${this.name.asked}` });
    if (renamed?.ok === true) this.name.promised = this.name.asked;
  }

  close(): void {
    rmSync(this.trace, { recursive: true, force: true });
  }
}

/** What makes the victim do something: requests, a daemon that dies, output. */
async function provoke(site: Site, victim: Victim, injection: Injection): Promise<void> {
  if (victim === "watchdog") killIfThere(site.pidOf(DAEMON_LOCK) ?? 0);
  if (victim !== "daemon") return void (await hitOrQuiet(site, injection));
  for (let turn = 0; turn < MAX_WISHES && injection.hits.length === 0; turn += 1) await site.wish(turn);
}

/** A holder prints ten times a second, and a watchdog starts a daemon within one: a fault that can fire has fired. */
async function hitOrQuiet(site: Site, injection: Injection): Promise<void> {
  const began = performance.now();
  await until(
    "the fault fired, or everything was done",
    () => injection.hits.length > 0 || performance.now() - began > amount(2_000, 4_000),
    () => site.home.text("said"),
  );
}

/** Returns the call that failed; undefined if there was none (DF4). */
async function tryOne({ victim, what }: Case): Promise<string | undefined> {
  const site = new Site();
  try {
    await site.begin();
    const before = await site.home.is(site.id, "running");
    const daemon = site.pidOf(DAEMON_LOCK) ?? 0;
    const pid = { daemon, watchdog: site.pidOf(WATCHDOG_LOCK) ?? 0, holder: before.holder }[victim];
    const injection = await Injection.into(pid, what, join(site.trace, "trace"));
    await provoke(site, victim, injection).finally(() => injection.end());
    const [hit] = injection.hits;
    await verify(site, { before, daemon, broke: isBrokenLog(hit) });
    return hit;
  } finally {
    site.close();
  }
}

/** The log never goes on after a failed sync, neither of the write-ahead log nor of a session's own. */
function isBrokenLog(hit: string | undefined): boolean {
  return hit !== undefined && /f(?:data)?sync\(\d+<[^>]*(?:\.wal|\/events\.jsonl)>.* E[A-Z]+ /.test(hit);
}

type Before = { readonly before: { readonly pid: number; readonly holder: number }; readonly daemon: number };

async function verify(site: Site, { before, daemon, broke }: Before & { readonly broke: boolean }): Promise<void> {
  await site.live(broke ? daemon : undefined); // DF3
  const listed = await site.home.must("terminal.list", {});
  expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining([site.id, ...site.acknowledged])); // DF1
  const { name, state } = await site.home.listed(site.id);
  expect(Number(name.slice(1))).toBeGreaterThanOrEqual(site.name.promised); // DF1
  expect(Number(name.slice(1))).toBeLessThanOrEqual(site.name.asked);
  if (!isGone(before.holder)) expect(state).toMatchObject({ kind: "running", pid: before.pid }); // DF2
  for (const id of [site.id, ...site.acknowledged]) await site.home.is(id, "running");
  const renamed = () => site.home.ask("terminal.rename", { id: site.id, name: "after" });
  await until("it takes requests, as after a full disk within a second", async () => (await renamed())?.ok, renamed);
}

/** DF5 */
const DIAGNOSED_MS = 10_000;
const STAYING: readonly (readonly [calls: string, code: string])[] = [
  ["fdatasync", "EIO"],
  ...["EROFS", "ENOSPC", "EDQUOT"].map((code) => ["pwrite64", code] as const),
  ...["EIO", "EROFS", "EDQUOT"].map((code) => ["mkdir", code] as const),
  ["fsync", "EIO"],
  ["rename", "EROFS"],
];

async function cliOf(site: Site, ...words: readonly string[]) {
  const env = { PATH: "/usr/bin:/bin", HOME: site.home.path, HOLDFAST_CONFIG: site.home.file("none") };
  const command = [...ours("src/cli/main.ts"), ...words, "--home", site.home.path, "--json"];
  const child = Bun.spawn(command, { env, stdio: ["ignore", "pipe", "ignore"] });
  const [out, code] = await Promise.all([child.stdout.text(), child.exited]);
  return { code, found: JSON.parse(out) };
}

/** DF5 */
async function isDiagnosed(site: Site, before: number, code: string): Promise<boolean> {
  const status = await cliOf(site, "status");
  if (status.found.recovery.stage === "LIVE" && status.found.daemon.pid !== before) return true;
  if (status.code !== 1 || status.found.disk?.code !== code) return false;
  return (await cliOf(site, "doctor")).code === 1;
}

async function tryStaying([calls, code]: readonly [string, string]): Promise<void> {
  const site = new Site();
  try {
    await site.begin();
    const before = site.pidOf(DAEMON_LOCK) ?? 0;
    const injection = await Injection.into(before, `${calls}:error=${code}:when=1+`, join(site.trace, "trace"));
    try {
      await provoke(site, "daemon", injection);
      expect(injection.hits).not.toEqual([]);
      const look = () => isDiagnosed(site, before, code);
      await until("it is diagnosed, or replaced", look, () => cliOf(site, "status"), DIAGNOSED_MS);
    } finally {
      await injection.end();
    }
    await until(
      "all is well",
      async () => (await cliOf(site, "status")).code === 0,
      () => cliOf(site, "status"),
    );
    await site.live();
  } finally {
    site.close();
  }
}

test.skipIf(!straceWorks.ok).each(sampleOf(STAYING, STAYING.length, 3).map(([calls, code]) => ({ calls, code })))(
  "%o at every call: status and doctor report it within ten seconds, or the next daemon works (needs strace)",
  ({ calls, code }) => tryStaying([calls, code]),
  MINUTES,
);

let fired = 0;

test.skipIf(!straceWorks.ok).each(SAMPLE)(
  "%o: what was acknowledged is there, its program runs on, and Holdfast is live again (needs strace)",
  async (one) => {
    const hit = await tryOne(one);
    if (hit !== undefined) fired += 1;
    console.error(`${one.victim}, ${one.what}: ${hit ?? "not reached"}`);
  },
  MINUTES,
);

test.skipIf(!straceWorks.ok)("most of the faults fired (needs strace)", () => {
  expect(fired).toBeGreaterThan(SAMPLE.length * amount(0, 0.6)); // DF4
});
