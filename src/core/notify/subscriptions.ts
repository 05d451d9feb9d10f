// The browsers that want to be called (Web Push), each with the address and the keys that its push service gave it.
// SB1. A browser has one subscription: a new one replaces it. It ends with the browser's access, or when its push
//      service says that it is gone.
// SB2. An endpoint is an https address of a push service. Whoever has a browser's token could make this home ask any
//      server, so the address is judged again for each message (world/network.ts, NW1).
import { type Refusal, refused } from "../../base/result.ts";

export type Subscription = {
  readonly id: string;
  /** The browser, by its id (devices.ts). */
  readonly device: string;
  readonly endpoint: string;
  /** In base64url. */
  readonly p256dh: string;
  readonly auth: string;
  readonly madeAt: string;
};

export type Subscriptions = readonly Subscription[];

/** As many as browsers may use the page. */
const MAX_SUBSCRIPTIONS = 64;
/** Longer than those of any push service. */
const MAX_ENDPOINT = 1_024;

/** SB2. Why this is no endpoint. */
export function wrongEndpoint(endpoint: string): Refusal | undefined {
  const url = endpoint.length <= MAX_ENDPOINT ? URL.parse(endpoint) : null;
  const isPlain = url !== null && url.username === "" && url.password === "" && url.hash === "";
  if (url?.protocol === "https:" && isPlain) return undefined;
  const hint = "A browser's own subscription has one: pushManager.subscribe().";
  return refused("bad-endpoint", "The endpoint of a push service is an https address.", hint).error;
}

/** SB1. Those that make room, and the one replaced, are gone. */
export function subscribed(before: Subscriptions, one: Subscription): Subscriptions {
  const others = before.filter(({ device, endpoint }) => device !== one.device && endpoint !== one.endpoint);
  return [...others, one].slice(-MAX_SUBSCRIPTIONS);
}

/** SB1. Those whose browsers may still use the page. */
export function ofDevices(before: Subscriptions, devices: ReadonlySet<string>): Subscriptions {
  return before.every(({ device }) => devices.has(device))
    ? before
    : before.filter(({ device }) => devices.has(device));
}
