// A house of agents without a world: commands are decided and folded at once, and the test decides the outcome of
// effects.

import { expect } from "bun:test";
import { assert } from "../../src/base/assert.ts";
import { ok, type Result } from "../../src/base/result.ts";
import { type Agent, type AgentRecord, stateOf } from "../../src/core/agent/agent.ts";
import { applyAgent } from "../../src/core/agent/apply.ts";
import type { AgentCommand, AgentEffect } from "../../src/core/agent/commands.ts";
import { decideAgent } from "../../src/core/agent/decide.ts";
import { derivedId } from "../../src/core/agent/derive.ts";
import type { AgentConfig } from "../../src/core/agent/draft.ts";
import { agentEffectsOf } from "../../src/core/agent/effects.ts";
import type { AgentEvent, AgentSettings, SessionPlan } from "../../src/core/agent/events.ts";
import type { ProviderEvent, ProviderName } from "../../src/core/agent/provider.ts";
import { Tree } from "../../src/core/agent/tree.ts";
import { expectLegal } from "./legal.ts";

export const CHILD = { pid: 7, startTime: 70, bootId: "boot" };

export function planFor(provider: ProviderName): SessionPlan {
  const recipe = { provider, model: null, command: ["agent"], flags: [], permissionMode: null, options: {} };
  return { recipe, system_prompt: "", cwd: "/w", environment: {}, workspace: null };
}

export type NewAgent = {
  readonly parent?: string;
  readonly provider?: ProviderName;
  readonly instructions?: string;
  readonly settings?: Partial<AgentSettings>;
};

/** Counts the lookups of agents. */
class Counted extends Map<string, AgentRecord> {
  asked = 0;

  override get(id: string): AgentRecord | undefined {
    this.asked += 1;
    return super.get(id);
  }
}

/** The configuration of agents without any. */
const NO_SETTINGS: AgentConfig = { slots: {}, paused: false, rules: [], defaults: {}, recipes: {}, spawns: {} };

/** What decisions need beside the agents, without any configuration, and with a key. */
export const AROUND = { settings: NO_SETTINGS, keyed: (text: string) => derivedId("key", text) };

export class AgentFixture {
  readonly agentRecords = new Counted();
  readonly events: AgentEvent[] = [];
  readonly keyed = AROUND.keyed;
  tree = new Tree();
  settings: AgentConfig;
  now = Date.parse("2026-01-01T00:00:00.000Z");

  constructor(settings: Partial<AgentConfig> = {}) {
    this.settings = { ...NO_SETTINGS, ...settings };
  }

  get at(): string {
    return new Date(this.now).toISOString();
  }

  /** The names of the resulting events; a refusal is for the test to expect. */
  try(command: AgentCommand): Result<AgentEvent[]> {
    const before = this.tree.snapshot();
    const decided = decideAgent(this, command, this.at);
    const after = this.tree.snapshot();
    if (decided.ok) decided.value.undo?.();
    expect(this.tree.snapshot()).toEqual(before); // F2 of draft.ts
    if (!decided.ok) return decided;
    const { events } = decided.value;
    for (const [id, record] of decided.value.after) expectLegal(this.agentRecords.get(id), record);
    for (const event of events) this.fold(event);
    expect(this.tree.snapshot()).toEqual(after);
    for (const [id, record] of decided.value.after) expect(record).toEqual(this.agentRecords.get(id) as never);
    return ok([...events]);
  }

  fold(event: AgentEvent): void {
    const before = this.agentRecords.get(event.id);
    const after = applyAgent(before, event);
    this.agentRecords.set(event.id, after);
    this.tree.note(before, after);
    this.events.push(event);
  }

  do(command: AgentCommand): string[] {
    const decided = this.try(command);
    if (!decided.ok) throw new Error(`${decided.error.code}: ${decided.error.message}`);
    return decided.value.map(({ event, id }) => `${event} ${id.slice(0, 4)}`);
  }

  refusal(command: AgentCommand): string {
    const decided = this.try(command);
    return decided.ok ? "" : decided.error.code;
  }

  create(id: string, { parent, provider = "scripted", instructions = "", settings = {} }: NewAgent = {}): void {
    this.do({ kind: "create", id, name: id, parent, instructions, plan: planFor(provider), settings });
  }

  send(id: string, message: string, payload = message): string[] {
    return this.do({ kind: "send", id, message, payload, replyTo: undefined });
  }

  agent(id: string): Agent {
    const found = this.agentRecords.get(id);
    assert(found?.kind === "agent", `${id} is an agent`);
    return found;
  }

  state(id: string): string {
    return stateOf(this.agent(id));
  }

  effects(id: string): AgentEffect[] {
    return agentEffectsOf(this.agent(id));
  }

  /** The process it waits for has started, and accepts all input. */
  start(id: string): void {
    const { generation } = this.agent(id);
    this.do({ kind: "started", id, generation, child: CHILD, holder: 8 });
    this.takeAll(id);
  }

  takeAll(id: string): string[] {
    const { generation, outbox } = this.agent(id);
    return this.do({
      kind: "taken",
      id,
      generation,
      through: outbox.confirmed + outbox.entries.length,
      pieces: outbox.confirmed + outbox.entries.length,
    });
  }

  says(id: string, ...events: ProviderEvent[]): string[] {
    const { generation, consumed } = this.agent(id);
    return this.do({ kind: "read", id, generation, offset: consumed + 1, events });
  }

  done(id: string, response = "ok"): string[] {
    return this.says(id, { kind: "done", response });
  }

  call(id: string, call: string, tool: string, args: AgentCallArgs = {}): AgentCallResult {
    this.do({ kind: "call", id, call, tool, args });
    const found = this.agent(id).calls.find((one) => one.call === call);
    assert(found !== undefined, "a call is answered");
    return { ok: found.ok, result: found.result };
  }

  ends(id: string, code: number | null, signal: string | null = null): string[] {
    return this.do({ kind: "ended", id, generation: this.agent(id).generation, code, signal });
  }

  wait(ms: number): void {
    this.now += ms;
  }

  /** The same house, rebuilt from its events alone. */
  replayed(): AgentFixture {
    const other = new AgentFixture(this.settings);
    other.now = this.now;
    for (const event of this.events) other.fold(JSON.parse(JSON.stringify(event)));
    return other;
  }
}

type AgentCallArgs = Extract<AgentCommand, { kind: "call" }>["args"];
type AgentCallResult = { readonly ok: boolean; readonly result: AgentCallArgs };
