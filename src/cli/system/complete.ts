// `holdfast __complete`: the completions of a command line, one per line, or `:files` if it is a path. A shell calls it
// at every Tab, so it is quick, starts nothing, and prints nothing if it does not know.

import { proposeCompletions, type StricliProcess } from "@stricli/core";
import { shortId } from "../../base/ids.ts";
import { ok, type Result } from "../../base/result.ts";
import { visible } from "../../base/visible.ts";
import { dial } from "../../home/dial.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { within } from "../../world/wait.ts";
import { type Context, EXIT, type Exit, type Given, type Named } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import { FILES, type HomeFlags } from "../flags.ts";
import { chosenHome } from "../home.ts";

/** Nobody waits longer than this for a Tab. */
const MAX_MS = 1_000;
const MAX_NAMES = 500;

const SILENT: StricliProcess = { stdout: { write: () => undefined }, stderr: { write: () => undefined } };

async function complete(
  world: DaemonCommandWorld,
  flags: HomeFlags & Given,
  ...words: readonly string[]
): Promise<Exit> {
  const typed = words.at(-1) ?? "";
  const context: Context = {
    process: SILENT,
    names: (kind) => names(world, flags.home ?? homeIn(words), kind, typed),
  };
  const command = words[0] === "help" && words.length > 1 ? words.slice(1) : words;
  const found = flags.app === undefined ? [] : await proposeCompletions(flags.app, command, context);
  const proposed = found.map(({ completion }) => completion);
  const isPath = !typed.startsWith("-") && proposed.includes(`${typed}${FILES}`);
  const candidates = isPath ? [FILES] : proposed.filter((word) => fits(word, typed));
  await world.console.out.write(visible(candidates.map((word) => `${word}\n`).join("")));
  return ok(EXIT.ok);
}

/** Flags are offered only after a typed dash; otherwise there would be too many. */
function fits(word: string, partial: string): boolean {
  if (
    word === "--" ||
    word.endsWith(FILES) ||
    word.startsWith("__") ||
    (word.startsWith("-") && !partial.startsWith("-"))
  )
    return false;
  return word.startsWith(partial);
}

/** The home that the unfinished line names. */
function homeIn(words: readonly string[]): string | undefined {
  const at = words.indexOf("--home");
  return at >= 0 && at < words.length - 2 ? words[at + 1] : words.find((word) => word.startsWith("--home="))?.slice(7);
}

async function names(
  world: DaemonCommandWorld,
  given: string | undefined,
  kind: Named,
  starts: string,
): Promise<readonly string[]> {
  const home = chosenHome(world.console, given);
  const line = home === undefined ? undefined : await dial(world, home);
  if (line?.ok !== true || line.value === undefined) return [];
  const list = await within(world.clock, MAX_MS, namesOf(line.value, kind, starts));
  line.value.close();
  return list?.ok === true ? [...new Set(list.value)].sort() : [];
}

/** What begins as the typed word does. Nobody reads more than a screen of them. */
async function namesOf(client: RpcClient, kind: Named, starts: string): Promise<Result<readonly string[]>> {
  const some = { starts, limit: MAX_NAMES, newest: true };
  switch (kind) {
    case "terminal":
      return each(await allRows(client, "terminal.list", some), ({ name }) => name);
    case "run":
      return each(await allRows(client, "workflow.list", some), single);
    case "agent":
      return each(await allRows(client, "agent.list", some), single);
    case "prompt":
      return each(await allRows(client, "prompt.list", {}), ({ id }) => id);
    case "rule":
      return each(await allRows(client, "rule.list", {}), ({ rule }) => rule.rule_id);
  }
}

type Owner = { readonly id: string; readonly name: string };

/** A name that several things share is replaced by the id. */
function single({ id, name }: Owner, all: readonly Owner[]): string {
  return all.filter((other) => other.name === name).length === 1 ? name : shortId(id);
}

function each<T>(list: Result<readonly T[]>, name: (one: T, all: readonly T[]) => string): Result<readonly string[]> {
  return list.ok ? ok(list.value.map((one) => name(one, list.value))) : list;
}

export const completeCommand = withDaemonWorld(complete);
