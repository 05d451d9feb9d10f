// Browsers that may use the page: how one gets in, and for how long. Pure; daemon/devices.ts stores them.
// DV1. A link is used once and expires soon. It is exchanged for a token that belongs to one browser and is revocable.
// DV2. Only hashes are stored: nobody can get in with what is in the file.
// DV3. A browser that does not use the page for a month has to get in again. Beyond a number, so does the one that did
//      not use it for longest.
// DV4. The last use is stored to the hour, so that looking at the page does not write to the disk.
import { ok, type Result, refused } from "../base/result.ts";

/** Times are ISO texts. */
export type Link = { readonly hash: string; readonly until: string };
export type Device = {
  readonly id: string;
  /** What the browser calls itself. */
  readonly name: string;
  readonly hash: string;
  readonly madeAt: string;
  readonly usedAt: string;
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

export function withLink(before: Devices, hash: string, now: number): Devices {
  const { links, devices } = current(before, now);
  return { links: [...links, { hash, until: textOf(now + LINK_MS) }].slice(-MAX_LINKS), devices };
}

/** DV1 */
export function redeemed(
  before: Devices,
  link: string,
  { id, name, hash }: Pick<Device, "id" | "name" | "hash">,
  now: number,
): Result<Devices> {
  const { links, devices } = current(before, now);
  if (!links.some((one) => one.hash === link))
    return refused("no-link", "This link was used already, or is too old.", "Get a new one: holdfast open");
  const at = textOf(now);
  const device = { id, name: name.slice(0, MAX_NAME), hash, madeAt: at, usedAt: at };
  const byUse = [...devices, device].toSorted((a, b) => Date.parse(a.usedAt) - Date.parse(b.usedAt));
  return ok({ links: links.filter((one) => one.hash !== link), devices: byUse.slice(-MAX_DEVICES) }); // DV3
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
