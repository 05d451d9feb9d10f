// `holdfast search WORD …`: the lines and names that have all words, the newest first, as they are found.
import { localTime } from "../../base/local-time.ts";
import { ok, type Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import type { SearchHit, SearchResult } from "../../wire/rpc/search.ts";
import { MAX_HITS } from "../../wire/search.ts";
import type { SearchIn } from "../../wire/search-in.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { lookLive } from "../look.ts";
import { printJson, say } from "../print.ts";

export type SearchFlags = DataFlags & { readonly in?: SearchIn; readonly count: number };

type Found = { readonly hits: SearchHit[]; readonly index: SearchResult["index"] };

async function search(world: DaemonCommandWorld, flags: SearchFlags, ...words: string[]): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const show = async (hits: readonly SearchHit[]) => {
    if (flags.json) return;
    for (const hit of hits) await world.console.out.write(`${lineOf(world, hit)}\n`);
  };
  const found = await lookLive(world, home.value, (client) => all(client, { ...flags, words }, show));
  if (!found.ok) return found;
  const { hits, index } = found.value;
  if (flags.json) await printJson(world.console, found.value);
  else if (index !== null)
    await say(world.console, `The index is being built (${percent(index)}): what is older may be missing.`);
  if (hits.length === 0 && !flags.json) await say(world.console, "Nothing found.");
  return ok(hits.length === 0 ? EXIT.notFound : EXIT.ok);
}

type Wish = { readonly in?: SearchIn; readonly count: number; readonly words: readonly string[] };

async function all(
  client: Pick<RpcClient, "call">,
  { in: place, count, words }: Wish,
  show: (hits: readonly SearchHit[]) => Promise<void>,
): Promise<Result<Found>> {
  const hits: SearchHit[] = [];
  const left = () => Math.min(MAX_HITS, count - hits.length);
  let answer = await client.call("search", { words, limit: left(), ...(place !== undefined && { in: place }) });
  for (;;) {
    if (!answer.ok) return answer;
    const { hits: more, more: next, index } = answer.value;
    const wanted = more.slice(0, left());
    hits.push(...wanted);
    await show(wanted);
    if (next === null || hits.length >= count) return ok({ hits, index });
    answer = await client.call("search", { more: next, limit: left() });
  }
}

function lineOf({ console }: DaemonCommandWorld, hit: SearchHit): string {
  const what = hit.kind === "name" ? hit.of : hit.kind;
  return visibleLine(`${localTime(console, hit.at)}  ${what} ${hit.name}  ${hit.text}`);
}

/** Nothing is known at first. */
function percent({ done, total }: { readonly done: number; readonly total: number }): string {
  return total === 0 ? "just begun" : `${Math.floor((100 * done) / total)} %`;
}

export const searchCommand = withDaemonWorld(search);
