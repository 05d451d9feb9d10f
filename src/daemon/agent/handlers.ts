// The requests that clients may make about agents. Nothing is changed before the daemon is live (PB3 of part.ts).
// AH1. The client chooses the ids of agents, messages and answers: a repeated request finds the result of the first
//      one, and creates nothing new.
// AH2. The bearer of an agent's token may call that agent's tools, and nothing else.
// AH3. Read-only requests wait until all agents are read from the log: half a tree would look like the whole tree.
// AH4. What is shown, and what a call is answered with, is durable: an agent's `settled` state, never one that is only
//      decided.
// AH5. An operator who looks at an agent has been heard from: its prompts do not expire meanwhile (PR-2). An agent's
//      own process that looks has not.
// AH6. An agent that is archived is shown like any other that was terminated, and a request to it is refused with the
//      reason.
import { isId } from "../../base/ids.ts";
import type { Json } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { type Agent, isLive, openPrompts, RULE_BOOK } from "../../core/agent/agent.ts";
import type { AgentCommand, AnswerCommand, CreateAgent } from "../../core/agent/commands.ts";
import type { AgentConfig } from "../../core/agent/draft.ts";
import { pickAgent, pickPrompt, pickRule } from "../../core/agent/find.ts";
import { whyNotThere } from "../../core/agent/inherit.ts";
import type { Recipe } from "../../core/agent/provider.ts";
import { inherited } from "../../core/agent/workspace.ts";
import { type EnvironmentRules, keepEnvironment } from "../../core/environment.ts";
import { type Caller, mayAct } from "../../core/principal.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { ToolAnswer } from "../../wire/provider/mcp.ts";
import {
  type ListedAgent,
  type ListedPrompt,
  type NewAgent,
  type OwnedRule,
  readBearer,
  type WantedWorkspace,
} from "../../wire/rpc/agent.ts";
import { listedAgent, listedPrompt, listedPrompts, listedRules, shownAgent } from "../../wire/rpc/listed-agent.ts";
import { fits } from "../../wire/rpc/page.ts";
import { type PARAMS, type Params, paramsOf } from "../../wire/rpc/params.ts";
import type { Disk } from "../../world/disk.ts";
import { sameSecret } from "../../world/hash.ts";
import { listOf, living, numbered } from "../pages.ts";
import type { PartBorder } from "../part.ts";
import type { Bearer, Handlers } from "../rpc-server.ts";
import type { AgentArchive } from "./archive.ts";
import type { HandedCalls } from "./handed-calls.ts";
import { agentHistory, toldHistory } from "./history.ts";
import { lastMessages } from "./last-messages.ts";
import { readToken } from "./process-files.ts";
import { whyNoProgram } from "./program-check.ts";
import { recipeFor } from "./recipes.ts";
import type { Sandboxing } from "./sandboxing.ts";
import type { AgentStore } from "./store.ts";
import { type Placed, workspaceOf } from "./workspaces.ts";

export type AgentHandlerPorts = {
  readonly disk: Disk;
  readonly home: string;
  /** Decides whether a new agent is sandboxed. */
  sandboxing(wanted: WantedWorkspace | undefined, recipe: Recipe): Promise<Sandboxing>;
  readonly environment: EnvironmentRules;
  /** The PATH that agents get whose creator has none. */
  readonly ownPath: string | undefined;
  readonly agentConfig: AgentConfig;
  readonly defaultProvider: string;
  readonly border: PartBorder;
  readonly store: AgentStore;
  readonly archive: AgentArchive;
  readonly log: EventLog;
  readonly handed: HandedCalls;
  /** Why its process is not started yet, although it was tried. */
  trouble(agent: Agent): string | undefined;
};

