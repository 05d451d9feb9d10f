// What must be true once Holdfast is live again after a machine crash.
// CK1. Every terminal exists, with its name, lane, policy and recipe, and its screen is what it was.
// CK2. A terminal that is restored automatically runs in a later generation, in its directory, or if that is gone in
//      the nearest one, and its notes say so.
// CK3. A terminal that waits for a person, or is never restored, was not started.
// CK4. Nothing runs without being requested, and nothing twice: one claim for each start, and no more runs than claims.
// CK5. The report names every lost terminal, with its outcome and the age of its screen.
// CK6. No program is without a holder, and no process of ours without a lock.
import { parentOf } from "../../base/path.ts";
import { claimsOf } from "../../home/held/generations.ts";
import { terminalFiles } from "../../home/held/holder-files.ts";
import { readWhole } from "../../log/file/file.ts";
import type { ListedTerminal, Report } from "../../wire/rpc/rpc.ts";
import { ask } from "../ask.ts";
import type { Findings } from "../findings.ts";
import { until } from "../going.ts";
import { orphansAmong, processesOf, straysAmong } from "../processes.ts";
import type { Site } from "../site.ts";
import { pidsOf } from "../verify.ts";
import { listAll, type Opened } from "./opened.ts";
import { goesOn, MARK } from "./programs.ts";
import type { ScreenEye } from "./screen-eye.ts";
import { isEqual, type Shot, tapeEnd, tapeText } from "./screens.ts";

/** What is being started, or about to end, is seen a moment later. */
const SOON_MS = 15_000;
const AGE = /last output (?:\d+\.\d s|\d+ (?:min|h)) before the crash/;

export type Scene = {
  readonly site: Site;
  readonly eye: ScreenEye;
  readonly findings: Findings;
  readonly opened: readonly Opened[];
};

/** `shots`: the screens when the machine crashed. */
export async function check(scene: Scene, shots: ReadonlyMap<string, Shot>): Promise<void> {
  const { site, findings, opened } = scene;
  const listed = await listAll(site);
  const asked = await ask(site, "recovery.report", { name: null });
  const report = asked.kind === "done" ? asked.value : null;
  if (report?.cause !== "machine crash") findings.violate(`the report calls it ${report?.cause ?? "nothing"}`);
  for (const one of opened) {
    const now = listed.get(one.id);
    if (now === undefined) {
      findings.lose(1, `${one.plan.name} is gone`); // CK1
      one.equal = false;
      continue;
    }
    for (const words of [...keptWrong(one, now), ...stateWrong(one, now), ...reportWrong(one, report)]) {
      findings.violate(`${one.plan.name} (${one.plan.kind}): ${words}`);
    }
    await checkScreen(scene, one, { now, shot: shots.get(one.id) });
    await checkRuns(scene, one, now);
  }
  if (listed.size > opened.length) findings.double(listed.size - opened.length, "terminals that were never opened");
  await checkProcesses(scene);
}

/** CK1 */
function keptWrong({ plan }: Opened, now: ListedTerminal): string[] {
  const { name, lane, policy, recipe } = now;
  const was = { name: plan.name, lane: plan.lane, policy: plan.policy, argv: plan.argv, cwd: plan.cwd, env: plan.env };
  const is = { name, lane, policy, argv: recipe.argv, cwd: recipe.cwd, env: recipe.env };
  const differs = Object.entries(was).filter(([key, value]) => !same(value, Object(is)[key]));
  return differs.map(([key]) => `its ${key} is not what it was`);
}

function same(a: unknown, b: unknown): boolean {
  return sorted(a) === sorted(b);
}

