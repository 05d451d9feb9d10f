// Whether this browser is called when a prompt waits: its own subscription at its push service, and the home's record
// of it. Both are needed, and the page keeps them the same.
// CA1. A browser of the home's own machine keeps its token for its service worker while it is called, and not longer
//      (SY1 of state/stored-way.ts).
// CA2. Browsers change subscriptions, and homes lose them: each time the page starts, it tells the home again.
// CA3. A push service that does not answer is given up: browsers wait for it forever.
import { signal } from "@preact/signals";
import { ok, type Result, refused } from "../../base/result.ts";
import type { NotifyStatus } from "../../wire/rpc/rpc.ts";
import { after, isRemote, isTouchApple, readToken, worker } from "../browser.ts";
import { thisDevice } from "../state/rights.ts";
import { call } from "../state/session.ts";
import { storeToken } from "../state/stored-way.ts";

export type Calling =
  | { readonly kind: "looking" }
  /** `why`: what a person can do about it. */
  | { readonly kind: "impossible"; readonly why: string }
  | { readonly kind: "off" | "on" };

export const calling = signal<Calling>({ kind: "looking" });
/** Of the home. */
export const calls = signal<NotifyStatus | undefined>(undefined);

/** CA3 */
const SUBSCRIBE_MS = 20_000;
const WHY = {
  apple:
    "On an iPhone or iPad, add this page to the home screen first (Share, then Add to Home Screen), and open it there.",
  noPush:
    "This browser cannot be called: it has no Web Push, or not for a page like this one (a private window, or no HTTPS).",
  blocked: "This browser blocks notifications of this page. Allow them in its settings for this page, then reload.",
};
const NO_SERVICE = refused(
  "no-push-service",
  "The browser's push service does not answer.",
  "Check its network, and whether the browser's settings allow push messages.",
);
const BLOCKED = refused("blocked", "The browser was not allowed to show notifications.", WHY.blocked);

let registration: ServiceWorkerRegistration | undefined;

/** Once the host has answered: installs the worker, and finds out how things are. */
export async function startCalling(): Promise<void> {
  registration ??= await worker.install();
  const found = await registration?.pushManager?.getSubscription();
  if (found) await tellHome(found); // CA2
  await look();
}

/** How things are at the home, and here. */
export async function look(): Promise<void> {
  const status = await call("notify.status", {});
  if (status.ok) calls.value = status.value;
  calling.value = await found();
}

async function found(): Promise<Calling> {
  if (registration === undefined || !worker.canCall())
    return { kind: "impossible", why: isTouchApple() ? WHY.apple : WHY.noPush };
  if (worker.permission() === "denied") return { kind: "impossible", why: WHY.blocked };
  const here = await registration.pushManager.getSubscription();
  const there = calls.value?.targets.some(({ device }) => device !== null && device === thisDevice.value);
  return { kind: here !== null && there === true ? "on" : "off" };
}

export async function turnOn(): Promise<Result<unknown>> {
  if (registration === undefined) return BLOCKED;
  if ((await worker.askPermission()) !== "granted") return BLOCKED;
  const key = await call("push.key", {});
  if (!key.ok) return key;
  const made = await subscription(registration.pushManager, Uint8Array.fromBase64(key.value.key, URL_SAFE));
  if (!made.ok) return made;
  const done = await tellHome(made.value);
  await look();
  return done;
}

export async function turnOff(): Promise<Result<unknown>> {
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  await storeToken(undefined); // CA1
  const done = await call("push.unsubscribe", {});
  await look();
  return done;
}

async function tellHome(made: PushSubscription): Promise<Result<unknown>> {
  const { p256dh = "", auth = "" } = made.toJSON().keys ?? {};
  const done = await call("push.subscribe", { endpoint: made.endpoint, p256dh, auth });
  if (done.ok && !isRemote) await storeToken(readToken()); // CA1
  return done;
}

const URL_SAFE = { alphabet: "base64url" } as const;

/** A subscription that belongs to another key, of an earlier home, is replaced. */
async function subscription(manager: PushManager, key: Uint8Array<ArrayBuffer>): Promise<Result<PushSubscription>> {
  const late = Promise.withResolvers<undefined>();
  const cancel = after(SUBSCRIBE_MS, () => late.resolve(undefined)); // CA3
  try {
    const before = await manager.getSubscription();
    const isOurs = new Uint8Array(before?.options.applicationServerKey ?? []).toHex() === key.toHex();
    if (before !== null && isOurs) return ok(before);
    await before?.unsubscribe();
    const made = manager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const first = await Promise.race([made, late.promise]);
    return first === undefined ? NO_SERVICE : ok(first);
  } catch (error) {
    if (error instanceof DOMException) return NO_SERVICE;
    throw error;
  } finally {
    cancel();
  }
}
