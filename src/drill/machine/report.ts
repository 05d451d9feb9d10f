// The output of a machine drill: every crash with what it killed and what came back, and the totals; as JSON in the
// shape
// that other programs rely on, with the screens added.
import { timesOf, timesText } from "../report.ts";
import type { Crash, MachineDrill, MachinePlan } from "./drill.ts";

/** `home` is given if it was kept. */
export function machineJson(drill: MachineDrill, plan: MachinePlan, home: string | undefined) {
  const { lost, doubled, orphans, violations } = drill.findings;
  return {
    seed: plan.seed,
    kills: drill.crashes.length,
    lost,
    doubled,
    orphans,
    liveMs: timesOf(backTimes(drill)),
    violations,
    screens: drill.screens,
    workflows: drill.workflows.sums,
    agents: drill.agents.sums,
    terminals: plan.terminals,
    crashes: drill.crashes.map(({ moment, atMs, killed, backMs }) => {
      return { moment, atMs: Math.round(atMs), killed, backMs: backMs === undefined ? null : Math.round(backMs) };
    }),
    home: home ?? null,
  };
}

function backTimes({ crashes }: MachineDrill): number[] {
  return crashes.flatMap(({ backMs }) => backMs ?? []);
}

export function crashText({ moment, atMs, killed, backMs }: Crash): string {
  const time = `${(atMs / 1000).toFixed(1)} s`.padStart(8);
  const whom = `${killed.holders} holders, ${killed.programs} programs, ${killed.ours} processes of Holdfast`;
  const back = backMs === undefined ? "down again before it was back" : `back after ${Math.round(backMs)} ms`;
  return `${time}  the machine, ${moment.padEnd(17)}${whom.padEnd(54)} ${back}`;
}

export function crashesText({ crashes }: MachineDrill): string {
  return [...crashes.map(crashText), "", ""].join("\n");
}

export function machineText(drill: MachineDrill, plan: MachinePlan, home: string | undefined): string {
  const { lost, doubled, orphans, violations } = drill.findings;
  const { equal, of } = drill.screens;
  const { runs, uncertain } = drill.workflows.sums;
  const { agents, messages, prompts } = drill.agents.sums;
  return [
    `seed ${plan.seed}: the machine went down ${drill.crashes.length} times`,
    `all terminals back: ${timesText(timesOf(backTimes(drill)))}`,
    `${equal} of ${of} screens equal before and after, cell by cell`,
    `${agents} agents; ${messages} messages acknowledged and delivered; ${prompts} prompts asked again and answered`,
    `${runs} workflow runs finished, after ${uncertain} uncertain steps were resolved`,
    `lost ${lost}, doubled ${doubled}, orphans ${orphans}`,
    ...violations.map((words) => `✗ ${words}`),
    ...(home === undefined ? [] : [`its home was kept: ${home}`]),
    "",
  ].join("\n");
}
