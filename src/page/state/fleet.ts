// The fleet of this home, if it is in one: where this page is, and which other homes there are.
// FS1. The other homes are asked for when something shows them, and at no other time: it costs the database a query.
import { computed } from "@preact/signals";
import type { FleetHome, WebFleet } from "../../wire/page/messages.ts";
import { after, isRemote } from "../browser.ts";
import { Feed } from "./feed.ts";
import { call, feeds } from "./session.ts";

/** Undefined: this home is in no fleet, as far as is known. */
export const membership = computed(() => feeds.status.value.value?.fleet ?? undefined);

/** Another host has this home; here it only follows. */
export const follows = computed(() => membership.value?.role === "follower");

/** FS1 */
export const homes = new Feed<WebFleet | null>(() => call("web.fleet", {}), after);

export const otherHomes = computed(() => (homes.value.value?.homes ?? []).filter(({ isHere }) => !isHere));

/** Where this browser finds the home's page; undefined: its listing is shown here. */
export function pageOf({ page, nearPage, isLive }: FleetHome): string | undefined {
  if (!isLive) return undefined;
  return page ?? (isRemote ? undefined : (nearPage ?? undefined));
}
