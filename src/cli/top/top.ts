// `holdfast top`: one live screen of everything on a home; with --json what it would show, once.
import { exitCodeOf } from "../../base/exit-code.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { promptRow } from "../agent/prompts.ts";
import { rowOf as agentRow } from "../agent/row.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { Reader } from "../disk-reader.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome, meantHome } from "../home.ts";
import { look, lookLive } from "../look.ts";
import { printJson } from "../print.ts";
import { listTerminals } from "../terminal/find.ts";
import { rowOf as terminalRow } from "../terminal/listed.ts";
import { rowOf as runRow } from "../workflow/rows.ts";
import { READS } from "./feed.ts";
import { TopScreen } from "./screen.ts";

async function top(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  if (flags.json) return snapshot(world, flags);
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  if (!world.terminal.there) return noTerminal();
  const live = await lookLive(world, home.value, async () => ok(undefined));
  if (!live.ok) return live;
  const signal = await world.console.staying(new TopScreen(world, home.value).run());
  return ok(signal === undefined ? EXIT.ok : exitCodeOf({ code: null, signal }));
}

async function snapshot(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const listing = await listTerminals(world, home.value, "wait");
  if (!listing.ok) return listing;
  const rest = await look(world, { home: home.value, json: true }, (reader) => lists(reader));
  if (!rest.ok) return rest;
  await printJson(world.console, { ...rest.value, terminals: listing.value.terminals.map(terminalRow) });
  return ok(EXIT.ok);
}

/** Terminals are listed in another way while Holdfast is down. */
async function lists(reader: Reader): Promise<Result<object>> {
  const prompts = await READS.prompts(reader);
  if (!prompts.ok) return prompts;
  const agents = await READS.agents(reader);
  if (!agents.ok) return agents;
  const runs = await READS.runs(reader);
  if (!runs.ok) return runs;
  return ok({
    prompts: prompts.value.map(promptRow),
    agents: agents.value.map(agentRow),
    runs: runs.value.map(runRow),
  });
}

function noTerminal(): Exit {
  const hint = "From a program, use `holdfast top --json`.";
  return refused("no-terminal", "Standard input or output is not a terminal.", hint);
}

export const topCommand = withDaemonWorld(top);
