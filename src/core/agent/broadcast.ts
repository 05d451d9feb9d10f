// A broadcast: one text to all siblings of an agent.
// BC1. If all copies fit into one transaction, they are delivered with the answer of the call. Otherwise the text is
//      accepted, once, in the sender's log, with those it is for, and passed on in as many transactions as needed. An
//      answered broadcast is durable either way: after a crash the effect `pass-on` continues with those that are left.
// BC2. A recipient is taken off the list in the transaction that gives it the message: it gets it once.
// BC3. What was accepted is passed on, even if an inbox is full by then or the sender has ended; recipients that have
//      ended get nothing.

import { type Refusal, refused } from "../../base/result.ts";
import { sizeOf } from "../workflow/limits.ts";
import type { Agent } from "./agent.ts";
import type { Draft } from "./draft.ts";
import { MAX_BROADCAST, MAX_BROADCAST_TEXT, MAX_BROADCASTS, MAX_COPIES, MAX_PAYLOAD } from "./limits.ts";
import { deliver, whyNot } from "./messages.ts";
import { siblingsOf } from "./tree.ts";

/** The names of those that get it, and of those whose inbox is full. */
type Reached = { readonly to: readonly string[]; readonly not_to: readonly string[] };

export function broadcast(draft: Draft, agent: Agent, call: string, payload: string): Reached | Refusal {
  if (payload.length > MAX_PAYLOAD || sizeOf(payload) > MAX_BROADCAST_TEXT) return TOO_LARGE;
  const siblings = siblingsOf(draft.tree, agent).map((id) => draft.agent(id));
  const open = siblings.filter((sibling) => whyNot(sibling, { payload }) === undefined);
  const recipients = open.map(({ id }) => id);
  if (recipients.length <= copiesOf(payload)) copy(draft, agent, { call, payload, recipients });
  else if (agent.broadcasts.length >= MAX_BROADCASTS) return TOO_MANY;
  else draft.add(agent.id, { event: "broadcast.accepted", data: { call, payload, recipients, at: draft.at } }); // BC1
  const failed = siblings.filter((sibling) => !open.includes(sibling));
  return { to: open.map(({ name }) => name), not_to: failed.map(({ name }) => name) };
}

/** The next copies of the oldest broadcast that was accepted. */
export function passOn(draft: Draft, agent: Agent): undefined {
  const [first] = agent.broadcasts;
  if (first === undefined) return;
  const { call, payload } = first;
  const recipients = first.recipients.slice(0, copiesOf(payload));
  copy(draft, agent, { call, payload, recipients });
  draft.add(agent.id, { event: "broadcast.passed", data: { call, count: recipients.length, at: draft.at } }); // BC2
}

/** How many copies one transaction takes. */
function copiesOf(payload: string): number {
  return Math.min(MAX_COPIES, Math.max(1, Math.floor(MAX_BROADCAST / sizeOf(payload))));
}

function copy(draft: Draft, agent: Agent, { call, payload, recipients }: Agent["broadcasts"][number]): void {
  for (const id of recipients) {
    const recipient = draft.live(id); // BC3
    const ids = draft.callIds(agent, "broadcast", call, id);
    if (recipient !== undefined)
      deliver(draft, recipient, { ...ids, from: agent, kind: "broadcast", payload, relation: "sibling" });
  }
}

const TOO_LARGE = refused("too-large", "The text is too long.", "Write it to a file, and send the path.").error;
const TOO_MANY = refused("busy", "Earlier broadcasts are still being delivered.", "Try again later.").error;
