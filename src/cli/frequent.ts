// The frequent commands, each from a bundle of its own (scripts/quick-parts.ts): program.ts without what only others
// need, which starts in half the time. All else runs from the whole program.
import type { Quick } from "../world/built.ts";

export const FREQUENT: ReadonlyMap<string, Quick> = new Map([
  ["ls", "quick-ls"],
  ["send", "quick-send"],
  ["tail", "quick-send"],
  ["attach", "quick-attach"],
  ["new", "quick-new"],
  ["status", "quick-status"],
  ["prompts", "quick-prompts"],
  ["answer", "quick-prompts"],
  ["completions", "quick-complete"],
  ["__complete", "quick-complete"],
]);
