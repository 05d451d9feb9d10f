// `holdfast agent tree`: the agents, each below its parent, with state, length of the turn, unread messages and
// prompts.

import { shortId } from "../../base/ids.ts";
import { localTimes, type Zone } from "../../base/local-time.ts";
import { ok, type Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { usageText } from "../../core/agent/usage.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { look } from "../look.ts";
import { printJson, say } from "../print.ts";
import { tableText } from "../table.ts";
import { noteText, spanText, type TreeRow, treeOf } from "./row.ts";

const HEAD = ["AGENT", "ID", "PROVIDER", "STATE", "TURN", "INBOX", "PROMPTS", "USED", "NOTE"];

export type TreeFlags = DataFlags & { readonly all?: boolean };

async function tree(world: DaemonCommandWorld, flags: TreeFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const own = () =>
    look<readonly ListedAgent[]>(world, { home: home.value, json: flags.json }, (reader) =>
      allRows(reader, "agent.list", {}),
    );
  if (flags.all === true) return treeAll(world, flags, home.value, own);
  const listed = await own();
  if (!listed.ok) return listed;
  const { console } = world;
  if (flags.json) await printJson(console, treeOf(listed.value));
  else if (listed.value.length === 0) await say(console, "there are no agents yet. `holdfast agent new` creates one.");
  else await console.out.write(tableOf(world, treeOf(listed.value)));
  return ok(EXIT.ok);
}

async function treeAll(
  world: DaemonCommandWorld,
  flags: TreeFlags,
  home: string,
  own: () => Promise<Result<readonly ListedAgent[]>>,
): Promise<Exit> {
  const { everywhere, printAllJson } = await import("../fleet/all.ts");
  const { console, clock } = world;
  const homes = await everywhere<ListedAgent>(world, home, { kind: "agents", own, rows: ({ agents }) => agents });
  if (!homes.ok) return homes;
  const rows = homes.value.flatMap(({ label, rows: agents }) =>
    treeOf(agents)
      .flatMap((root) => linesOf(root, "", ""))
      .map((line) => [label, ...cellsOf(console, line, clock.now())].map(visibleLine)),
  );
  if (flags.json) await printAllJson(world, homes.value, treeOf);
  else if (rows.length === 0) await say(console, "there are no agents in the fleet.");
  else await console.out.write(tableText(console, [["HOST", ...HEAD], ...rows]));
  return ok(EXIT.ok);
}

function tableOf({ console, clock }: DaemonCommandWorld, roots: readonly TreeRow[]): string {
  const rows = roots.flatMap((root) => linesOf(root, "", "")).map((line) => cellsOf(console, line, clock.now()));
  return tableText(console, [HEAD, ...rows.map((cells) => cells.map(visibleLine))]);
}

export type Drawn = { readonly drawn: string; readonly row: TreeRow };

/** `before` is the prefix of its own line, `below` that of the lines below it. */
export function linesOf(row: TreeRow, before: string, below: string): Drawn[] {
  const children = row.children.flatMap((child, at) => {
    const last = at === row.children.length - 1;
    return linesOf(child, `${below}${last ? "└─ " : "├─ "}`, `${below}${last ? "   " : "│  "}`);
  });
  return [{ drawn: `${before}${row.name}`, row }, ...children];
}

function cellsOf(zone: Zone, { drawn, row }: Drawn, now: number): string[] {
  const { id, provider, state, turns, turnStartedAt, inbox, prompts, failure, usage } = row;
  const rests = failure === undefined ? `${turns}` : `${turns}, failed`;
  const turn = turnStartedAt === null ? rests : `${turns}, ${spanText(now - Date.parse(turnStartedAt))}`;
  return [
    drawn,
    shortId(id),
    provider,
    state,
    turn,
    `${inbox}`,
    `${prompts.length}`,
    usage === undefined ? "" : usageText(usage),
    localTimes(zone, noteText(row)),
  ];
}

export const treeCommand = withDaemonWorld(tree);
