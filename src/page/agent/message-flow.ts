// The messages that were sent to agents while the page was open, the newest first.
// MF1. Only the last are kept, and of each only its first line, cut.
import { signal } from "@preact/signals";
import { type NoticedMessage, noticedMessage } from "../../wire/page/notices.ts";
import type { Notice } from "../../wire/rpc/rpc.ts";
import { listen } from "../state/session.ts";

const KEPT = 50;
const LENGTH = 200;

export const flow = signal<readonly NoticedMessage[]>([]);

/** MF1 */
export function withMessage(before: readonly NoticedMessage[], notice: Notice): readonly NoticedMessage[] {
  const message = noticedMessage(notice);
  if (message === undefined || before.some(({ id }) => id === message.id)) return before;
  const [line = ""] = message.text.trim().split("\n");
  return [{ ...message, text: line.slice(0, LENGTH) }, ...before].slice(0, KEPT);
}

let isFollowed = false;

/** From the first time that agents are looked at, as long as the page is open. */
export function followMessages(): void {
  if (isFollowed) return;
  isFollowed = true;
  listen((notice) => {
    flow.value = withMessage(flow.peek(), notice);
  });
}
