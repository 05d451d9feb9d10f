// Agents' processes that may be killed: the program, or the holder that it runs in.
// VI1. Only so often that no agent fails permanently: five crashes within a minute (core/agent/process.ts) would need a
//      person to retry it.

import { type Budget, isExhausted, newBudget, spend } from "../base/budget.ts";
import { joinPath } from "../base/path.ts";
import { readHolder } from "../home/held/holder-files.ts";
import { AGENTS } from "../home/layout.ts";
import { identify, type ProcessIdentity } from "../world/process.ts";
import type { Dice } from "./dice.ts";
import type { Site } from "./site.ts";

/** VI1. A kill may count twice: as the end of its process, and again if the next one is not up when a daemon dies. */
const KILLS = 2;
const WINDOW_MS = 60_000;

export class Victims {
  readonly #site: Site;
  readonly #killed = new Map<string, Budget>();

  constructor(site: Site) {
    this.#site = site;
  }

  /** Undefined if there is none, or all were killed often enough. */
  pick(what: "agent" | "agent holder", dice: Dice): ProcessIdentity | undefined {
    const { disk, clock } = this.#site.world;
    const now = clock.elapsed();
    const agents = disk.list(joinPath(this.#site.home, AGENTS));
    const held = agents.flatMap((id) => {
      const holder = isExhausted(this.#budgetOf(id), now) ? undefined : this.#holderOf(id);
      return holder === undefined ? [] : [{ id, holder }];
    });
    const picked = dice.pick(held);
    if (picked === undefined) return undefined;
    const found = what === "agent" ? this.#programOf(picked.holder) : picked.holder;
    if (found !== undefined) this.#killed.set(picked.id, spend(this.#budgetOf(picked.id), now));
    return found;
  }

  #budgetOf(agent: string): Budget {
    return this.#killed.get(agent) ?? newBudget(KILLS, WINDOW_MS);
  }

  #holderOf(agent: string): ProcessIdentity | undefined {
    const { disk, processes } = this.#site.world;
    const directory = joinPath(this.#site.home, `${AGENTS}/${agent}/processes`);
    const holders = disk.list(directory).map((name) => readHolder({ disk, directory: joinPath(directory, name) }));
    return holders.find((holder) => holder !== undefined && processes.alive(holder));
  }

  /** The process that its holder started, not a descendant of it. */
  #programOf({ pid }: ProcessIdentity): ProcessIdentity | undefined {
    const { processes } = this.#site.world;
    const child = processes.list().find(({ ppid }) => ppid === pid);
    return child === undefined ? undefined : identify(processes, child.pid);
  }
}
