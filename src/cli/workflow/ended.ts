// The messages when a followed run has stopped, or the user has stopped following.
import { shortId } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { type Need, nextOf } from "../../core/workflow/progress.ts";
import { sessionOf } from "../../core/workflow/run.ts";
import { lastLines } from "../../home/held/attempt-tape.ts";
import { attemptPathNow } from "../../log/session/places.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import type { Exit } from "../command-world.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { steadyView } from "../log/view.ts";
import { say } from "../print.ts";
import { type Followed, follow } from "./follow.ts";
import { exitOf, failedItems, printRun } from "./rows.ts";
import { NO_SIGHT, sightOf } from "./run-view.ts";
import { attemptsIn } from "./step-attempts.ts";

/** Of a failed step's output, when a run that is followed ends. */
const MAX_LINES = 20;

export type Following = {
  readonly id: string;
  readonly json: boolean /** Steps that had ended before. */;
  readonly old: number;
};

/** Follows the run, reports how it ended, and returns that as the exit code. */
export async function followToEnd(world: DaemonCommandWorld, home: string, following: Following): Promise<Exit> {
  const { id, json, old } = following;
  const sight = json ? NO_SIGHT : sightOf(world, home, old);
  const followed = await follow(world, home, id, sight);
  await sight.end();
  if (!followed.ok) return followed;
  if (json) await printRun(world, followed.value.run);
  else {
    await showEndOfOutput(world, home, followed.value);
    await say(world.console, endText(followed.value));
  }
  return ok(followed.value.left ? 0 : exitOf(followed.value.run));
}

/** The last lines that a failed step wrote: most often they say why. */
async function showEndOfOutput(world: DaemonCommandWorld, home: string, { run, left }: Followed): Promise<void> {
  if (left || run.state !== "failed" || run.error === null) return;
  const which = { step: run.error.step, attempt: undefined, item: undefined };
  const last = attemptsIn(await steadyView(world, home), sessionOf(run), which).attempts.at(-1);
  if (last === undefined) return;
  const directory = attemptPathNow(world.disk, home, run.repo, last.attempt);
  const streams = ["stdout", "stderr"] as const;
  const lines = streams.flatMap((stream) => lastLines(world.disk, directory, stream)).slice(-MAX_LINES);
  if (lines.length === 0) return;
  await say(world.console, `the last lines of ${run.error.step}:`);
  await world.console.err.write(lines.map((line) => `    ${visibleLine(line)}\n`).join(""));
}

function endText({ run, left }: Followed): string {
  const { id, name, state } = run;
  const again = `holdfast resume ${shortId(id)}`;
  if (left) return `${name} continues; \`${again}\` follows it again.`;
  if (state === "uncertain" || state === "waiting") return needsText(run);
  if (state === "failed") return failedText(run, again);
  if (state === "done_with_failures")
    return `${name} is done with ${failedItems(run.items)}.${queueText(id)}${leftText(run)}`;
  return state === "interrupted" ? `${name} was interrupted.\n  → ${again}` : `${name} is ${state}.${leftText(run)}`;
}

function failedText({ id, name, error }: ListedRun, again: string): string {
  const { step, message } = error ?? { step: "", message: "" };
  // A step that failed before it started has no output.
  const logs = error?.exitCode == null ? "" : `\n  → holdfast logs --step ${step} ${shortId(id)}`;
  return `${name} failed: ${step}: ${message}\n  → ${again}${logs}`;
}

function queueText(id: string): string {
  const short = shortId(id);
  return `\n  → holdfast dlq ls ${short}      what failed, and why\n  → holdfast dlq retry ${short}   tries them again`;
}

/** The worktree is kept: its content belongs to the user. */
function leftText({ worktree }: ListedRun): string {
  if (worktree === null) return "";
  return `\n  → its work is in ${worktree.path} (branch ${worktree.branch}); remove it with \`git worktree remove\``;
}

/** What it needs from a person. */
export function needsText(run: ListedRun): string {
  const waiting = run.needs.filter(({ agent }) => agent !== null);
  const uncertain = run.needs.filter(({ agent }) => agent === null);
  const texts = [...(waiting.length > 0 ? [waitingText(run, waiting)] : [])];
  if (uncertain.length > 0) texts.push(uncertainText(run, uncertain));
  return texts.join("\n");
}

function waitingText({ id, name, step }: ListedRun, needs: readonly Need[]): string {
  const found = needs.flatMap((need) => [
    `${name} waits for you: step ${step} (${need.step}): ${need.why}.`,
    `  → ${nextOf(id, need)}`,
  ]);
  return [...found, `  → holdfast resume ${shortId(id)}   follows it when it continues`].join("\n");
}

function uncertainText({ id, name, step }: ListedRun, needs: readonly Need[]): string {
  const again = `holdfast resume ${shortId(id)}`;
  const found = needs.map(({ step: which, why }) => `${name} is uncertain: step ${step} (${which}): ${why}.`);
  return [
    ...found,
    "It was started, but how it ended is unknown. Look at what it did, then choose:",
    `  → ${again} --rerun     it did not happen, or may happen twice`,
    `  → ${again} --done      it happened: continue with the next step`,
    `  → ${again} --failed    it failed`,
  ].join("\n");
}
