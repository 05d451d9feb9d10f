// From one terminal to another without detaching: the next, the one before, or one that the person chooses.
// SW1. Only terminals that run can be reached, and not the one that we are in; their order is that of `ls`.
// SW2. If there is no other, or none was chosen, it stays with the one that it came from.
import { visibleLine } from "../../base/visible.ts";
import { TERMINAL_MARKER } from "../../home/callers.ts";
import type { BriefTerminal, ListedTerminal } from "../../wire/rpc/rpc.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { columns } from "../table.ts";
import type { SwitchTo } from "./after-key.ts";
import { findTerminal, listTerminals } from "./find.ts";
import { lastAttached } from "./last-attached.ts";
import { rowOf } from "./listed.ts";
import { choose } from "./picker.ts";

/** SW1 */
export function reachable(
  { console }: Pick<DaemonCommandWorld, "console">,
  terminals: readonly BriefTerminal[],
): BriefTerminal[] {
  return terminals.filter(
    ({ id, state }) => (state.kind === "running" || state.kind === "starting") && id !== console.env(TERMINAL_MARKER),
  );
}

/** The mark is at `current`, or else at the one that was attached last. */
export async function chosenOf(
  world: DaemonCommandWorld,
  home: string,
  terminals: readonly BriefTerminal[],
  current = lastAttached(world, home),
): Promise<BriefTerminal | undefined> {
  const rows = terminals.map(rowOf).map(({ name, lane, program, cwd }) => [name, lane, program.join(" "), cwd]);
  const lines = columns(
    rows.map((cells) => cells.map(visibleLine)),
    world.console.widthOf,
  );
  const known = terminals.findIndex(({ id }) => id === current);
  const first = known < 0 ? terminals.length - 1 : known;
  const at = await choose(
    world,
    "holdfast: which terminal? Arrows and Enter, or its number; q for none.",
    lines,
    first,
  );
  return at === undefined ? undefined : terminals[at];
}

export async function switchFrom(
  world: DaemonCommandWorld,
  home: string,
  from: ListedTerminal,
  to: SwitchTo,
): Promise<ListedTerminal> {
  const listing = await listTerminals(world, home, "now");
  const others = listing.ok ? reachable(world, listing.value.terminals) : [];
  if (others.length === 0) return from; // SW2
  const next = to === "chosen" ? await chosenOf(world, home, others, from.id) : neighbour(others, from.id, to);
  const found = next === undefined || next.id === from.id ? undefined : await findTerminal(world, home, next.id);
  return found?.ok === true ? found.value : from; // SW2
}

function neighbour(others: readonly BriefTerminal[], from: string, to: "next" | "previous"): BriefTerminal | undefined {
  const at = others.findIndex(({ id }) => id === from);
  const step = to === "next" ? 1 : -1;
  return others[(at + step + others.length) % others.length];
}
