// Whether what ran on a host goes on after another host has taken its home: steps write where they are into one file,
// ten times a second, and so does whoever watches which host has which home. Its lines are in the order of events.
// TI1. From when a home is seen on another host, what runs for it elsewhere is stopped. That a paused host goes on for
//      a moment when it is continued, until its guard is, cannot be helped.
// TI2. That holds while there is a guard: not while the test itself has stopped the standby program of a host.
import { appendFileSync, readFileSync } from "node:fs";
import type { HomeRow } from "./clients.ts";

/** TI1. In ticks, of which there are ten in a second. */
const A_MOMENT = 20;

type Counts = { readonly ticks: number; readonly elsewhere: number; readonly faults: readonly string[] };

export class Ticks {
  readonly path: string;
  readonly #owners = new Map<string, string>();

  constructor(path: string) {
    this.path = path;
    appendFileSync(path, "");
  }

  /** `nameOf`: of a home, by its id. */
  seen(rows: readonly HomeRow[], nameOf: (id: string) => string | undefined): void {
    for (const { id, owner } of rows) {
      const home = nameOf(id);
      if (home === undefined || this.#owners.get(home) === owner) continue;
      this.#owners.set(home, owner);
      this.#note("owner", home, owner);
    }
  }

  unguarded(host: string): void {
    this.#note("unguarded", host);
  }

  guarded(host: string): void {
    this.#note("guarded", host);
  }

  #note(...words: readonly string[]): void {
    appendFileSync(this.path, `${words.join(" ")}\n`);
  }

  /** How many ticks there were, how many of them elsewhere, and what went on for longer than a moment. */
  check(): Counts {
    const owners = new Map<string, string>();
    const unguarded = new Set<string>();
    const strays = new Map<string, number>();
    let ticks = 0;
    for (const line of readFileSync(this.path, "utf8").split("\n")) {
      const [what = "", one = "", other = ""] = line.split(" ");
      if (what === "owner") owners.set(one, other);
      if (what === "unguarded") unguarded.add(one);
      if (what === "guarded") unguarded.delete(one);
      if (what !== "tick") continue;
      ticks += 1;
      const owner = owners.get(one.replace(/-ticker\d+$/, ""));
      if (owner === undefined || owner === other || unguarded.has(other)) continue; // TI2
      const name = `${one} on ${other}`;
      strays.set(name, (strays.get(name) ?? 0) + 1);
    }
    const long = [...strays].filter(([, count]) => count > A_MOMENT);
    const faults = long.map(([name, count]) => `${name} went on for ${count} ticks, and its home was elsewhere`);
    return { ticks, elsewhere: [...strays.values()].reduce((sum, count) => sum + count, 0), faults };
  }
}
