// What is said of a home of the fleet: how it is, what goes on there, and how old that is.
import { plainLine } from "../../base/visible.ts";
import type { FleetHome } from "../../wire/page/messages.ts";
import type { Tone } from "../parts/frame.tsx";
import { agoText, count } from "../words.ts";

export function stateOf({ isLive, isOld }: FleetHome): { readonly word: string; readonly tone: Tone } {
  if (!isLive) return { word: "not running", tone: "bad" };
  return isOld ? { word: "silent", tone: "warn" } : { word: "running", tone: "good" };
}

/** What goes on there, without what there is none of. */
export function countsText({ counts, why }: FleetHome): string {
  if (counts === null) return why ?? "";
  const { terminals, agents, runs } = counts;
  const parts = [count(terminals, "terminal"), count(agents, "agent"), count(runs, "run")];
  const some = parts.filter((part) => !part.startsWith("0 "));
  return some.length === 0 ? "nothing goes on" : some.join(" · ");
}

export function nameOf({ name }: Pick<FleetHome, "name">): string {
  return plainLine(name);
}

/** How old what is shown of it is, and what that means. */
export function ageText(home: FleetHome, now: number): string {
  if (home.listedAt === null) return `It is not known what ${nameOf(home)} has: ${home.why ?? ""}.`;
  const age = `This is what it had ${agoText(home.listedAt, now)} ago.`;
  if (!home.isLive)
    return `${age} Its host does not have it for certain: it may be down, or another host takes it over.`;
  return home.isOld ? `${age} It should be newer: its host, or what tells of it there, may be in trouble.` : age;
}

/** Ours first, then those that wait for somebody, then by name. */
export function sorted(homes: readonly FleetHome[]): readonly FleetHome[] {
  const rank = ({ isHere, counts }: FleetHome) => (isHere ? 0 : (counts?.prompts ?? 0) > 0 ? 1 : 2);
  return homes.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1));
}

export function matchesHome(home: FleetHome, words: string): boolean {
  const text = `${home.name} ${home.host}`.toLowerCase();
  return words
    .toLowerCase()
    .split(" ")
    .every((word) => text.includes(word));
}
