// The stages of a recovery in the words of the page, and where it is.
import { type Fate, type RecoveryStage, retriedStage, type WorkingStage } from "../../core/recovery.ts";
import type { Tone } from "../parts/frame.tsx";

type Shown = WorkingStage | "LIVE";

export const STAGE_WORDS: Readonly<Record<Shown, string>> = {
  DETECTING: "Find out",
  INVENTORYING: "Read the logs",
  RESTORING: "Bring back",
  RECONCILING: "Compare",
  LIVE: "Live",
};

const ORDER: readonly Shown[] = ["DETECTING", "INVENTORYING", "RESTORING", "RECONCILING", "LIVE"];

export type StageState = { readonly name: Shown; readonly state: "done" | "now" | "failed" | "later" };

export function stageStates(stage: RecoveryStage): StageState[] {
  const failed = retriedStage(stage);
  const at = ORDER.findIndex((name) => name === (failed ?? stage));
  return ORDER.map((name, index) => {
    if (index < at || stage === "LIVE") return { name, state: "done" };
    if (index > at) return { name, state: "later" };
    return { name, state: failed === undefined ? "now" : "failed" };
  });
}

const TONES: Readonly<Record<Fate, Tone>> = {
  ...{ "back as it was": "good", restarted: "info", "needs you": "warn", "could not": "bad" },
};

export function fateTone(fate: Fate): Tone {
  return TONES[fate];
}