export function agentHandlers(ports: AgentHandlerPorts): Handlers {
  const { border, store } = ports;
  const one = <T>(show: (agent: Agent) => T) =>
    border.looking(async ({ id }, by) => {
      inspected(ports, id, by);
      return ofOne(ports, id, show);
    });
  return {
    ...commandHandlers(ports),
    ...border.changing("agent.new", (params, by) => create(ports, params, by)),
    ...border.listing("agent.list", (wish) =>
      agents(ports, wish.newest, (agent) => {
        const row = listedAgent(agent, ports.trouble(agent));
        return fits(row, wish) ? row : undefined;
      }),
    ),
    ...border.asking("agent.find", async ({ key }) => find(ports, key)),
    "agent.show": one((agent) => shownAgent(agent, ports.trouble(agent))),
    "agent.inbox": border.looking(async (given, by) => {
      const params = paramsOf("agent.inbox", given);
      if (!params.ok) return params;
      inspected(ports, params.value.id, by);
      return ofOne(ports, params.value.id, ({ inbox }) =>
        border.rows(
          numbered(() => inbox),
          params.value,
        ),
      );
    }),
    ...border.asking("agent.history", async (wish) => agentHistory(ports.log, wish)),
    ...border.asking("agent.messages", async ({ limit }) =>
      ok(lastMessages(ports.log, idsOf(store.settledAgents()), limit)),
    ),
    ...border.listing("prompt.list", ({ closed = false }) =>
      numbered(() => listedPrompts(store.settledAgents(), closed)),
    ),
    ...border.asking("prompt.find", async ({ key }) =>
      pickPrompt((closed) => listedPrompts(store.settledAgents(), closed), key),
    ),
    ...border.changing("prompt.answer", (params, by) => answer(ports, params, by)),
    ...border.changing("prompt.always", ({ prompt, answer: id, rule, all }, by) =>
      answer(ports, { prompt, answer: id, decision: "allow", worded: { rule, isForAll: all } }, by),
    ),
    ...border.listing("rule.list", () => numbered(() => rulesOf(ports))),
    ...border.asking("rule.find", async ({ key }) => pickRule(rulesOf(ports), key)),
    ...border.changing("rule.add", (params, by) => addRule(ports, params, by)),
    ...border.changing("rule.remove", ({ rule }, by) => removeRule(ports, rule, by)),
  };
}

function* idsOf(agents: Iterable<Agent>): Generator<string> {
  for (const { id } of agents) yield id;
}

function rulesOf({ store, agentConfig }: AgentHandlerPorts): OwnedRule[] {
  return listedRules(store.allSettled(), agentConfig.rules);
}

/** Where the rows of agents come from (AH3, AH4): the live ones. */
function agents<T>({ store }: AgentHandlerPorts, newest: boolean | undefined, rowOf: (agent: Agent) => T | undefined) {
  return living(store, newest, (record) => (isLive(record) ? rowOf(record) : undefined));
}

/** A terminated agent is not listed; its full id still finds it (AH6). */
function find(ports: AgentHandlerPorts, key: string): Result<ListedAgent> {
  const found = pickAgent(listOf(agents(ports, false, (agent) => agent)), key);
  const meant = found.ok ? found.value : ports.archive.agent(key);
  if (meant === undefined) return found.ok ? unknown(key) : found;
  return ok(listedAgent(meant, ports.trouble(meant)));
}

/** The requests that are one command to one agent. */
function commandHandlers(ports: AgentHandlerPorts): Handlers {
  const ofAgent = <M extends AgentMethod>(method: M, make: (params: Params<M>) => AgentCommand) =>
    ports.border.changing(method, (params, by) => submitted(ports, make(params), by));
  return {
    ...ofAgent("agent.send", ({ id, message, text, replyTo }) => {
      return { kind: "send", id, message, payload: text, replyTo: replyTo ?? undefined };
    }),
    ...ofAgent("agent.terminate", ({ id, reason }) => ({ kind: "terminate", id, reason })),
    ...ofAgent("agent.retry", ({ id, without, fresh }) => {
      return { kind: "retry", id, without, ...(fresh === true && { history: toldHistory(ports.log, id) }) };
    }),
    ...ofAgent("agent.drop", ({ id, messages }) => ({ kind: "inbox-drop", id, messages })),
    ...ofAgent("agent.edit", ({ id, message, text }) => ({ kind: "inbox-edit", id, message, payload: text })),
    ...ofAgent("agent.interrupt", ({ id }) => ({ kind: "interrupt", id })),
    ...ofAgent("agent.suspend", ({ id }) => ({ kind: "suspend", id })),
    ...ofAgent("agent.set", ({ id, settings }) => ({ kind: "set", id, settings })),
  };
}

type AgentMethod = Extract<keyof typeof PARAMS, `agent.${string}`>;

/** What the bearer of an agent's token may do. */
export type ToolCaller = {
  /** The agent's. */
  readonly id: string;
  call(asked: AskedCall): Promise<Result<ToolAnswer>>;
  taken(call: string): Promise<Result<Record<string, never>>>;
  /**
   * Over HTTP (handed-calls.ts): `handed` notes that an answer was sent, which matters if it contains messages;
   * `goesOn`, that another request arrived in that session.
   */
  handed(session: string, call: string): void;
  goesOn(session: string, repeated: string | undefined): Promise<void>;
};

type AskedCall = { readonly call: string; readonly tool: string; readonly args: Json; readonly via?: "http" };

