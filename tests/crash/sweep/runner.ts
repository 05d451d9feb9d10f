// One point of the sweep: a call of one program fails while the home is used.
// FR1. Within ten seconds everything works (`FaultSite.isWell`); or `status` and `doctor` fail and give the next
//      command. Once the fault is gone, everything works again, if need be after that command.
// FR2. If the watchdog and the daemon are both gone, the next command starts them.
// FR3. What strace wrote proves that the fault fired.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { killIfThere, readProc } from "../../daemon/home.ts";
import { PATIENCE_MS, until } from "../../until.ts";
import type { FaultSite } from "./site.ts";
import { injectionOf, type Point } from "./table.ts";

/** FR1, as much longer as the machine is busier. */
const TEN_SECONDS_MS = PATIENCE_MS / 3;
/** A holder that hangs is replaced after twenty seconds. */
const AFTER_MS = PATIENCE_MS;

const STRACE = Bun.which("strace") ?? "strace";
const QUIET_MS = 2_000;
const LOOK_MS = 100;
const STEADY_MS = 1_500;

export type Tried = { readonly point: Point; readonly hit: string | undefined; readonly violation: string | undefined };

export async function tryPoint(site: FaultSite, point: Point): Promise<Tried> {
  const trace = join(site.scratch, `trace-${site.wishes.next()}`);
  const said = site.home.text("said").length;
  let violation: string | undefined;
  site.wishes.mayBeLost = point.program === "holder" && point.fault === "signal=KILL";
  try {
    await arm(site, point, trace);
    await provoke(site, point);
    if (point.program === "holder" && point.moment === "working") await hitOrQuiet(trace);
    await rightSoon(site, point.stays);
    disarm(site, point);
    await wellSoon(site);
  } catch (error) {
    violation = `${error instanceof Error ? error.message : error}`;
  } finally {
    disarm(site, point);
  }
  const hit = hitIn(trace);
  if (violation !== undefined) violation += `\n${hit}\n${site.home.text("said").slice(said).slice(-2500)}`;
  return { point, hit, violation };
}

/** FR1 */
async function rightSoon(site: FaultSite, stays: boolean): Promise<void> {
  const began = performance.now();
  const isLate = () => performance.now() - began > TEN_SECONDS_MS / 2;
  const isRight = async () => {
    site.startIfGone(); // FR2
    return (await site.isWell()) || ((stays || isLate()) && (await site.isDiagnosed()));
  };
  await soon("it works, or it is diagnosed", isRight, site);
}

/** FR1 */
async function wellSoon(site: FaultSite): Promise<void> {
  const isWell = async () => {
    site.startIfGone(); // FR2
    await site.repair();
    return site.isWell();
  };
  await soon("it works again", isWell, site, AFTER_MS);
}

/** Within ten seconds. Commands take long: unlike `until`, it does not look less and less often. */
async function soon(
  fact: string,
  look: () => Promise<boolean>,
  site: FaultSite,
  limitMs = TEN_SECONDS_MS,
): Promise<void> {
  const began = performance.now();
  while (!(await look())) {
    if (performance.now() - began > limitMs) throw new Error(`not true in time: ${fact}: ${await site.seen()}`);
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
}

async function provoke(site: FaultSite, { program, moment }: Point): Promise<void> {
  if (program === "screen") return site.draw(moment === "starting");
  if (program === "daemon" && moment === "starting") return killIfThere(site.pidOf("daemon") ?? 0);
  if (program === "watchdog") return killIfThere(site.pidOf(moment === "starting" ? "watchdog" : "daemon") ?? 0);
  if (program === "web" && moment === "starting") await killSteady(site.pidOf("web") ?? 0);
}

/** One that dies again and again is started later and later, unless it was live for a second. */
async function killSteady(pid: number): Promise<void> {
  const bornAt = statSync(`/proc/${pid}`).ctimeMs;
  const ageMs = () => Date.now() - bornAt;
  await until("it has been live for a second", () => ageMs() > STEADY_MS, ageMs);
  killIfThere(pid);
}

/** It prints ten times a second: a fault that can fire has fired. */
async function hitOrQuiet(trace: string): Promise<void> {
  const began = performance.now();
  const isOver = () => hitIn(trace) !== undefined || performance.now() - began > QUIET_MS;
  await until("the fault fired, or everything was done", isOver, () => trace);
}

/** Ends what traces a process of this home. */
function disarm(site: FaultSite, { program }: Point): void {
  rmSync(site.home.file(`early-${program}.json`), { force: true });
  const tracers = readdirSync("/proc").filter(
    (pid) =>
      /^\d+$/.test(pid) &&
      readProc(pid, "cmdline").startsWith(STRACE) &&
      readProc(pid, "cmdline").includes(site.scratch),
  );
  for (const pid of tracers) killIfThere(Number(pid), "SIGTERM");
}

/** FR3 */
function hitIn(trace: string): string | undefined {
  if (!existsSync(trace)) return undefined;
  return readFileSync(trace, "utf8")
    .split("\n")
    .find((line) => line.includes("(INJECTED)") || line.includes("killed by SIGKILL"));
}
