// One point of the sweep: a call of one program fails while the home is used.
// FR1. Within ten seconds everything works (`FaultSite.isWell`); or `status` and `doctor` fail and give the next
//      command. Once the fault is gone, everything works again, if need be after that command.
// FR2. If the watchdog and the daemon are both gone, the next command starts them.
// FR3. What strace wrote proves that the fault fired. If all works before that, the home is used a little longer.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { isGone, killIfThere, readProc } from "../../daemon/home.ts";
import { until } from "../../until.ts";
import type { FaultSite } from "./site.ts";
import { injectionOf, type Point } from "./table.ts";

/** FR1 */
export const SOON_MS = 10_000;
/** A holder that hangs is replaced after twenty seconds. */
const AFTER_MS = 30_000;
/** A machine on which more wants to run than can takes longer for everything, but not without limit. */
const MAX_BUSY = 12;

const STRACE = Bun.which("strace") ?? "strace";
const QUIET_MS = 2_000;
const LOOK_MS = 100;
const STEADY_MS = 1_500;
const DETACH_MS = 2_000;
/** FR3: how often everything is asked for once more. */
const MORE_ROUNDS = 2;

export type Tried = {
  readonly point: Point;
  readonly hit: string | undefined;
  readonly violation: string | undefined;
  /** What `status` says, if it did not heal. */
  readonly diagnosis: string | undefined;
  /** The longest time, from the fault on, in which it neither worked nor was diagnosed. */
  readonly tookMs: number;
};

type Right = Pick<Tried, "diagnosis" | "tookMs">;

export async function tryPoint(site: FaultSite, point: Point): Promise<Tried> {
  const trace = join(site.scratch, `trace-${site.wishes.next()}`);
  const said = site.said().length;
  let violation: string | undefined;
  let right: Right = { diagnosis: undefined, tookMs: 0 };
  site.wishes.mayBeLost = point.program === "holder" && point.fault === "signal=KILL";
  try {
    await arm(site, point, trace);
    await provoke(site, point);
    right = await rightSoon(site, point.stays, trace);
    for (let round = 0; round < MORE_ROUNDS && right.diagnosis === undefined && !isHit(trace); round += 1)
      right = await rightSoon(site, point.stays, trace); // FR3
    await disarm(site, point);
    await wellSoon(site);
  } catch (error) {
    violation = `${error instanceof Error ? error.message : error}`;
  } finally {
    await disarm(site, point);
  }
  const hit = hitIn(trace);
  if (violation !== undefined) violation += `\n${hit}\n${site.said().slice(said).slice(-2500)}`;
  return { point, hit, violation, ...right };
}

/** FR1. What a fault that passes leaves may still heal when it is diagnosed: that is waited for. */
async function rightSoon(site: FaultSite, stays: boolean, trace: string): Promise<Right> {
  const began = performance.now();
  const limitMs = SOON_MS * busy();
  let [isFired, isRight, diagnosis]: [boolean, boolean, string | undefined] = [false, false, undefined];
  /** When it was last right, how long it was not at most, and since when it is diagnosed. */
  let [rightAt, tookMs, diagnosedAt] = [began, 0, 0];
  const look = async () => {
    site.startIfGone(); // FR2
    const now = performance.now();
    const isWell = await site.isWell();
    if (!isFired) rightAt = now; // Before it has fired, a diagnosis may be about what we did ourselves.
    isFired ||= isHit(trace);
    diagnosis = isWell || !(isFired || now - began > limitMs / 2) ? undefined : await site.diagnosis();
    isRight = isWell || diagnosis !== undefined;
    if (isRight) [tookMs, rightAt] = [Math.max(tookMs, performance.now() - rightAt), performance.now()];
    if (diagnosis === undefined) diagnosedAt = performance.now();
    return isWell || (isRight && (stays || performance.now() - diagnosedAt > limitMs / 2));
  };
  await soon("it works, or it is diagnosed", look, site, limitMs, () => isRight);
  return { diagnosis, tookMs };
}

/** FR1 */
async function wellSoon(site: FaultSite): Promise<void> {
  const isWell = async () => {
    site.startIfGone(); // FR2
    await site.repair();
    return site.isWell();
  };
  await soon("it works again", isWell, site, AFTER_MS * busy());
}