/** AH2. Returns undefined for an unknown token. */
export function toolCaller(ports: AgentHandlerPorts, token: string): ToolCaller | undefined {
  const bearer = readBearer(token);
  const secret = bearer !== undefined && isId(bearer.id) ? readToken(ports.disk, ports.home, bearer.id) : undefined;
  if (bearer === undefined || secret === undefined || !sameSecret(bearer.secret, secret)) return undefined;
  const { id } = bearer;
  const by: Caller = { principal: "agent", agent: id, pid: null, exe: null, tty: null };
  return {
    id,
    call: async (asked) => {
      const { call } = asked;
      const done = await submitAgent(ports, { kind: "call", id, ...asked }, by);
      const found = done.ok ? done.value.calls.find((one) => one.call === call) : undefined;
      if (!done.ok) return done;
      return found === undefined ? NOT_ANSWERED : ok({ ok: found.ok, value: found.result });
    },
    taken: async (call) => {
      const done = await submitAgent(ports, { kind: "call-taken", id, call }, by);
      return done.ok ? ok({}) : done;
    },
    handed: (session, call) => {
      const found = ports.store.settledAgent(id)?.calls.find((one) => one.call === call);
      if (found !== undefined && found.messages.length > 0) ports.handed.hand(id, session, call);
    },
    goesOn: async (session, repeated) => {
      for (const call of ports.handed.goesOn(id, session, repeated))
        await submitAgent(ports, { kind: "call-taken", id, call }, by);
    },
  };
}

const NOT_ANSWERED = refused("agent.call", "The call was not answered.", "Try again.");

/** AH2 */
export function bearerHandlers(ports: AgentHandlerPorts, token: string): Bearer | undefined {
  const caller = toolCaller(ports, token);
  if (caller === undefined) return undefined;
  const handlers = {
    ...ports.border.changing("agent.call", ({ call, tool, args = {} }) => caller.call({ call, tool, args })),
    ...ports.border.changing("agent.call-taken", ({ call }) => caller.taken(call)),
  };
  return { id: caller.id, handlers };
}

function submitAgent(
  { border, store }: AgentHandlerPorts,
  command: AgentCommand,
  by: Caller | undefined,
): Promise<Result<Agent>> {
  return border.whenLive(async () => {
    const done = await store.submit(command, by);
    if (!done.ok) return done;
    const agent = store.settledAgent(command.id); // AH4
    return agent === undefined ? unknown(command.id) : ok(agent);
  });
}

async function submitted(
  ports: AgentHandlerPorts,
  command: AgentCommand,
  by: Caller | undefined,
): Promise<Result<ListedAgent>> {
  const done = await submitAgent(ports, command, by);
  return done.ok ? ok(listedAgent(done.value)) : done;
}

function unknown(id: unknown): Result<never> {
  return refused("unknown", `There is no agent ${String(id)}.`, "holdfast agent tree shows all.");
}

function ofOne<T>(ports: AgentHandlerPorts, id: unknown, show: (agent: Agent) => T): Result<T> {
  const found = typeof id === "string" ? ports.archive.agent(id) : undefined; // AH6
  return found === undefined ? unknown(id) : ok(show(found));
}

/** AH5 */
function inspected({ border, store }: AgentHandlerPorts, id: unknown, by: Caller | undefined): void {
  const found = typeof id === "string" ? store.settledAgent(id) : undefined;
  if (found === undefined || openPrompts(found).length === 0 || (by !== undefined && !mayAct(by))) return;
  border.outcome(() => border.whenLive(() => store.submit({ kind: "activity", id: found.id }, by)), found.id);
}

/** AH1 */
async function create(
  ports: AgentHandlerPorts,
  params: NewAgent,
  by: Caller | undefined,
): Promise<Result<ListedAgent>> {
  const { store } = ports;
  const command = await createOf(ports, params);
  if (!command.ok) return command;
  const known = store.settledAgent(command.value.id);
  if (known !== undefined) return ok(listedAgent(known));
  const missing = whyNoProgram(ports, command.value.plan);
  if (missing !== undefined) return { ok: false, error: missing };
  const made = await submitted(ports, command.value, by);
  const twin = !made.ok && made.error.code === "id-taken" ? store.settledAgent(command.value.id) : undefined;
  return twin === undefined ? made : ok(listedAgent(twin));
}

