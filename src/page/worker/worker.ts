// The service worker: keeps the page's own files for times without a network, shows what the home pushes, and answers
// prompts by the buttons of notifications.
// SW1. It stores what it needs beside the page's own secrets, in the vault of this origin: nobody else reads that.
// SW2. Messages are taken one after the other: what is remembered of one is stored before the next is looked at.
import { plainLine } from "../../base/visible.ts";
import type { Decision } from "../../core/agent/provider.ts";
import { messageIn } from "../../wire/push/message.ts";
import { keepInVault, readVault } from "../browser.ts";
import { storedWay } from "../state/stored-way.ts";
import { answerPrompt } from "./answer.ts";
import { type Ended, endedAfter, endedIn, type Notice, noticeOf, quiet } from "./notices.ts";
import type { WorkerScope } from "./scope.ts";
import { ShellKeeper } from "./shell.ts";

declare const self: WorkerScope;
/** From world/real/page-build.ts. */
declare const SHELL: string;

const ENDED = "ended";
const keeper = new ShellKeeper(JSON.parse(SHELL), self.registration.scope);

self.addEventListener("install", (event) => {
  event.waitUntil(keeper.keep());
  void self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  event.waitUntil(Promise.all([keeper.forgetOthers(), self.clients.claim()]));
});

self.addEventListener("fetch", (event) => {
  if (keeper.isOurs(event.request)) event.respondWith(keeper.answer(event.request));
});

let last: Promise<unknown> = Promise.resolve();

/** SW2 */
function inTurn(work: () => Promise<void>): Promise<void> {
  const next = last.then(work);
  last = next.catch(() => undefined); // Its own caller gets the error.
  return next;
}

self.addEventListener("push", (event) => {
  const message = messageIn(event.data?.text() ?? "");
  const take = async () => {
    const before = await ends();
    const after = message === undefined ? before : endedAfter(before, message);
    if (after !== before) await keepInVault(ENDED, after);
    await show(noticeOf(message, after));
  };
  event.waitUntil(inTurn(take));
});

/** A browser that keeps nothing shows messages as they come. */
async function ends(): Promise<readonly Ended[]> {
  return endedIn(await readVault(ENDED));
}

function show({ title, options }: Notice): Promise<void> {
  return self.registration.showNotification(title, options);
}

self.addEventListener("notificationclick", (event) => {
  const { notification, action } = event;
  const prompt = promptOf(notification.data);
  notification.close();
  if (prompt !== undefined && (action === "allow" || action === "deny"))
    event.waitUntil(answer(notification, prompt, action));
  else event.waitUntil(openAt(prompt));
});

function promptOf(data: unknown): string | undefined {
  const isFound = typeof data === "object" && data !== null && "prompt" in data && typeof data.prompt === "string";
  return isFound ? String(data.prompt) : undefined;
}

const DONE = { allow: "Allowed", deny: "Denied" };

/** The home's own message follows, and replaces what is shown here. */
async function answer({ tag, title }: Notification, prompt: string, decision: Decision): Promise<void> {
  const way = await storedWay();
  const done = way.ok ? await answerPrompt(way.value, prompt, decision) : way;
  const said = done.ok ? `${DONE[decision]}.` : plainLine(done.error.message);
  await inTurn(async () => {
    const end = (await ends()).find((one) => one.tag === tag);
    await show(quiet(tag, end ?? { title, body: said }, prompt));
  });
}

/** Shows the prompt in a tab that is there, or in a new one. */
async function openAt(prompt: string | undefined): Promise<void> {
  const hash = prompt === undefined ? "#/now" : `#/now/${encodeURIComponent(prompt)}`;
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const tab = tabs.find(({ focused }) => focused) ?? tabs[0];
  if (tab === undefined)
    return void (await self.clients.openWindow(new URL(`./${hash}`, self.registration.scope).href));
  tab.postMessage({ show: hash });
  await tab.focus();
}
