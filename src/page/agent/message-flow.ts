// The last messages that were sent to agents, the newest first: those that the home has, and each new one as it comes.
// MF1. Only the last are kept, and of each only its first line, cut.
// MF2. None is missing and none is there twice: notices are heard before the home is asked, and it is asked again
//      whenever it is back, since nobody has sent notices meanwhile. Both know messages by their ids.
import { effect, signal } from "@preact/signals";
import { noticedMessage } from "../../wire/page/notices.ts";
import type { ListedMessage } from "../../wire/rpc/messages.ts";
import { call, canAct, listen } from "../state/session.ts";

const KEPT = 50;
const LENGTH = 200;

export const flow = signal<readonly ListedMessage[]>([]);

/** MF1, MF2. The same if nothing is new. */
export function withMessages(
  before: readonly ListedMessage[],
  more: readonly ListedMessage[],
): readonly ListedMessage[] {
  const known = new Set(before.map(({ id }) => id));
  const added = more.filter(({ id }) => !known.has(id)).map((one) => ({ ...one, text: firstLine(one.text) }));
  if (added.length === 0) return before;
  return [...added, ...before].sort((one, other) => Date.parse(other.at) - Date.parse(one.at)).slice(0, KEPT);
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.slice(0, LENGTH);
}

let isFollowed = false;

/** From the first time that agents are looked at, as long as the page is open. */
export function followMessages(): void {
  if (isFollowed) return;
  isFollowed = true;
  listen((notice) => {
    const message = noticedMessage(notice);
    if (message !== undefined) flow.value = withMessages(flow.peek(), [message]);
  });
  effect(() => {
    if (canAct.value) void load(); // MF2
  });
}

async function load(): Promise<void> {
  const answer = await call("agent.messages", { limit: KEPT });
  if (answer.ok) flow.value = withMessages(flow.peek(), answer.value);
}