async function createOf(ports: AgentHandlerPorts, params: NewAgent): Promise<Result<CreateAgent>> {
  const { agentConfig, environment, defaultProvider } = ports;
  const {
    id,
    name,
    parent,
    lane,
    instructions,
    provider,
    model,
    systemPrompt,
    env,
    command,
    flags,
    permissionMode,
    settings,
  } = params;
  const recipe = recipeFor(agentConfig, {
    provider: provider ?? defaultProvider,
    model,
    command,
    flags,
    permissionMode,
  });
  if (!recipe.ok) return recipe;
  const place = await placeOf(ports, { ...params, env: keepEnvironment(env, environment).kept }, recipe.value);
  if (!place.ok) return place;
  const plan = { recipe: recipe.value, system_prompt: systemPrompt, ...place.value };
  return ok({ kind: "create", id, name, parent: parent ?? undefined, lane, instructions, plan, settings });
}

/** IN3 of core/agent/inherit.ts. A child that wants nothing else gets the sandbox of its parent. */
async function placeOf(
  { disk, home, sandboxing, store }: AgentHandlerPorts,
  { id, name, parent, cwd, env, workspace }: NewAgent,
  recipe: Recipe,
): Promise<Result<Placed>> {
  const above = parent === null ? undefined : store.settledAgent(parent);
  const sandbox = above?.plan.workspace?.sandbox ?? null;
  if (above !== undefined && sandbox !== null) {
    const shown = workspace?.sandbox ?? { read: [], write: [], network: sandbox.network };
    const refusal = whyNotThere(above.name, sandbox, { ...shown, cwd });
    if (refusal !== undefined) return { ok: false, error: refusal };
    if (workspace === undefined) return ok({ cwd, environment: env, workspace: inherited(above.plan.workspace) });
    if (workspace.sandbox === null)
      return refused("above-parent", `${above.name} is in a sandbox, and so are its agents.`, "Add --sandbox.");
  }
  const { wanted, unsandboxed } = await sandboxing(workspace, recipe);
  const found = workspaceOf({ disk, home }, { id, name, cwd, env, wanted }, recipe);
  if (!found.ok || unsandboxed === undefined) return found;
  const none = { worktree: null, sandbox: null };
  return ok({ ...found.value, workspace: { ...(found.value.workspace ?? none), unsandboxed } });
}

async function answer(
  ports: AgentHandlerPorts,
  params: Params<"prompt.answer"> & Pick<AnswerCommand, "worded">,
  by: Caller | undefined,
): Promise<Result<ListedPrompt>> {
  const { prompt, answer: given, decision, message = "", always = false, worded } = params;
  const id = askerOf(ports, prompt);
  if (id === undefined) return refused("unknown", `There is no prompt ${prompt}.`, "holdfast prompts shows all.");
  const command = {
    kind: "answer",
    id,
    prompt,
    answer: given,
    decision,
    message,
    always,
    ...(worded && { worded }),
    device: by?.device,
  } as const;
  const done = await ports.border.using(id, () => submitAgent(ports, command, by)); // AH6
  if (!done.ok) return done;
  const found = done.value.prompts.find((one) => one.id === prompt);
  return found === undefined
    ? refused("unknown", `There is no prompt ${prompt}.`, "holdfast prompts shows all.")
    : ok(listedPrompt(done.value, found));
}

/** The agent that asked, even if the prompt is no longer open: the refusal then gives the reason. */
function askerOf({ store, archive }: AgentHandlerPorts, prompt: string): string | undefined {
  const open = store.tree.askerOf(prompt);
  const closed = () => [...store.agents()].find(({ prompts }) => prompts.some(({ id }) => id === prompt))?.id;
  return open ?? closed() ?? archive.askerOf(prompt);
}

async function addRule(
  { store }: AgentHandlerPorts,
  { agent, rule }: Params<"rule.add">,
  by: Caller | undefined,
): Promise<Result<Record<string, never>>> {
  const done = await store.submit({ kind: "rule-add", id: agent ?? RULE_BOOK, rule, device: by?.device }, by);
  return done.ok ? ok({}) : done;
}

async function removeRule(
  { store, agentConfig }: AgentHandlerPorts,
  rule: string,
  by: Caller | undefined,
): Promise<Result<Record<string, never>>> {
  if (agentConfig.rules.some(({ rule_id }) => rule_id === rule)) {
    const hint = `Remove [${rule}] from it, then: holdfast reload`;
    return refused("configured", `The rule ${rule} is in the configuration file.`, hint);
  }
  const owner = listedRules(store.allSettled()).find((one) => one.rule.rule_id === rule);
  const done = await store.submit({ kind: "rule-remove", id: owner?.agent ?? RULE_BOOK, rule }, by);
  return done.ok ? ok({}) : done;
}
