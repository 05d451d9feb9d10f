// The views in the order in which they are offered. The key of each is its number in this list, unless it has its own.
import type { Route } from "./state/route.ts";

export const VIEWS: readonly { readonly to: Route; readonly name: string; readonly key?: string }[] = [
  { to: { view: "now" }, name: "Now" },
  { to: { view: "terminals" }, name: "Terminals" },
  { to: { view: "agents" }, name: "Agents" },
  { to: { view: "workflows" }, name: "Workflows" },
  { to: { view: "recovery", report: undefined }, name: "Recovery" },
  { to: { view: "access" }, name: "Access" },
  { to: { view: "search", words: "" }, name: "Search", key: "/" },
];

export function viewKey(at: number): string {
  return VIEWS[at]?.key ?? String(at + 1);
}
