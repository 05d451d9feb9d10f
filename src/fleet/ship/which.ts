// Which files of a home other hosts get, and when. The log is not among them: its batches are in the database already.
// WH1. What opens a door of this host does not leave it: tokens of agents, everything in `run/`, and the keys of the
//      tunnel. They are made anew, or are missing, on the host that takes over.
// WH2. What says where the home is, or what a program of this host does, means nothing there.
// WH3. What belongs to the user and may be large stays: clones, worktrees, and what is outside the home. What agents
//      need of it comes as copies in `carried/` (home/outside-files.ts).
import { isLogFile } from "../../log/session/log-segments.ts";
import { isArchivedName } from "../../log/session/places.ts";

/**
 * `now`: as soon as it has changed. `tape`: its end, likewise. `snapshot`: in the rounds that make a snapshot. `log`:
 * of a session, likewise, and in an order of its own. `never`: it stays here.
 */
export type How = "now" | "tape" | "snapshot" | "log" | "never";

/** In this order. What only says more about the rest comes last. */
export const SHIPPED_ROOTS: readonly string[] = [
  ...["journals", "recovery", "agents", "terminals", "tmux", "state", "carried", "archive"],
];

const HELD = "(?:terminals/[^/]+|agents/[^/]+/processes/[^/]+|state/[^/]+/sessions/[^/]+/attempts/[^/]+)";
/** The first one that fits decides. */
const RULES: readonly (readonly [RegExp, How])[] = [
  [/\.(?:tmp|lock|sock)$/, "never"],
  [/^carried\//, "now"], // WH3
  [/^agents\/[^/]+\/token$/, "never"], // WH1
  [/^agents\/[^/]+\/claude\/(?!projects(?:\/|$))/, "never"], // WH1: it may have a login.
  [/^recovery\/(?:home|restored|taken|service|wanted|upgrade|recovery-state|last-crash)\.json$/, "never"], // WH2
  [/^recovery\/(?:reports\/|migrations|checkpoint\.before|attempts\.jsonl)/, "snapshot"],
  [new RegExp(`^${HELD}/(?:stderr-|input-)?tape$`), "tape"],
  [/\/(?:times|keyframes)$/, "never"],
  [/\/history\//, "snapshot"],
  [/^archive\//, "snapshot"],
];
/** What a writer only adds to. */
const GROWS = /\.jsonl$/;

/** Of a file or directory below the home. */
export function howOf(path: string): How {
  const names = path.split("/");
  const rule = RULES.find(([pattern]) => pattern.test(path))?.[1] ?? "now";
  if (rule === "now" && names.length > 2 && isLogFile(names.at(-1) ?? "")) return "log";
  return rule === "now" && names.some(isArchivedName) ? "snapshot" : rule;
}

const SELDOM = /^(?:archive|recovery\/(?:reports|migrations))$|\/history$/;

/** Whether a directory is looked at in every round. */
export function isLive(path: string): boolean {
  return !path.split("/").some(isArchivedName) && !SELDOM.test(path);
}

export function growsOnly(path: string): boolean {
  return GROWS.test(path);
}
