// What the service worker shows for a message, and what it remembers of those before. Pure.
// NW1. One notification for each tag: what comes again replaces itself, without a sound.
// NW2. No question after its end, in whatever order a push service delivers them: the end is shown again instead.
// NW3. Every message shows something: browsers take the permission away from pages that are pushed to silently.
// NW4. Buttons only if the home offers them: then all of the input is in the notification.
import type { Message } from "../../core/notify/message.ts";
import type { ShownOptions } from "./scope.ts";

/** An end that was shown; questions need not be remembered. */
export type Ended = { readonly tag: string; readonly title: string; readonly body: string };

export type Notice = { readonly title: string; readonly options: ShownOptions };

/** More than are open at once (NW2); the oldest go first. */
const MAX_ENDED = 200;
const BUTTONS = { allow: "Allow", deny: "Deny" };

/** What is known from the vault: it may be anything. */
export function endedIn(stored: unknown): readonly Ended[] {
  return Array.isArray(stored) ? stored.filter(isEnded) : [];
}

function isEnded(value: unknown): value is Ended {
  const isText = (name: string) =>
    typeof value === "object" &&
    value !== null &&
    typeof Object.entries(value).find(([key]) => key === name)?.[1] === "string";
  return ["tag", "title", "body"].every(isText);
}

/** The ends from now on; the same list if nothing is new. */
export function endedAfter(before: readonly Ended[], { kind, tag, title, body }: Message): readonly Ended[] {
  if (kind !== "end") return before;
  return [...before.filter((one) => one.tag !== tag), { tag, title, body }].slice(-MAX_ENDED);
}

export function noticeOf(message: Message | undefined, ended: readonly Ended[]): Notice {
  if (message === undefined) return UNKNOWN; // NW3
  const { kind, tag, title, body, prompt, actions } = message;
  const end = ended.find((one) => one.tag === tag);
  if (kind !== "question" || end !== undefined) return quiet(tag, end ?? { title, body }, prompt?.id); // NW2
  const buttons = actions.map((action) => ({ action, title: BUTTONS[action] })); // NW4
  const options = { ...shown(tag, body, prompt?.id), requireInteraction: true, actions: buttons };
  return { title, options };
}

/** Without a sound: nobody has to do anything. */
export function quiet(tag: string, { title, body }: Pick<Ended, "title" | "body">, prompt: string | undefined): Notice {
  return { title, options: { ...shown(tag, body, prompt), silent: true } };
}

function shown(tag: string, body: string, prompt: string | undefined): ShownOptions {
  return { tag, body, icon: "icon-192.png", badge: "icon-192.png", data: { prompt: prompt ?? null } }; // NW1
}

const UNKNOWN: Notice = {
  title: "Holdfast",
  options: shown("unknown", "Something is new. Open the page to see it.", undefined),
};
