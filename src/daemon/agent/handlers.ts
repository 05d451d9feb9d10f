// What clients may ask about agents. As handlers.ts: changing waits until the daemon is live.
// AH1. Ids of agents, messages and answers are the client's: a repeat of the same wish finds what the first one made, and makes no second.
// AH2. The bearer of an agent's token may call that agent's tools, and nothing else.
// AH3. Looking waits until all of them are read from the log: half a tree would pass for all of it.
// AH4. What is shown, and what a call is answered with, is durable: an agent as it is `settled`, never as it is only decided.
import { isId } from "../../base/ids.ts";
import type { Json } from "../../base/json.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { type Agent, isLive, RULE_BOOK } from "../../core/agent/agent.ts";
import type { AgentCommand, CreateAgent } from "../../core/agent/commands.ts";
import type { AgentConfig } from "../../core/agent/draft.ts";
import type { Rule } from "../../core/agent/rules.ts";
import { type EnvironmentRules, keepEnvironment } from "../../core/environment.ts";
import type { ToolAnswer } from "../../wire/provider/mcp.ts";
import { type ListedAgent, type ListedPrompt, readBearer } from "../../wire/rpc/agent.ts";
import { paramsOf } from "../../wire/rpc/params.ts";
import type { Disk } from "../../world/disk.ts";
import { sameSecret } from "../../world/hash.ts";
import type { Handlers } from "../rpc-server.ts";
import { listedAgent, listedPrompt, shownAgent } from "./listed.ts";
import type { AgentPart } from "./part.ts";
import { readToken } from "./process-files.ts";
import { recipeFor } from "./recipes.ts";
import { workspaceOf } from "./workspaces.ts";

export type AgentHandlerPorts = {
  readonly disk: Disk;
  readonly home: string;
  readonly environment: EnvironmentRules;
  readonly agentConfig: AgentConfig;
  readonly defaultProvider: string;
  /** Undefined until the daemon takes changes. */
  live(): AgentPart | undefined;
  /** Undefined until the log is open. */
  parts(): AgentPart | undefined;
};

type Params = Readonly<Record<string, unknown>>;

export function agentHandlers(ports: AgentHandlerPorts): Handlers {
  const submit = (command: AgentCommand | Refusal) => submitted(ports, command);
  const ofAgent = (params: Params, make: (id: string) => AgentCommand | Refusal) =>
    submit(typeof params["id"] === "string" ? make(params["id"]) : bad("id is a text"));
  return {
    "agent.new": (params) => create(ports, params),
    "agent.list": async () => ofAll(ports, ({ store }) => [...store.settledAgents()].filter(isLive).map(listedAgent)),
    "agent.show": async ({ id }) => ofOne(ports, id, shownAgent),
    "agent.inbox": async ({ id }) => ofOne(ports, id, ({ inbox }) => inbox),
    "agent.send": (params) => ofAgent(params, (id) => sendOf(id, params)),
    "agent.terminate": (params) =>
      ofAgent(params, (id) => ({ kind: "terminate", id, reason: textOr(params["reason"], "") })),
    "agent.retry": (params) => ofAgent(params, (id) => ({ kind: "retry", id })),
    "agent.interrupt": (params) => ofAgent(params, (id) => ({ kind: "interrupt", id })),
    "agent.suspend": (params) => ofAgent(params, (id) => ({ kind: "suspend", id })),
    "agent.set": (params) =>
      ofAgent(params, (id) => {
        const found = paramsOf("agent.set", params);
        return found.ok ? { kind: "set", id, settings: found.value.settings } : found.error;
      }),
    "prompt.list": async ({ closed }) => ofAll(ports, closed === true ? closedPrompts : promptsOf),
    "prompt.answer": (params) => answer(ports, params),
    "rule.list": async () => ofAll(ports, rulesOf),
    "rule.add": (params) => addRule(ports, params),
    "rule.remove": (params) => removeRule(ports, params),
  };
}

/** What the bearer of an agent's token may do. */
export type ToolCaller = {
  call(asked: AskedCall): Promise<Result<ToolAnswer>>;
  taken(call: string): Promise<Result<Record<string, never>>>;
  /** Over HTTP (handed-calls.ts): the answer is on its way, which matters where messages are in it; and another request came in that
   *  session. */
  handed(session: string, call: string): void;
  goesOn(session: string, repeated: string | undefined): Promise<void>;
};

type AskedCall = { readonly call: string; readonly tool: string; readonly args: Json; readonly via?: "http" };

