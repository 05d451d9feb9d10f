// The agent CLI in front of a terminal, typed into a shell or not: the conversation it is in, and what it does.
// AF1. Both come from the records that the program keeps, never from its screen. What they do not tell is `unknown`, or
//      left out.
// AF2. A record of the process itself is certain. A conversation of its directory is its own only if no other can be
//      (AC3 of coding-agent.ts).
import type { AgentName } from "./agent-names.ts";
import { notTaken } from "./coding-agent.ts";
import type { SeenAgent } from "./restoration.ts";

/** `waiting`: for a person to decide something. `idle`: for the next message. */
export type AgentState = "working" | "waiting" | "idle" | "unknown";

export type AgentInFront = SeenAgent & {
  readonly state: AgentState;
  /** As its own records say. */
  readonly version?: string;
};

/** A conversation on disk. */
export type Conversation = { readonly id: string; readonly state: AgentState; readonly version?: string };

export type AgentFacts = {
  readonly name: AgentName;
  /** What the process says of itself (AF2). */
  readonly own?: Conversation | undefined;
  /** What its command line names. */
  readonly named?: string | undefined;
  /** Those of its directory that were written to since it started. */
  readonly recent: readonly Conversation[];
  /** Those of other terminals. */
  readonly taken: ReadonlySet<string>;
};

export function agentInFront({ name, own, named, recent, taken }: AgentFacts): AgentInFront {
  const found =
    own ?? recent.find(({ id }) => id === named) ?? (named === undefined ? onlyOf(recent, taken) : undefined);
  if (found === undefined) return { name, ...(named !== undefined && { session: named }), state: "unknown" };
  const { id: session, state, version } = found;
  return { name, session, state, ...(version !== undefined && { version }) };
}

/** AF2 */
function onlyOf(recent: readonly Conversation[], taken: ReadonlySet<string>): Conversation | undefined {
  const left = notTaken({ known: [], recent: recent.map(({ id }) => id) }, taken).recent;
  return left.length === 1 ? recent.find(({ id }) => id === left[0]) : undefined;
}

export function sameAgent(a: AgentInFront | undefined, b: AgentInFront | undefined): boolean {
  return a?.name === b?.name && a?.session === b?.session && a?.state === b?.state;
}
