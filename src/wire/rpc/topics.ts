// Which lists a notice of the daemon may have changed.

export type ListName = (typeof EVERYTHING)[number] | "tunnel";

/** While a recovery goes on, lists are refused: they are fetched again when its stage has changed. */
const EVERYTHING = ["terminals", "runs", "agents", "prompts", "rules", "status", "reports", "devices"] as const;

const BY_PREFIX: readonly (readonly [prefix: string, lists: readonly ListName[]])[] = [
  ["terminal.", ["terminals", "status"]],
  ["workflow.", ["runs", "status"]],
  ["recovery.progress", ["status"]],
  ["recovery.", EVERYTHING],
  ["safe-mode.", ["status", "tunnel"]],
  ["tunnel.", ["tunnel"]],
  ["crash.", ["reports"]],
  ["tmux.", []],
  ["device.", ["devices"]],
  ["rule.", ["rules"]],
  ["config.", ["rules", "status"]],
];

/** An agent's events have many names; the others say what they are about. */
const OF_AGENTS: readonly ListName[] = ["agents", "prompts", "status"];

export function listsFor(topic: string): readonly ListName[] {
  return BY_PREFIX.find(([prefix]) => topic.startsWith(prefix))?.[1] ?? OF_AGENTS;
}