/** At the end of a home: what was diagnosed is over. */
export async function calmSoon(site: FaultSite): Promise<void> {
  await soon("`status` and `doctor` find nothing wrong", () => site.isCalm(), site, AFTER_MS * busy());
}

/** How many times as long everything takes now. */
function busy(): number {
  return Math.min(MAX_BUSY, Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()));
}

/** Commands take long: unlike `until`, it does not look less and less often. */
async function soon(
  fact: string,
  look: () => Promise<boolean>,
  site: FaultSite,
  limitMs: number,
  mayTakeLonger = () => false,
): Promise<void> {
  const began = performance.now();
  while (!(await look())) {
    const tookMs = performance.now() - began;
    if (tookMs > limitMs && !mayTakeLonger())
      throw new Error(`not true after ${Math.round(tookMs)} ms: ${fact}: ${await site.seen()}`);
    await Bun.sleep(LOOK_MS);
  }
}

async function arm(site: FaultSite, point: Point, trace: string): Promise<void> {
  const { calls, moment, program, stays } = point;
  const words = [STRACE, "-f", "-b", "execve", "-qq", "-y", "-A", "-o", trace, "-e", `trace=${calls}`];
  words.push("-e", `inject=${injectionOf(point)}`);
  if (moment === "starting")
    return writeFileSync(site.home.file(`early-${program}.json`), JSON.stringify({ words, stays }));
  const pid = await site.working(program);
  Bun.spawn([...words, "-p", String(pid)], { stdio: ["ignore", "ignore", "ignore"] });
  await until(
    "it is traced",
    () => !readProc(pid, "status").includes("TracerPid:\t0\n"),
    () => readProc(pid, "status"),
  );
  if (program === "holder") await typeAndPrint(site, trace);
}

/** It prints ten times a second: a fault that can fire has fired. A line that its terminal took arrives as well. */
async function typeAndPrint(site: FaultSite, trace: string): Promise<void> {
  const began = performance.now();
  await site.wishes.type(site.victim);
  const isOver = () => isHit(trace) || performance.now() - began > QUIET_MS;
  await until("the fault fired, or everything was done", isOver, () => trace);
}

async function provoke(site: FaultSite, { program, moment }: Point): Promise<void> {
  if (program === "screen") return site.draw(moment === "starting");
  if (program === "daemon" && moment === "starting") return site.killDaemon();
  if (program === "watchdog" && moment === "working") return site.killDaemon();
  if (program === "watchdog") return killIfThere(site.pidOf("watchdog") ?? 0);
  if (program === "web" && moment === "starting") await killSteady(site.pidOf("web") ?? 0);
}

/** One that dies again and again is started later and later, unless it was live for a second. */
async function killSteady(pid: number): Promise<void> {
  const bornAt = statSync(`/proc/${pid}`).ctimeMs;
  const ageMs = () => Date.now() - bornAt;
  await until("it has been live for a second", () => ageMs() > STEADY_MS, ageMs);
  killIfThere(pid);
}

/** Ends what traces a process of this home. A strace that hangs when its process exits keeps that from being gone. */
async function disarm(site: FaultSite, { program }: Point): Promise<void> {
  rmSync(site.home.file(`early-${program}.json`), { force: true });
  const tracers = tracersOf(site);
  for (const pid of tracers) killIfThere(pid, "SIGTERM");
  const began = performance.now();
  while (!tracers.every(isGone) && performance.now() - began < DETACH_MS) await Bun.sleep(LOOK_MS);
  for (const pid of tracers) if (!isGone(pid)) killIfThere(pid);
}

function tracersOf(site: FaultSite): number[] {
  const isTracer = (words: string) => words.startsWith(STRACE) && words.includes(site.scratch);
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => isTracer(readProc(pid, "cmdline"))).map(Number);
}

function isHit(trace: string): boolean {
  return hitIn(trace) !== undefined;
}

/** FR3 */
function hitIn(trace: string): string | undefined {
  if (!existsSync(trace)) return undefined;
  return readFileSync(trace, "utf8")
    .split("\n")
    .find((line) => line.includes("(INJECTED)") || line.includes("killed by SIGKILL"));
}
