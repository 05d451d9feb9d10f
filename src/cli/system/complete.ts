// `holdfast __complete`: what may come next on the command line, one candidate a line. A shell asks at every Tab, so it is quick, starts
// nothing, and says nothing where it does not know.
import { proposeCompletions, type StricliProcess } from "@stricli/core";
import { ok } from "../../base/result.ts";
import type { RpcClient } from "../../wire/rpc-client.ts";
import type { ListedRun } from "../../wire/workflow-rpc.ts";
import { app } from "../app.ts";
import { dial } from "../client.ts";
import type { HomeFlags } from "../flags.ts";
import { chosenHome } from "../home.ts";
import { type Context, EXIT, type Exit } from "../outside.ts";
import { visible } from "../print.ts";
import { type Reach, reaching } from "../reach.ts";
import { shortId } from "../sessions.ts";
import { within } from "../time.ts";

/** Longer than this nobody waits for a Tab. */
const MOST_MS = 1_000;

const SILENT: StricliProcess = { stdout: { write: () => undefined }, stderr: { write: () => undefined } };

async function complete(reach: Reach, flags: HomeFlags, ...words: readonly string[]): Promise<Exit> {
  const home = flags.home ?? homeIn(words);
  const context: Context = { process: SILENT, names: () => names(reach, home), runs: () => runs(reach, home) };
  const found = await proposeCompletions(app, words, context);
  const candidates = found.map(({ completion }) => completion).filter((word) => fits(word, words.at(-1) ?? ""));
  await reach.console.out.write(visible(candidates.map((word) => `${word}\n`).join("")));
  return ok(EXIT.ok);
}

/** Flags are offered to who has typed a dash; others are not to be flooded with them. */
function fits(word: string, partial: string): boolean {
  if (word === "--" || word.startsWith("__") || (word.startsWith("-") && !partial.startsWith("-"))) return false;
  return word.startsWith(partial);
}

/** The home that the unfinished line names. */
function homeIn(words: readonly string[]): string | undefined {
  const at = words.indexOf("--home");
  return at >= 0 && at < words.length - 2 ? words[at + 1] : words.find((word) => word.startsWith("--home="))?.slice(7);
}

function names(reach: Reach, given: string | undefined): Promise<readonly string[]> {
  return asked(reach, given, async (client) => {
    const list = await client.call("terminal.list", { brief: true });
    return list.ok ? list.value.map(({ name }) => name).sort() : [];
  });
}

/** A name that several runs have says nothing: then their ids do. */
function runs(reach: Reach, given: string | undefined): Promise<readonly string[]> {
  return asked(reach, given, async (client) => {
    const list = await client.call("workflow.list", {});
    const all = list.ok ? list.value : [];
    const single = ({ name }: ListedRun) => all.filter((other) => other.name === name).length === 1;
    return all.map((run) => (single(run) ? run.name : shortId(run.id))).sort();
  });
}

async function asked(
  reach: Reach,
  given: string | undefined,
  ask: (client: RpcClient) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const home = chosenHome(reach.console, given);
  const line = home === undefined ? undefined : await dial(reach, home);
  if (line?.ok !== true || line.value === undefined) return [];
  const words = await within(reach.clock, MOST_MS, ask(line.value));
  line.value.close();
  return words ?? [];
}

export const completeCommand = reaching(complete);
