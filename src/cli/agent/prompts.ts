// `holdfast prompts` and `holdfast answer`: the permission prompts of agents, and the answers of people.
// PA1. An answer is given once. Its id is chosen before it is sent, so a retry after a daemon died is the same answer
//      and is acknowledged as it was; any other answer to the same prompt is too late.
// PA2. A person sees what they answer: the whole prompt, and the rule that it makes. If they gave only the beginning of
//      its id, they see it first and are asked.

import { newId } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { pickPrompt } from "../../core/agent/find.ts";
import type { Decision } from "../../core/agent/provider.ts";
import type { Rule } from "../../core/agent/rules.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { NO_SUCH_METHOD } from "../../wire/rpc/rpc.ts";
import { sayAttempts } from "../attempts.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { Reader } from "../disk-reader.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome, meantHome } from "../home.ts";
import { look } from "../look.ts";
import { Printer, printJson, say } from "../print.ts";
import { typedLine } from "./input.ts";
import { blockView, promptBlock } from "./prompt-block.ts";
import { ruleText } from "./rules.ts";

export type AnswerFlags = DataFlags & { readonly message?: string; readonly always?: boolean };

/** Other programs rely on this shape: fields are added, never changed. */
export function promptRow({ id, agent, name, tool, input, since, deadline, state, stage, rule }: ListedPrompt) {
  return { id, agent, tool, input, since, deadline, state, name, stage, ...(rule !== undefined && { rule }) };
}

export type PromptsFlags = DataFlags & { readonly all?: boolean };

async function prompts(world: DaemonCommandWorld, flags: PromptsFlags, key?: string): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  if (flags.all === true) return promptsAll(world, flags, home.value, key);
  const listed: Result<readonly ListedPrompt[]> = await look(world, { home: home.value, json: flags.json }, (client) =>
    key === undefined ? allRows(client, "prompt.list", {}) : onlyOne(client, key),
  );
  if (!listed.ok) return listed;
  const { console } = world;
  if (flags.json) await printJson(console, listed.value.map(promptRow));
  else if (listed.value.length === 0) await say(console, "there are no open prompts.");
  else await show(world, listed.value);
  await sayAttempts(world, home.value);
  return ok(EXIT.ok);
}

async function promptsAll(world: DaemonCommandWorld, flags: PromptsFlags, home: string, key = ""): Promise<Exit> {
  const { everywhere, printAllJson } = await import("../fleet/all.ts");
  const found = await everywhere<ListedPrompt>(world, home, {
    kind: "prompts",
    own: () => look(world, { home, json: flags.json }, (client) => allRows(client, "prompt.list", {})),
    rows: (listing) => listing.prompts,
  });
  if (!found.ok) return found;
  const homes = found.value.map((one) => ({ ...one, rows: one.rows.filter(({ id }) => id.startsWith(key)) }));
  const all = homes.flatMap(({ label, rows }) => rows.map((row) => ({ ...row, name: `${label}/${row.name}` })));
  if (flags.json) await printAllJson(world, homes, (rows) => rows.map(promptRow));
  else if (all.length === 0) await say(world.console, "there are no open prompts in the fleet.");
  else await show(world, all);
  return ok(EXIT.ok);
}

async function onlyOne(client: Reader, key: string): Promise<Result<readonly ListedPrompt[]>> {
  const found = await promptOf(client, key);
  return found.ok ? ok([found.value]) : found;
}

async function show({ console, clock }: DaemonCommandWorld, listed: readonly ListedPrompt[]): Promise<void> {
  const printer = new Printer(console.out);
  const view = blockView(console, console.out, clock.now());
  for (const [at, prompt] of listed.entries()) await printer.add(`${at === 0 ? "" : "\n"}${promptBlock(prompt, view)}`);
  await printer.flush();
  if (listed.some(({ state }) => state === "open")) await say(console, "answer with: holdfast answer ID allow|deny");
  const open = listed.find(({ unsandboxed }) => unsandboxed !== undefined);
  if (open !== undefined) await say(console, `${open.name} runs without a sandbox: ${open.unsandboxed}.`);
}

async function answer(world: DaemonCommandWorld, flags: AnswerFlags, key: string, decision: Decision): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const { message = "", always = false } = flags;
  const id = newId(world.random.bytes(16)); // PA1
  const found = await onDaemon(world, home.value, (client) => promptOf(client, key));
  if (!found.ok && (found.error.code === "unknown" || key.includes("/"))) {
    const { answerElsewhere } = await import("../fleet/answer.ts");
    const isTheOne = (prompt: ListedPrompt) => isMeant(world, prompt, decision);
    const wish = { key, decision, message, always, unknown: found.error, isMeant: isTheOne };
    return told(world, flags, await answerElsewhere(world, home.value, wish), decision);
  }
  if (!found.ok) return found;
  const prompt = found.value;
  if (prompt.id !== key && !(await isMeant(world, prompt, decision))) return NOT_ANSWERED; // PA2
  const answered = await onDaemon<ListedPrompt>(world, home.value, (client) =>
    client.call("prompt.answer", { prompt: prompt.id, answer: id, decision, message, always }),
  );
  return told(world, flags, answered, decision);
}

/** `answered`: undefined if the person did not mean that prompt. */
async function told(
  world: DaemonCommandWorld,
  flags: AnswerFlags,
  answered: Result<ListedPrompt | undefined>,
  decision: Decision,
): Promise<Exit> {
  if (!answered.ok) return answered;
  if (answered.value === undefined) return NOT_ANSWERED;
  if (flags.json) await printJson(world.console, promptRow(answered.value));
  else await echo(world, answered.value, decision);
  return ok(EXIT.ok);
}

const NOT_ANSWERED = refused(
  "not-answered",
  "Nothing was answered.",
  "Give the whole id to answer without a question.",
);

const DONE: Readonly<Record<Decision, string>> = { allow: "allowed", deny: "denied" };

/** PA2 */
async function echo(world: DaemonCommandWorld, prompt: ListedPrompt, decision: Decision): Promise<void> {
  const { console, clock } = world;
  await console.err.write(promptBlock(prompt, blockView(console, console.err, clock.now())));
  await say(console, `${DONE[decision]}${prompt.rule === undefined ? "." : `, and always: ${ofRule(prompt.rule)}`}`);
}

function ofRule(rule: Rule): string {
  return visibleLine(`rule ${rule.rule_id} of this agent, for ${ruleText(rule)}`);
}

/** PA2. Without a terminal nobody can be asked: a program that gives 8 characters is taken at its word. */
async function isMeant(world: DaemonCommandWorld, prompt: ListedPrompt, decision: Decision): Promise<boolean> {
  const { console, clock, terminal } = world;
  if (!terminal.there || prompt.state !== "open") return true;
  await console.err.write(promptBlock(prompt, blockView(console, console.err, clock.now())));
  await console.err.write(`${decision} this? [y/N] `);
  return /^\s*y(?:es)?\s*$/i.test(await typedLine());
}

/** A daemon that is older than this lists them, and the rule is applied here. */
async function promptOf(client: Reader, key: string): Promise<Result<ListedPrompt>> {
  const found = await client.call("prompt.find", { key });
  if (found.ok || found.error.code !== NO_SUCH_METHOD) return found;
  const open = await allRows(client, "prompt.list", { closed: false });
  const closed = await allRows(client, "prompt.list", { closed: true });
  if (!open.ok) return open;
  return closed.ok ? pickPrompt((isClosed) => (isClosed ? closed : open).value, key) : closed;
}

export const promptsCommand = withDaemonWorld(prompts);
export const answerCommand = withDaemonWorld(answer);
