// The output of a drill: every kill with its result, and the totals; as JSON in the shape that other programs rely on.
import type { Drill, DrillPlan } from "./drill.ts";
import { isOfAgent, isOfDaemon, type Kill } from "./kills.ts";

export type LiveMs = { readonly median: number; readonly p95: number; readonly max: number };

/** `home` is given if it was kept. */
export function drillJson(drill: Drill, plan: DrillPlan, home: string | undefined) {
  const { lost, doubled, orphans, violations } = drill.findings;
  return {
    seed: plan.seed,
    kills: drill.kills.all.length,
    lost,
    doubled,
    orphans,
    liveMs: liveMsOf(drill.kills.all),
    violations,
    recoveringMs: liveMsOf(drill.kills.all, true),
    terminals: plan.terminals,
    seconds: plan.seconds,
    ...sums(drill),
    workflows: drill.workflows.sums,
    agents: drill.agents.sums,
    safeModeMs: drill.safeModeMs === undefined ? null : Math.round(drill.safeModeMs),
    killed: drill.kills.all.map(({ what, pids, atMs, recovering, backMs }) => {
      return {
        what,
        pids,
        atMs: Math.round(atMs),
        recovering,
        backMs: backMs === undefined ? null : Math.round(backMs),
      };
    }),
    home: home ?? null,
  };
}

function sums({ ledger }: Drill) {
  const attached = ledger.entries.map((entry) => entry.attached);
  return {
    opened: attached.length,
    lines: attached.reduce((sum, { confirmed }) => sum + confirmed.size, 0),
    bytes: attached.reduce((sum, { copy }) => sum + copy.end, 0),
  };
}

/**
 * How long it took from the SIGKILL of a live daemon until the next one was live. A daemon that was killed while it
 * recovered is counted separately: it is restarted with backoff, on purpose.
 */
export function liveMsOf(kills: readonly Kill[], recovering = false): LiveMs {
  const measured = kills.filter((kill) => isOfDaemon(kill.what) && kill.recovering === recovering);
  return timesOf(measured.flatMap(({ backMs }) => backMs ?? []));
}

export function timesOf(measured: readonly number[]): LiveMs {
  const times = measured.map(Math.round).sort((a, b) => a - b);
  const at = (share: number) => times[Math.max(0, Math.ceil(share * times.length) - 1)] ?? 0;
  return { median: at(0.5), p95: at(0.95), max: at(1) };
}

const NAMES: Readonly<Record<Kill["what"], string>> = {
  daemon: "daemon",
  watchdog: "watchdog",
  both: "watchdog and daemon",
  web: "web host",
  holder: "holder",
  agent: "agent",
  "agent holder": "holder of an agent",
};

export function killText({ what, pids, atMs, recovering, backMs }: Kill): string {
  const time = `${(atMs / 1000).toFixed(1)} s`.padStart(8);
  const whom = `${NAMES[what]} ${pids.join(" and ")}${recovering ? ", during recovery" : ""}`;
  return `${time}  ${whom.padEnd(46)} ${fateText(what, backMs)}`;
}

function fateText(what: Kill["what"], backMs: number | undefined): string {
  if (isOfAgent(what)) return "resumed after a pause";
  if (what === "holder") return "its program's end is reported as unknown";
  if (backMs === undefined) return "not waited for";
  return `${isOfDaemon(what) ? "live again" : "a new one"} after ${Math.round(backMs)} ms`;
}

export function timesText({ median, p95, max }: LiveMs): string {
  return `median ${median} ms, p95 ${p95} ms, max ${max} ms`;
}

/** Kills that were shown as they happened are not printed again. */
export function killsText(drill: Drill): string {
  return [...drill.kills.all.map(killText), "", ""].join("\n");
}

export function drillText(drill: Drill, plan: DrillPlan, home: string | undefined): string {
  const { lost, doubled, orphans, violations } = drill.findings;
  const { lines, bytes, opened } = sums(drill);
  const safe =
    drill.safeModeMs === undefined ? "" : `, and safe mode ${Math.round(drill.safeModeMs)} ms after the third`;
  const { runs, effects } = drill.workflows.sums;
  const { agents, messages, prompts } = drill.agents.sums;
  return [
    `seed ${plan.seed}: ${drill.kills.all.length} kills in ${plan.seconds} s and in a crash loop${safe}`,
    `live again: ${timesText(liveMsOf(drill.kills.all))}`,
    `killed during recovery, including the backoff: ${timesText(liveMsOf(drill.kills.all, true))}`,
    `${opened} terminals, ${plan.terminals} of them throughout; ${lines} lines confirmed; ${bytes} bytes read`,
    `${runs} workflow runs of all three modes, with ${effects} effects`,
    `${agents} agents; ${messages} messages acknowledged and delivered; ${prompts} prompts answered`,
    `lost ${lost}, doubled ${doubled}, orphans ${orphans}`,
    ...violations.map((words) => `✗ ${words}`),
    ...(home === undefined ? [] : [`its home was kept: ${home}`]),
    "",
  ].join("\n");
}