/** AH2. Undefined for a token of nobody's. */
export function toolCaller(ports: AgentHandlerPorts, token: string): ToolCaller | undefined {
  const bearer = readBearer(token);
  const secret = bearer !== undefined && isId(bearer.id) ? readToken(ports.disk, ports.home, bearer.id) : undefined;
  if (bearer === undefined || secret === undefined || !sameSecret(bearer.secret, secret)) return undefined;
  const { id } = bearer;
  return {
    call: async (asked) => {
      const { call } = asked;
      const done = await submitAgent(ports, { kind: "call", id, ...asked });
      const found = done.ok ? done.value.calls.find((one) => one.call === call) : undefined;
      if (!done.ok) return done;
      return found === undefined ? NOT_ANSWERED : ok({ ok: found.ok, value: found.result });
    },
    taken: async (call) => {
      const done = await submitAgent(ports, { kind: "call-taken", id, call });
      return done.ok ? ok({}) : done;
    },
    handed: (session, call) => {
      const part = ports.live();
      const found = part?.store.settledAgent(id)?.calls.find((one) => one.call === call);
      if (found !== undefined && found.messages.length > 0) part?.handed.hand(id, session, call);
    },
    goesOn: async (session, repeated) => {
      for (const call of ports.live()?.handed.goesOn(id, session, repeated) ?? [])
        await submitAgent(ports, { kind: "call-taken", id, call });
    },
  };
}

const NOT_ANSWERED = refused("agent.call", "The call was not answered.", "Try again.");

/** AH2 */
export function bearerHandlers(ports: AgentHandlerPorts, token: string): Handlers | undefined {
  const caller = toolCaller(ports, token);
  if (caller === undefined) return undefined;
  return {
    "agent.call": async (given) => {
      const params = paramsOf("agent.call", given);
      if (!params.ok) return params;
      const { call, tool, args = {} } = params.value;
      return caller.call({ call, tool, args });
    },
    "agent.call-taken": ({ call }) => caller.taken(textOr(call, "")),
  };
}

async function submitAgent(ports: AgentHandlerPorts, command: AgentCommand): Promise<Result<Agent>> {
  const part = ports.live();
  if (part === undefined) return NOT_LIVE;
  const done = await part.store.submit(command);
  if (!done.ok) return done;
  const agent = part.store.settledAgent(command.id); // AH4
  return agent === undefined ? unknown(command.id) : ok(agent);
}

async function submitted(ports: AgentHandlerPorts, command: AgentCommand | Refusal): Promise<Result<ListedAgent>> {
  if ("hint" in command) return { ok: false, error: command };
  const done = await submitAgent(ports, command);
  return done.ok ? ok(listedAgent(done.value)) : done;
}

const NOT_LIVE = refused(
  "not-live",
  "The daemon is still recovering.",
  "Try again in a moment; `holdfast recovery status` shows how far it is.",
);

function unknown(id: unknown): Result<never> {
  return refused("unknown", `There is no agent ${String(id)}.`, "holdfast agent tree shows all.");
}

