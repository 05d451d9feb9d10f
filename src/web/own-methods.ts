// What the host answers itself, from the disk: also while the daemon is down.
// OM1. Safe mode is shown even then: that is when people look. A daemon that answers knows better.
// OM2. Turning the tunnel off and on is a file that the tunnel looks at with each heartbeat (WT1).
import { isId } from "../base/ids.ts";
import { ok, type Result, refused } from "../base/result.ts";
import type { Fate } from "../core/recovery.ts";
import type { AttachView } from "../core/terminal/screen.ts";
import type { DaemonLink } from "../home/daemon-link.ts";
import { sightOf } from "../home/held/attach-view.ts";
import { attemptEvidence } from "../home/held/attempt-evidence.ts";
import { readSpec, terminalFiles } from "../home/held/holder-files.ts";
import { readLastCrash } from "../home/last-crash.ts";
import { readReport, reportNames } from "../home/reports.ts";
import { offTexts, readSafeMode, safeModeOff } from "../home/safe-mode.ts";
import { readEnrolment, writeTunnelWanted } from "../home/tunnel-files.ts";
import { type TunnelViewWorld, tunnelView } from "../home/tunnel-view.ts";
import { fitting } from "../wire/check.ts";
import { side } from "../wire/holder/protocol.ts";
import {
  ATTEMPT,
  type AttemptEvidence,
  type ReportSummary,
  type SafeModeView,
  TURN,
  type WebMethods,
  type WebReports,
  type WebState,
} from "../wire/page/messages.ts";
import { flag, nullable, object, text } from "../wire/shape.ts";
import type { Disk } from "../world/disk.ts";
import { within } from "../world/wait.ts";
import { bugReport } from "./bug-report.ts";
import { type DoctorWorld, doctorChecks } from "./doctor.ts";
import { fleetView } from "./fleet.ts";
import type { FleetWorld } from "./fleet-reader.ts";
import { type HealthWorld, healthOf } from "./health.ts";
import { newAgent, newTerminal } from "./new-programs.ts";
import { once } from "./once.ts";
import { checkpointsOf, startRun, workflowForm } from "./workflows.ts";

/** Longer than any healthy answer, shorter than a person's patience. */
const PATIENCE_MS = 2_000;
const SLOW = "The daemon does not answer. The watchdog starts it again if it stays silent.";

const SCREEN = object({ terminal: text, cols: side, rows: side });
const SAFE_MODE = object({ safeMode: object({ active: flag, reason: nullable(text) }) });

/** Several pages may ask at the same time. */
const DOCTOR_MS = 2_000;

export type OwnWorld = HealthWorld & DoctorWorld & TunnelViewWorld & FleetWorld;

type Answer = (params: object, link: DaemonLink) => Promise<Result<unknown>>;

export function ownMethods(world: OwnWorld): Readonly<Record<keyof WebMethods, Answer>> {
  const health = healthOf(world);
  const fleet = fleetView(world);
  const doctor = once(world.clock, DOCTOR_MS, () => doctorChecks(world));
  return {
    "web.state": async (_, link) => ok(await stateOf(world, link)),
    "web.screen": (params) => screenOf(world, params),
    "web.new": (params, link) => newTerminal(world, params, link),
    "web.new-agent": (params, link) => newAgent(world, params, link),
    "web.fleet": fleet.list,
    "web.fleet-home": fleet.home,
    "web.reports": async () => ok(reportsOf(world)),
    "web.bundle": async () => ok({ text: await bugReport(world, reportsOf(world)) }),
    "web.evidence": async (params) => evidenceOf(world, params),
    "web.workflow": (params) => workflowForm(world, params),
    "web.run": (params, link) => startRun(world, params, link),
    "web.checkpoints": (params) => checkpointsOf(world, params),
    "web.health": async () => ok(await health.now()),
    "web.usage": async () => ok(await health.usage()),
    "web.doctor": doctor,
    "web.tunnel": async () => ok(tunnelView(world, world.home)),
    "web.turn-tunnel": (params) => turnTunnel(world, params),
  };
}

/** OM2 */
async function turnTunnel(world: OwnWorld, params: object): Promise<Result<unknown>> {
  const given = fitting(TURN, params);
  if (given === undefined) return refused("bad-params", "The tunnel is turned on or off.", "Reload the page.");
  if (readEnrolment(world.disk, world.home) === undefined)
    return refused("not-enrolled", "This home is not enrolled at a relay.", "holdfast tunnel enroll RELAY TOKEN");
  await writeTunnelWanted(world.disk, world.home, given.wanted);
  return ok(tunnelView(world, world.home));
}

async function stateOf({ disk, clock, home }: OwnWorld, link: DaemonLink): Promise<WebState> {
  const answer = link.state.up ? await within(clock, PATIENCE_MS, link.call("status", {})) : undefined;
  const told = answer?.ok === true ? fitting(SAFE_MODE, answer.value)?.safeMode : undefined;
  const why = answer?.ok === false ? answer.error.message : link.state.up ? SLOW : link.state.why;
  const daemon = answer?.ok === true ? { up: true, why: "" } : { up: false, why };
  return { at: new Date(clock.now()).toISOString(), daemon, safeMode: safeModeView(disk, home, told) };
}

/** OM1 */
function safeModeView(
  disk: Disk,
  home: string,
  told: { readonly active: boolean; readonly reason: string | null } | undefined,
): SafeModeView {
  const file = readSafeMode(disk, home);
  if (!(told?.active ?? file.active)) return { active: false };
  return {
    active: true,
    reason: told?.reason ?? (file.active ? file.reason : "The reason is not on record."),
    off: offTexts(safeModeOff(disk, home)),
    leave: "holdfast safe-mode exit",
    report: "holdfast recovery report",
  };
}

async function screenOf({ disk, home }: OwnWorld, params: object): Promise<Result<AttachView>> {
  const given = fitting(SCREEN, params);
  const id = given?.terminal ?? "";
  const spec = isId(id) ? readSpec(terminalFiles(disk, home, id)) : undefined;
  if (given === undefined || spec === undefined)
    return refused("no-terminal", "There is no such terminal.", "`holdfast ls` lists them.");
  const { cols, rows } = given;
  // How it was restored is known to the daemon alone. Without it, a screen from before that is not used.
  return ok(await sightOf(disk, home, { id, generation: spec.generation, restored: undefined }, { cols, rows }));
}

function evidenceOf(world: OwnWorld, params: object): Result<AttemptEvidence | null> {
  const given = fitting(ATTEMPT, params);
  if (given === undefined) return refused("bad-params", "This is not an attempt.", "Reload the page.");
  return ok(attemptEvidence(world, given) ?? null);
}

function reportsOf({ disk, home }: OwnWorld): WebReports {
  const crashes = readLastCrash(disk, home)?.history ?? [];
  const reports = reportNames(disk, home).flatMap((name) => summaryOf(disk, home, name) ?? []);
  return { reports: reports.reverse(), crashes: crashes.toReversed() };
}

function summaryOf(disk: Disk, home: string, name: string): ReportSummary | undefined {
  const report = readReport(disk, home, name);
  if (report === null) return undefined;
  const fates: Partial<Record<Fate, number>> = {};
  for (const { fate } of report.items) fates[fate] = (fates[fate] ?? 0) + 1;
  const { at, cause, from, tookMs } = report;
  return { name, at, cause, ...(from !== undefined && { from }), tookMs, fates };
}
