// The frequent commands, each from a bundle of its own (scripts/quick-parts.ts): program.ts without what only others
// need, which starts in half the time. All else runs from the whole program.
import type { Quick } from "../world/built.ts";

export const FREQUENT: ReadonlyMap<string, Quick> = new Map([
  ["ls", "quick-ls"],
  ["send", "quick-send"],
  ["tail", "quick-send"],
  ["attach", "quick-attach"],
  ["new", "quick-new"],
  ["new --detach", "quick-new-detached"],
  ["status", "quick-status"],
  ["prompts", "quick-prompts"],
  ["answer", "quick-prompts"],
  ["completions", "quick-complete"],
  ["__complete", "quick-complete"],
]);

const DETACHED = ["--detach", "-d", "--json"];

/** Of what comes before `--`, a `new` with one of these words never attaches, or is not plain (plain.ts). */
export function bundleFor(args: readonly string[]): Quick | undefined {
  const [first = ""] = args;
  const end = args.indexOf("--");
  const stays = first === "new" && args.slice(0, end < 0 ? args.length : end).some((word) => DETACHED.includes(word));
  return FREQUENT.get(stays ? "new --detach" : first);
}