function bad(what: string): Refusal {
  const hint = "The command and the daemon may be of different versions.";
  return { code: "bad-params", message: `The request is malformed: ${what}.`, hint };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

/** AH3 */
function ofAll<T>(ports: AgentHandlerPorts, show: (part: AgentPart) => T): Result<T> {
  const part = ports.parts();
  return part?.read.kind === "read" ? ok(show(part)) : NOT_LIVE;
}

function ofOne<T>(ports: AgentHandlerPorts, id: unknown, show: (agent: Agent) => T): Result<T> {
  const found = ofAll(ports, ({ store }) => (typeof id === "string" ? store.settledAgent(id) : undefined));
  if (!found.ok) return found;
  return found.value === undefined ? unknown(id) : ok(show(found.value));
}

function sendOf(id: string, given: Params): AgentCommand | Refusal {
  const params = paramsOf("agent.send", given);
  if (!params.ok) return params.error;
  const { message, text, replyTo } = params.value;
  return { kind: "send", id, message, payload: text, replyTo: replyTo ?? undefined };
}

/** AH1 */
async function create(ports: AgentHandlerPorts, params: Params): Promise<Result<ListedAgent>> {
  const part = ports.live();
  if (part === undefined) return NOT_LIVE;
  const command = createOf(ports, params);
  if (!command.ok) return command;
  const known = part.store.settledAgent(command.value.id);
  if (known !== undefined) return ok(listedAgent(known));
  const made = await submitted(ports, command.value);
  const twin = !made.ok && made.error.code === "id-taken" ? part.store.settledAgent(command.value.id) : undefined;
  return twin === undefined ? made : ok(listedAgent(twin));
}

function createOf(ports: AgentHandlerPorts, params: Params): Result<CreateAgent> {
  const { agentConfig, environment, defaultProvider, disk, home } = ports;
  const given = paramsOf("agent.new", params);
  if (!given.ok) return given;
  const {
    id,
    name,
    parent,
    instructions,
    provider,
    model,
    systemPrompt,
    cwd,
    env,
    command,
    flags,
    permissionMode,
    settings,
  } = given.value;
  const recipe = recipeFor(agentConfig, {
    provider: provider ?? defaultProvider,
    model,
    command,
    flags,
    permissionMode,
  });
  if (!recipe.ok) return recipe;
  const kept = keepEnvironment(env, environment).kept;
  const place = workspaceOf({ disk, home }, { id, name, cwd, env: kept, wanted: given.value.workspace }, recipe.value);
  if (!place.ok) return place;
  const plan = { recipe: recipe.value, system_prompt: systemPrompt, ...place.value };
  return ok({ kind: "create", id, name, parent: parent ?? undefined, instructions, plan, settings });
}

function promptsOf(part: AgentPart): ListedPrompt[] {
  return promptsThat(part, (open) => open).sort((a, b) => (a.since < b.since ? -1 : 1));
}

function closedPrompts(part: AgentPart): ListedPrompt[] {
  return promptsThat(part, (open) => !open);
}

/** AH4 */
function promptsThat({ store }: AgentPart, are: (open: boolean) => boolean): ListedPrompt[] {
  return [...store.settledAgents()].flatMap((agent) => {
    const prompts = agent.prompts.filter(({ state }) => are(state.kind === "open"));
    return prompts.map((prompt) => listedPrompt(agent, prompt));
  });
}

async function answer(ports: AgentHandlerPorts, asked: Params): Promise<Result<ListedPrompt>> {
  const params = paramsOf("prompt.answer", asked);
  if (!params.ok) return params;
  const { prompt, answer: given, decision, message = "", always = false } = params.value;
  const id = askerOf(ports.live(), prompt);
  if (ports.live() === undefined) return NOT_LIVE;
  if (id === undefined) return refused("unknown", `There is no prompt ${prompt}.`, "holdfast prompts shows all.");
  const done = await submitAgent(ports, { kind: "answer", id, prompt, answer: given, decision, message, always });
  if (!done.ok) return done;
  const found = done.value.prompts.find((one) => one.id === prompt);
  return found === undefined
    ? refused("unknown", `There is no prompt ${prompt}.`, "holdfast prompts shows all.")
    : ok(listedPrompt(done.value, found));
}

/** Whose it is, also where it is not open any more: the refusal then says why. */
function askerOf(part: AgentPart | undefined, prompt: string): string | undefined {
  if (part === undefined) return undefined;
  const open = part.store.tree.askerOf(prompt);
  return open ?? [...part.store.agents()].find(({ prompts }) => prompts.some(({ id }) => id === prompt))?.id;
}

function rulesOf({ store }: AgentPart): { readonly agent: string | null; readonly rule: Rule }[] {
  return [...store.allSettled()].flatMap((agentRecord) => {
    const agent = agentRecord.kind === "rules" ? null : agentRecord.id;
    return agentRecord.rules.map((rule) => ({ agent, rule }));
  });
}

async function addRule(ports: AgentHandlerPorts, params: Params): Promise<Result<Record<string, never>>> {
  const part = ports.live();
  if (part === undefined) return NOT_LIVE;
  const found = paramsOf("rule.add", params);
  if (!found.ok) return found;
  const { agent, rule } = found.value;
  const done = await part.store.submit({ kind: "rule-add", id: agent ?? RULE_BOOK, rule });
  return done.ok ? ok({}) : done;
}

async function removeRule(ports: AgentHandlerPorts, params: Params): Promise<Result<Record<string, never>>> {
  const part = ports.live();
  if (part === undefined) return NOT_LIVE;
  const rule = textOr(params["rule"], "");
  const owner = rulesOf(part).find((one) => one.rule.rule_id === rule);
  const done = await part.store.submit({ kind: "rule-remove", id: owner?.agent ?? RULE_BOOK, rule });
  return done.ok ? ok({}) : done;
}