function sorted(value: unknown): string {
  if (Array.isArray(value) || typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function stateWrong(one: Opened, now: ListedTerminal): string[] {
  const { plan } = one;
  const { state, restored, generation } = now;
  if (plan.policy !== "auto") {
    const waits = state.kind === "uncertain" && generation === one.generation; // CK3
    return waits ? [] : [`its policy is ${plan.policy}, but it is ${state.kind} in generation ${generation}`];
  }
  if (state.kind !== "running" || restored === undefined || generation <= one.generation) {
    return [`it is ${state.kind} in generation ${generation}, after ${one.generation}`]; // CK2
  }
  const isGone = plan.kind === "gone";
  const place = isGone ? parentOf(plan.cwd) : plan.cwd;
  const said = restored.notes.some((note) => note.includes(`${plan.cwd} is gone`));
  const wrong = [
    ...(restored.cwd === place ? [] : [`it is in ${restored.cwd}, not in ${place}`]),
    ...(said === isGone ? [] : [`its notes do not say whether ${plan.cwd} is gone`]),
  ];
  return [...wrong, ...typedWrong(one, restored)];
}

/** CK4: typed, and followed by a return only if it may be run. */
function typedWrong({ plan }: Opened, { typed, argv }: NonNullable<ListedTerminal["restored"]>): string[] {
  const runs = typed.endsWith("\r") || same(argv, plan.argv);
  if (plan.back === "ready") return runs || typed === "" ? ["its command is not ready, or was run"] : [];
  if (plan.back === "runs") return runs ? [] : ["it does not continue what it did"];
  return typed === "" && same(argv, plan.argv) ? [] : ["it is not its shell"];
}

/** CK5 */
function reportWrong({ id, plan }: Opened, report: Report | null): string[] {
  const item = report?.items.find((one) => one.what === "terminal" && one.id === id);
  if (item === undefined) return ["the report does not name it"];
  const fate = plan.policy === "auto" ? "restarted" : "needs you";
  return [
    ...(item.fate === fate ? [] : [`the report says: ${item.fate}, ${item.reason}`]),
    ...(AGE.test(item.reason) ? [] : [`the report does not say how old its screen is: ${item.reason}`]),
  ];
}

/** CK1 */
async function checkScreen(
  { site, eye, findings }: Scene,
  one: Opened,
  { now, shot }: { readonly now: ListedTerminal; readonly shot: Shot | undefined },
): Promise<void> {
  const { plan, id } = one;
  const old = plan.policy === "auto" ? (now.restored?.offset ?? 0) : tapeEnd(site, id); // CK3: nothing was added.
  const equal = shot !== undefined && old === shot.end && (await isEqual(site, eye, id, shot, old));
  if (!equal) {
    one.equal = false;
    findings.lose(1, `${plan.name} (${plan.kind}): its screen is not what it was`);
  }
  if (plan.policy !== "auto" || shot?.cells?.alternate !== true) return;
  // The content of the alternate screen stays readable.
  if (!tapeText(site, id, old).includes(MARK))
    findings.lose(1, `${plan.name}: its old screen is not above the new one`);
}

/** CK4 */
async function checkRuns({ site, findings }: Scene, one: Opened, now: ListedTerminal): Promise<void> {
  const { plan, id } = one;
  const claims = claimsOf(terminalFiles(site.world.disk, site.home, id));
  const starts = claims.filter(({ by }) => by === "holder");
  if (new Set(claims.map(({ generation }) => generation)).size !== claims.length) {
    findings.double(1, `${plan.name}: two claims for one generation`);
  }
  if (starts.length > now.generation) findings.double(1, `${plan.name} was started more often than it was restored`);
  if (plan.ran === undefined) return;
  const again = goesOn(plan) && plan.policy === "auto";
  const least = again ? one.runs + 1 : one.runs;
  await until(site.world.clock, again ? SOON_MS : 0, () => runsOf(site, one) >= least || undefined);
  const runs = runsOf(site, one);
  const most = again ? starts.length : one.runs;
  if (runs > most) findings.double(runs - most, `${plan.name} ran ${runs} times, not ${most}`);
  if (runs < least) findings.lose(least - runs, `${plan.name} ran ${runs} times, not ${least}`);
}

/** How often its program recorded that it ran. */
export function runsOf({ world }: Site, { plan }: Opened): number {
  const bytes = plan.ran === undefined ? undefined : readWhole(world.disk, plan.ran);
  return bytes === undefined ? 0 : Buffer.from(bytes).toString("utf8").split("\n").length - 1;
}

/** CK3, CK6 */
async function checkProcesses({ site, findings, opened }: Scene): Promise<void> {
  const waiting = new Set(opened.flatMap(({ id, plan }) => (plan.policy === "auto" ? [] : id)));
  const look = () => {
    const found = processesOf(site);
    const started = found.flatMap((one) => (one.kind !== "ours" && waiting.has(one.terminal) ? one.who : []));
    const strays = straysAmong(site, found).filter(({ pid }) => !isScreenProgram(site, pid));
    return { orphans: orphansAmong(found), strays, started };
  };
  const clean = () => Object.values(look()).every((some) => some.length === 0);
  if ((await until(site.world.clock, SOON_MS, () => clean() || undefined)) === true) return;
  const { orphans, strays, started } = look();
  if (orphans.length > 0) findings.orphan(orphans.length, `programs without a holder: ${pidsOf(orphans)}`);
  if (strays.length > 0) findings.violate(`processes of ours that hold no lock: ${pidsOf(strays)}`);
  if (started.length > 0) findings.violate(`started, although a person must decide: ${pidsOf(started)}`);
}

/** The daemon's screen program holds no lock, and needs none: it only reads. */
function isScreenProgram({ world }: Site, pid: number): boolean {
  return world.processes.foreground(pid)?.argv.some((word) => word.endsWith("src/screen/main.ts")) === true;
}
