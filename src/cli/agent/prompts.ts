// `holdfast prompts` and `holdfast answer`: the permission prompts of agents, and the answers of people.
// PA1. An answer is given once. Its id is chosen before it is sent, so a retry after a daemon died is the same answer
//      and is acknowledged as it was; any other answer to the same prompt is too late.

import { matchOne, newId } from "../../base/ids.ts";
import { ok, type Result } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { Decision } from "../../core/agent/provider.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome, meantHome } from "../home.ts";
import { fit, printJson, say } from "../print.ts";
import { columns } from "../table.ts";
import { spanText } from "./row.ts";

export type AnswerFlags = DataFlags & { readonly message?: string; readonly always?: boolean };

const HEAD = ["ID", "AGENT", "SINCE", "LEFT", "TOOL", "INPUT"];

/** Other programs rely on this shape: fields are added, never changed. */
export function promptRow({ id, agent, name, tool, input, since, deadline, state }: ListedPrompt) {
  return { id, agent, tool, input, since, deadline, state, name };
}

async function prompts(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const listed: Result<readonly ListedPrompt[]> = await onDaemon(world, home.value, (client) =>
    client.call("prompt.list", {}),
  );
  if (!listed.ok) return listed;
  const { console } = world;
  if (flags.json) await printJson(console, listed.value.map(promptRow));
  else if (listed.value.length === 0) await say(console, "there are no open prompts.");
  else {
    await console.out.write(tableOf(world, listed.value));
    await say(console, "answer with: holdfast answer ID allow|deny");
  }
  return ok(EXIT.ok);
}

function tableOf({ console, clock }: DaemonCommandWorld, listed: readonly ListedPrompt[]): string {
  const now = clock.now();
  const rows = listed.map(({ id, name, since, deadline, tool, input }) => {
    const left = spanText(Date.parse(deadline) - now);
    return [id, name, since.slice(0, 19), left, tool, JSON.stringify(input)].map(visibleLine);
  });
  const cut = (line: string) => (console.out.tty ? fit(line, console.out.columns(), console.widthOf) : line);
  return columns([HEAD, ...rows], console.widthOf)
    .map((line) => `${cut(line)}\n`)
    .join("");
}

async function answer(world: DaemonCommandWorld, flags: AnswerFlags, key: string, decision: Decision): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const { message = "", always = false } = flags;
  const id = newId(world.random.bytes(16)); // PA1
  let prompt: string | undefined;
  const answered = await onDaemon<ListedPrompt>(world, home.value, async (client) => {
    const meant: Result<string> = prompt === undefined ? await promptOf(client, key) : ok(prompt);
    if (!meant.ok) return meant;
    prompt = meant.value;
    return client.call("prompt.answer", { prompt, answer: id, decision, message, always });
  });
  if (!answered.ok) return answered;
  if (flags.json) await printJson(world.console, promptRow(answered.value));
  return ok(EXIT.ok);
}

/** A prompt that is no longer open is passed on too: the refusal then says what became of it. */
async function promptOf(client: RpcClient, key: string): Promise<Result<string>> {
  const open = await promptIn(client, false, key);
  if (open.ok || open.error.code !== "unknown" || key === "") return open;
  const closed = await promptIn(client, true, key);
  return closed.ok || closed.error.code !== "unknown" ? closed : ok(key);
}

async function promptIn(client: RpcClient, closed: boolean, key: string): Promise<Result<string>> {
  const listed = await client.call("prompt.list", { closed });
  if (!listed.ok) return listed;
  const ids = listed.value.map(({ id }) => id);
  return matchOne(ids, key);
}

export const promptsCommand = withDaemonWorld(prompts);
export const answerCommand = withDaemonWorld(answer);
