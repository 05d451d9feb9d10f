// Browsers that may use the page: how one gets in, and for how long. Pure; daemon/devices.ts stores them.
// DV1. A link is used once and expires soon. It is exchanged for a token that belongs to one browser and is revocable.
// DV2. Only hashes are stored: nobody can get in with what is in the file.
// DV3. A browser that does not use the page for a month has to get in again. Beyond a number, so does the one that did
//      not use it for longest.
// DV4. The last use is stored to the hour, so that looking at the page does not write to the disk.
// DV5. A device that is paired comes through a relay. It has a key of its own, by which it is known before it says
//      anything, and rights that its pairing gave it. A link for a browser of this machine pairs nothing, and the other
//      way round.
// DV6. A pairing whose answer was lost can be repeated by the same device, while its link would be valid: it gets
//      another token, and the one before is of no use. To everyone else the link is used.
import { ok, type Refusal, type Result, refused } from "../base/result.ts";
import type { Right } from "./principal.ts";

/** DV5. `look` changes nothing; `answer` also answers prompts and decides on steps; `type` does all the page can. */
export const DEVICE_RIGHTS = ["look", "answer", "type"] as const;
export type DeviceRights = (typeof DEVICE_RIGHTS)[number];

/** DV5. What a pairing gives to its device; `name` is what the operator calls it. */
export type Pairing = { readonly rights: DeviceRights; readonly name: string };

/** Times are ISO texts. */
export type Link = { readonly hash: string; readonly until: string } & Partial<Pairing>;
export type Device = {
  readonly id: string;
  /** What the browser calls itself. */
  readonly name: string;
  readonly hash: string;
  readonly madeAt: string;
  readonly usedAt: string;
  /** DV5. The public key in hex; without one it is a browser of this machine, which may do everything. */
  readonly key?: string;
  readonly rights?: DeviceRights;
  /** DV6. The hash of the link that paired it, and until when it may be used again. */
  readonly link?: string;
  readonly linkUntil?: string;
};
export type Devices = { readonly links: readonly Link[]; readonly devices: readonly Device[] };

export const NO_DEVICES: Devices = { links: [], devices: [] };

/** Long enough to switch to a browser on another machine. */
const LINK_MS = 10 * 60_000;
const UNUSED_MS = 30 * 24 * 3_600_000;
const USE_MS = 3_600_000;
/** More than a person opens without using them. */
const MAX_LINKS = 16;
const MAX_DEVICES = 64;
const MAX_NAME = 200;

/** Without what has expired (DV1, DV3). */
export function current({ links, devices }: Devices, now: number): Devices {
  return {
    links: links.filter(({ until }) => Date.parse(until) > now),
    devices: devices.filter(({ usedAt }) => Date.parse(usedAt) + UNUSED_MS > now),
  };
}

export function withLink(before: Devices, hash: string, now: number, pairing?: Pairing): Devices {
  const { links, devices } = current(before, now);
  const link = { hash, until: textOf(now + LINK_MS), ...pairing };
  return { links: [...links, link].slice(-MAX_LINKS), devices };
}

/** DV1 */
export function redeemed(
  before: Devices,
  link: string,
  { name, key, ...given }: Pick<Device, "id" | "name" | "hash" | "key">,
  now: number,
): Result<Devices> {
  const { links, devices } = current(before, now);
  const found = links.find((one) => one.hash === link && (one.rights === undefined) === (key === undefined)); // DV5
  const again = devices.find((one) => isRepeated(one, link, key, now));
  if (again !== undefined)
    return ok({ links, devices: devices.map((one) => (one === again ? { ...one, hash: given.hash } : one)) }); // DV6
  if (found === undefined) return { ok: false, error: key === undefined ? NO_LINK : NO_PAIRING };
  const at = textOf(now);
  const pairing = key === undefined ? {} : { key, rights: found.rights ?? "look", link, linkUntil: found.until };
  const device: Device = {
    ...given,
    name: (found.name ?? name).slice(0, MAX_NAME),
    madeAt: at,
    usedAt: at,
    ...pairing,
  };
  const byUse = [...devices, device].toSorted((a, b) => Date.parse(a.usedAt) - Date.parse(b.usedAt));
  return ok({ links: links.filter((one) => one.hash !== link), devices: byUse.slice(-MAX_DEVICES) }); // DV3
}

/** DV6 */
function isRepeated(
  { link, linkUntil = "", key }: Device,
  given: string,
  by: string | undefined,
  now: number,
): boolean {
  return link === given && key === by && Date.parse(linkUntil) > now;
}

const NO_LINK: Refusal = {
  code: "no-link",
  message: "This link was used already, or is too old.",
  hint: "Get a new one: holdfast open",
};
const NO_PAIRING: Refusal = { ...NO_LINK, hint: "Get a new one: holdfast pair" };

/** DV5. Whether a device with these rights may ask for a method; without any, it is a browser of this machine. */
export function deviceMay(rights: DeviceRights | undefined, method: string, right: Right | undefined): boolean {
  if (rights === undefined || rights === "type") return true;
  return (
    OWN.includes(method) || right === "look" || right === "inspect" || (rights === "answer" && ANSWERS.includes(method))
  );
}

/** About the device itself: whether it is called when a prompt waits. */
const OWN: readonly string[] = ["push.key", "push.subscribe", "push.unsubscribe", "push.test"];
const ANSWERS: readonly string[] = ["prompt.answer", "workflow.resolve"];

/** DV5. Keys for terminals go to their holders, by no method. */
export function deviceMayType(rights: DeviceRights): boolean {
  return rights === "type";
}

export function notItsRight(rights: DeviceRights, method: string): Refusal {
  const hint = "Pair it again with more rights (holdfast pair --rights type), or use the command line.";
  return refused("device-rights", `This device may only ${rights}: it may not ask for ${method}.`, hint).error;
}

/** The device whose token has this hash; undefined if there is none, or it has expired. */
export function deviceOf(all: Devices, hash: string, now: number): Device | undefined {
  return current(all, now).devices.find((one) => one.hash === hash);
}

/** The same if nothing needs to be stored (DV4). */
export function usedNow(before: Devices, id: string, now: number): Devices {
  const known = before.devices.find((one) => one.id === id);
  if (known === undefined || Math.abs(now - Date.parse(known.usedAt)) < USE_MS) return before;
  return { ...before, devices: before.devices.map((one) => (one.id === id ? { ...one, usedAt: textOf(now) } : one)) };
}

export function revoked(before: Devices, id: string): Devices {
  return { ...before, devices: before.devices.filter((one) => one.id !== id) };
}

function textOf(time: number): string {
  return new Date(time).toISOString();
}
