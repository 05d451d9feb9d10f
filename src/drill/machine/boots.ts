// Simulates reboots of the machine: all processes of the home are killed at once, and later processes see another boot
// id
// (world/real/process.ts).
// B1. Only processes of the drill's own home are touched, each by its pid and start time.
// B2. They are stopped before the first is killed: none can clean up, heal or start another.
// B3. A program that is just being executed shows no variables for an instant: all are gone only after two empty looks.
import { isAlive, type Processes } from "../../world/process.ts";
import type { World } from "../../world/world.ts";
import { until } from "../going.ts";
import { type DrillProcess, processesOf } from "../processes.ts";
import type { Site } from "../site.ts";

const BOOT_VARIABLE = "HOLDFAST_BOOT_ID";
/** A process that is being started during a look appears a moment later. */
const GONE_MS = 60_000;

export type Killed = { readonly ours: number; readonly holders: number; readonly programs: number };

export class Machine {
  /** The drill's site, in the current boot. */
  readonly site: Site;
  #boot = 1;

  /** `name`: other machines have other boots. */
  constructor(site: Site, name = "drill") {
    const { world } = site;
    const bootId = () => `${world.processes.bootId()}-${name}-${this.#boot}`;
    const environment = (): Readonly<Record<string, string>> => ({
      ...world.self.environment(),
      [BOOT_VARIABLE]: bootId(),
    });
    const self = { ...world.self, environment };
    const console = { ...world.console, env: (name: string) => environment()[name] };
    this.site = { ...site, world: { ...world, self, console, processes: inBoot(world.processes, bootId) } };
  }

  /** The number of boots. */
  get boot(): number {
    return this.#boot;
  }

  /** All current processes. */
  census(): readonly DrillProcess[] {
    return processesOf(this.site);
  }

  /** Returns undefined if some do not end. */
  async crash(): Promise<Killed | undefined> {
    return killAtOnce(this.site.world, () => this.census());
  }

  /** From now on everything recorded before belongs to another boot. */
  nextBoot(): void {
    this.#boot += 1;
  }
}

/** Everything of the census, at once (B2). Undefined if some do not end. */
export async function killAtOnce(
  { clock, processes }: Pick<World, "clock" | "processes">,
  census: () => readonly DrillProcess[],
): Promise<Killed | undefined> {
  const hit = new Map<number, DrillProcess>();
  const stopNew = () => {
    const fresh = census().filter(({ who }) => !hit.has(who.pid));
    for (const one of fresh) {
      processes.kill(one.who, "SIGSTOP"); // B2
      hit.set(one.who.pid, one);
    }
    return fresh.length;
  };
  while (stopNew() > 0); // A process that was being started shows up in the next look.
  let quiet = 0;
  const gone = await until(clock, GONE_MS, () => {
    const left = census();
    for (const { who } of left) processes.kill(who, "SIGKILL");
    quiet = left.length === 0 ? quiet + 1 : 0;
    return quiet === 2 || undefined; // B3
  });
  const count = (kind: DrillProcess["kind"]) => [...hit.values()].filter((one) => one.kind === kind).length;
  return gone && { ours: count("ours"), holders: count("holder"), programs: count("program") };
}

/** The same processes, seen from this boot. */
function inBoot(processes: Processes, bootId: () => string): Processes {
  const here = { ...processes, bootId };
  const alive: Processes["alive"] = (who) => isAlive(here, who);
  const kill: Processes["kill"] = (who, signal) =>
    alive(who) && processes.kill({ ...who, bootId: processes.bootId() }, signal);
  return { ...here, alive, kill };
}
