// What a person sees of a run that is followed: a line for each step that ended, and on a terminal one that lives.
// SG1. Words go to stderr. The live line is drawn over itself, and is gone when the run is over.
// SG2. Time left is what the rate so far says of the items that are left; nothing is said of what has no rate.
import type { ListedStep, ShownRun } from "../../wire/workflow-rpc.ts";
import { fit, visibleLine } from "../print.ts";
import type { Reach } from "../reach.ts";
import type { Sight } from "./follow.ts";
import { stateText } from "./rows.ts";

const CLEAR = "\r\u001b[2K";
const MARKS: Readonly<Record<ListedStep["outcome"], string>> = {
  succeeded: "done",
  failed: "FAILED",
  ignored: "failed, ignored",
  skipped: "skipped",
  kept: "kept",
};

export const NO_SIGHT: Sight = { show: async () => undefined };

export function sightOf(reach: Reach): Sight {
  const { console, clock } = reach;
  const live = console.err.tty;
  const began = clock.elapsed();
  let first: number | undefined;
  return {
    show: async (run) => {
      const lines = run.records.map((record) => `${visibleLine(stepText(record))}\n`);
      const items = run.items === null ? 0 : run.items.succeeded + run.items.failed;
      first ??= items;
      const seconds = (clock.elapsed() - began) / 1000;
      const now = live && run.state === "running" ? liveText(run, items - first, seconds) : "";
      const row = fit(visibleLine(now), console.err.columns() - 1, console.widthOf);
      const text = `${live ? CLEAR : ""}${lines.join("")}${live ? row : ""}`;
      if (text !== "") await console.err.write(text);
    },
  };
}

function stepText({ step, outcome, durationMs, message }: ListedStep): string {
  const took = outcome === "skipped" || outcome === "kept" ? "" : ` (${(durationMs / 1000).toFixed(1)} s)`;
  return `${step}: ${MARKS[outcome]}${took}${message === null ? "" : `: ${message}`}`;
}

/** SG2 */
function liveText(run: ShownRun, done: number, seconds: number): string {
  const { items } = run;
  const rate = done / Math.max(seconds, 1);
  const left = items === null ? 0 : items.total - items.succeeded - items.failed;
  const pace = done > 0 ? `, ${rate.toFixed(1)}/s, ${Math.ceil(left / rate)} s left` : "";
  const failed = items !== null && items.failed > 0 ? `, ${items.failed} failed` : "";
  return `${run.name} ${stateText(run)}${failed}${pace}, ${Math.floor(seconds)} s`;
}
