// The terminals of a machine drill: opens them, waits for them, and records what is known of each.
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { ask } from "../ask.ts";
import type { Findings } from "../findings.ts";
import { until } from "../going.ts";
import type { Site } from "../site.ts";
import { typeOnce } from "../type-once.ts";
import { MARK, type Planned } from "./programs.ts";
import { tapeText } from "./screens.ts";

/** A holder and its program start within some tens of milliseconds; hundreds at a time take longer. */
const READY_MS = 60_000;
const AT_ONCE = 10;

export type Opened = {
  readonly id: string;
  readonly plan: Planned;
  /** Its state at the last crash: whether it was running, and in which generation. */
  ran: boolean;
  generation: number;
  /** How often a holder started it: lines in its own file. */
  runs: number;
  /** Its screen was the same after every crash. */
  equal: boolean;
};

/** Opens all, and waits until each has drawn its screen. */
export async function openAll(site: Site, planned: readonly Planned[], findings: Findings): Promise<Opened[]> {
  const opened: Opened[] = [];
  for (let at = 0; at < planned.length; at += AT_ONCE) {
    const some = await Promise.all(planned.slice(at, at + AT_ONCE).map((plan) => open(site, plan, findings)));
    opened.push(...some.flatMap((one) => one ?? []));
  }
  return opened;
}

async function open(site: Site, plan: Planned, findings: Findings): Promise<Opened | undefined> {
  const { name, lane, argv, cwd, env, policy, size } = plan;
  const asked = await ask(site, "terminal.new", { name, lane, argv, cwd, env, policy, ...size });
  if (asked.kind !== "done") return void findings.violate(`${name} was not opened: ${asked.kind}`);
  const { id } = asked.value;
  if (plan.input !== "") await typeOnce(site, id, Buffer.from(plan.input));
  const drawn = await until(site.world.clock, READY_MS, () => tapeText(site, id, 0).includes(MARK) || undefined);
  if (drawn === undefined) findings.violate(`${name} (${plan.kind}) shows nothing`);
  return { id, plan, ran: true, generation: 1, runs: 1, equal: true };
}

/** The daemon's list of terminals; empty if it does not answer. */
export async function listAll(site: Site): Promise<ReadonlyMap<string, ListedTerminal>> {
  const asked = await ask(site, "terminal.list", { brief: true });
  return new Map(asked.kind === "done" ? asked.value.map((terminal) => [terminal.id, terminal]) : []);
}
