// `holdfast usage agents`: the tokens that agents have used, and what they cost, as far as their providers say it.
// UA1. Only of agents that are in the tree, and of turns that have ended; `agent log` of a terminated one has the rest.
import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { Usage } from "../../core/agent/provider.ts";
import { addUsage, dollars, tokensText } from "../../core/agent/usage.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { look } from "../look.ts";
import { printJson, say } from "../print.ts";
import { tableText } from "../table.ts";

const HEAD = ["AGENT", "PROVIDER", "MODEL", "TURNS", "IN", "CACHED", "OUT", "COST"];
const NOTHING: Usage = { input_tokens: 0, output_tokens: 0 };

async function usageAgents(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const listed = await look<readonly ListedAgent[]>(world, { home: home.value, json: flags.json }, (reader) =>
    allRows(reader, "agent.list", {}),
  );
  if (!listed.ok) return listed;
  const { console } = world;
  const known = listed.value.filter(({ usage }) => usage !== undefined);
  const total = known.reduce((sum, { usage = NOTHING }) => addUsage(sum, usage), NOTHING);
  if (flags.json) await printJson(console, { agents: known.map(rowOf), total });
  else if (known.length === 0) await say(console, "no agent has said what it used.");
  else await console.out.write(tableText(console, [HEAD, ...known.map(cellsOf), totalOf(total)]));
  return ok(EXIT.ok);
}

function rowOf({ id, name, provider, model, turns, usage }: ListedAgent): object {
  return { id, name, provider, model, turns, usage };
}

function cellsOf({ name, provider, model, turns, usage = NOTHING }: ListedAgent): string[] {
  return [visibleLine(name), provider, visibleLine(model ?? ""), `${turns}`, ...amountsOf(usage)];
}

function totalOf(usage: Usage): string[] {
  return ["in all", "", "", "", ...amountsOf(usage)];
}

function amountsOf({ input_tokens, output_tokens, cached_tokens, cost_usd }: Usage): string[] {
  const cached = cached_tokens === undefined ? "" : tokensText(cached_tokens);
  return [tokensText(input_tokens), cached, tokensText(output_tokens), cost_usd === undefined ? "" : dollars(cost_usd)];
}

export const usageAgentsCommand = withDaemonWorld(usageAgents);
