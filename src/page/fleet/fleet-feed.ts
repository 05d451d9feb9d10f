// The homes of the fleet, and one of them, fetched while somebody looks at them.
// HW1. They are asked for only while a view of them is open and the tab is visible.
import { effect } from "@preact/signals";
import type { WebFleetHome } from "../../wire/page/messages.ts";
import { after, every } from "../browser.ts";
import { Feed } from "../state/feed.ts";
import { homes } from "../state/fleet.ts";
import { call, link } from "../state/session.ts";

const LOOK_MS = 5_000;

/** Returns the function that ends it (HW1). */
function follow(feed: Feed<unknown>): () => void {
  const look = () => {
    if (link.peek().kind === "up" && !document.hidden) feed.refresh();
  };
  document.addEventListener("visibilitychange", look);
  const ends = [
    every(LOOK_MS, look),
    effect(() => {
      if (link.value.kind === "up") look();
    }),
    () => document.removeEventListener("visibilitychange", look),
  ];
  return () => {
    for (const end of ends) end();
  };
}

export function followHomes(): () => void {
  return follow(homes);
}

export type HomeFeed = Feed<WebFleetHome>;

export function homeFeed(id: string): HomeFeed {
  return new Feed<WebFleetHome>(() => call("web.fleet-home", { home: id }), after);
}

export function followHome(feed: HomeFeed): () => void {
  return follow(feed);
}
