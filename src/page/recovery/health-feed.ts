// The health of this home, fetched while somebody looks at it.
// HF1. It is asked for only while its view is open and the tab is visible: it costs nothing otherwise.
import { effect } from "@preact/signals";
import type { WebHealth, WebUsage } from "../../wire/page/messages.ts";
import { after, every } from "../browser.ts";
import { Feed } from "../state/feed.ts";
import { call, daemon, link } from "../state/session.ts";

const HEALTH_MS = 10_000;
/** The host does not count files more often. */
const USAGE_MS = 60_000;

export const health = new Feed<WebHealth>(() => call("web.health", {}), after);
export const usage = new Feed<WebUsage>(() => call("web.usage", {}), after);

/** Returns the function that ends it (HF1). */
export function followHealth(): () => void {
  const look = (...feeds: readonly Feed<unknown>[]) => {
    if (link.peek().kind === "up" && !document.hidden) for (const feed of feeds) feed.refresh();
  };
  const back = () => look(health, usage);
  document.addEventListener("visibilitychange", back);
  const ends = [
    every(HEALTH_MS, () => look(health)),
    every(USAGE_MS, () => look(usage)),
    effect(() => {
      const changes = [link.value.kind, daemon.value.up]; // A program that is back is another process.
      if (changes.includes("up")) look(health, ...(usage.value.peek() === undefined ? [usage] : []));
    }),
    () => document.removeEventListener("visibilitychange", back),
  ];
  return () => {
    for (const end of ends) end();
  };
}
