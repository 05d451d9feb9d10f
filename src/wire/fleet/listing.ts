// What a home shows of itself to the other hosts of its fleet: its lists, as its daemon answers them, bounded.
// LG1. Rows are those of wire/rpc, so every fact has one form, here, at the daemon and at the page. Fields are added,
//      never changed; a row without the fields that every version has is left out, and counted.
import { check } from "../check.ts";
import { decodeLine } from "../lines.ts";
import type { ListedAgent, ListedPrompt } from "../rpc/agent.ts";
import type { BriefTerminal } from "../rpc/rpc.ts";
import type { ListedRun } from "../rpc/workflow.ts";
import { count, fullPath, type Infer, json, list, object, optional, type Shape, text } from "../shape.ts";

export type ListingRows = {
  readonly terminals: readonly BriefTerminal[];
  readonly runs: readonly ListedRun[];
  readonly agents: readonly ListedAgent[];
  /** The open ones. */
  readonly prompts: readonly ListedPrompt[];
};
export type ListingKind = keyof ListingRows;
export type Listing = ListingRows & {
  /** The ids of prompts that were closed lately: what became of one, its home says. */
  readonly closed: readonly string[];
  /** When it was made, by the clock of its host. */
  readonly at: string;
  /** Where the home is on its host, and the words by which our command is started there. */
  readonly directory: string;
  readonly command: readonly string[];
  /** Where ssh finds that host. It is in here, because what is not sealed could lead anywhere. */
  readonly ssh: string;
  /** Where a browser finds its page (core/fleet/page-address.ts), for the same reason; absent: unknown. */
  readonly page?: string | undefined;
  /** How many rows were left out, because there are too many. */
  readonly more: Readonly<Record<ListingKind, number>>;
};

const texts = list(text);
const OUTER = object({
  v: count,
  at: text,
  directory: fullPath,
  command: list(text, 1),
  ssh: text,
  page: optional(text),
  closed: list(text),
  terminals: list(json),
  runs: list(json),
  agents: list(json),
  prompts: list(json),
  more: object({ terminals: count, runs: count, agents: count, prompts: count }),
});
const TERMINAL = object({
  ...{ id: text, name: text, lane: text, createdAt: text, state: object({ kind: text }) },
  recipe: object({ argv: texts, cwd: text }),
});
const RUN = object({ id: text, name: text, state: text, startedAt: text, needs: list(json) });
const AGENT = object({ id: text, name: text, state: text, provider: text, createdAt: text, prompts: list(json) });
const PROMPT = object({ id: text, agent: text, name: text, tool: text, since: text, deadline: text, state: text });

export function encodeListing(listing: Listing): Uint8Array {
  return Buffer.from(JSON.stringify({ v: 1, ...listing }));
}

/** Undefined: a newer version has written it. */
export function parseListing(bytes: Uint8Array): Listing | undefined {
  const found = check(OUTER, decodeLine(new TextDecoder().decode(bytes)));
  if (!found.ok) return undefined;
  const { at, directory, command, ssh, closed, page, more } = found.value;
  const terminals = rowsIn<BriefTerminal>(found.value, "terminals", TERMINAL);
  const runs = rowsIn<ListedRun>(found.value, "runs", RUN);
  const agents = rowsIn<ListedAgent>(found.value, "agents", AGENT);
  const prompts = rowsIn<ListedPrompt>(found.value, "prompts", PROMPT);
  const left = {
    terminals: more.terminals + terminals.left,
    runs: more.runs + runs.left,
    agents: more.agents + agents.left,
    prompts: more.prompts + prompts.left,
  };
  const rows = { terminals: terminals.rows, runs: runs.rows, agents: agents.rows, prompts: prompts.rows };
  return { at, directory, command, ssh, closed, page, ...rows, more: left };
}

/** Undefined: a newer version has written it. */
export function promptIn(value: unknown): ListedPrompt | undefined {
  return check(PROMPT, value).ok ? (value as ListedPrompt) : undefined;
}

/** LG1 */
function rowsIn<T>(found: Infer<typeof OUTER>, kind: ListingKind, shape: Shape) {
  const all: readonly unknown[] = found[kind];
  const rows = all.filter((row) => check(shape, row).ok) as readonly T[];
  return { rows, left: all.length - rows.length };
}
