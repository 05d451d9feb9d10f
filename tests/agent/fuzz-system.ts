// A house of agents in an unreliable world: steps are applied to it, and after each the oracle checks everything.
import { expect } from "bun:test";
import { type Agent, isLive, openPrompts } from "../../src/core/agent/agent.ts";
import type { AgentCommand, AgentEffect } from "../../src/core/agent/commands.ts";
import { isAlive } from "../../src/core/agent/process.ts";
import type { ProviderEvent } from "../../src/core/agent/provider.ts";
import { Tree } from "../../src/core/agent/tree.ts";
import { agentEventOf } from "../../src/wire/stored/agent.ts";
import type { Fuzzed } from "../sim/fuzz/fuzzer.ts";
import { Oracle } from "./fuzz-oracle.ts";
import { NAMES, type Saying, type Step, type Tool, type Wish } from "./fuzz-steps.ts";
import { AgentFixture, CHILD, planFor } from "./house.ts";
import { expectSlotsCounted } from "./slot-scan.ts";
import { expectWhole } from "./whole.ts";

const SLOTS = { scripted: 2, command: 1, openai: 1 } as const;

export class AgentSystem implements Fuzzed<Step> {
  fixture = new AgentFixture({ slots: SLOTS });
  readonly #oracle = new Oracle();
  #made = 0;
  #lastSend: AgentCommand | undefined;
  readonly #lastCall = new Map<string, AgentCommand>();

  /** Starts with a working family: thirty steps are too few to build one and to break it. */
  static async start(): Promise<AgentSystem> {
    const system = new AgentSystem();
    const make = { kind: "create", provider: "scripted" } as const;
    for (const [name, parent] of [
      [0, null],
      [1, 0],
      [2, 0],
      [0, 1],
    ] as const)
      await system.step({ ...make, name, parent });
    for (const who of [0, 1, 2, 3]) await system.step({ kind: "send", who });
    for (const who of [0, 1, 0, 1]) await system.step({ kind: "perform", who, which: 0, fails: false });
    return system;
  }

  async step(step: Step): Promise<void> {
    this.#do(step);
    this.#check();
  }

  /** Once the world works again, everything pending completes: no message and no turn is lost. */
  async finish(): Promise<void> {
    for (let round = 0; round < 300 && !this.#atRest(); round += 1) {
      this.fixture.wait(61_000);
      for (const agent of this.#living()) this.#serve(agent.id);
      for (const id of this.fixture.agentRecords.keys()) this.#bury(id);
    }
    this.#check();
    expect(this.#living().map(({ name, inbox, turn }) => [name, inbox.length, turn?.number])).toEqual(
      this.#living().map(({ name }) => [name, 0, undefined]),
    );
  }

  #atRest(): boolean {
    return this.#living().every(
      ({ inbox, turn, session }) => inbox.length === 0 && turn === undefined && session.kind !== "deferred",
    );
  }

  #serve(id: string): void {
    const now = () => this.fixture.agent(id);
    for (const prompt of openPrompts(now())) this.#submit(this.#answerTo(id, prompt.id, "deny", false));
    for (const { call, taken, inline } of now().calls)
      if (!taken && !inline) this.#submit({ kind: "call-taken", id, call });
    if (now().held !== undefined || now().process.kind === "PermanentlyFailed") this.#submit({ kind: "retry", id });
    this.#submit({ kind: "wake", id });
    for (const effect of this.fixture.effects(id)) if (effect.kind !== "timer") this.#perform(effect, 3, false);
    const agent = now();
    if (agent.turn?.taken === true && agent.process.kind === "Running")
      this.#say(agent, [{ kind: "done", response: "" }]);
    if (agent.plan.recipe.provider === "command" && agent.turn === undefined && isAlive(agent.process))
      this.#end(agent, 0);
  }

  /** The process of a terminated agent keeps its slot until it has exited. */
  #bury(id: string): void {
    const agent = this.fixture.agent(id);
    if (agent.terminated !== undefined && isAlive(agent.process)) this.#end(agent, 143);
  }

  #living(): Agent[] {
    return [...this.fixture.agentRecords.values()].filter(isLive);
  }

  #pick(who: number): Agent | undefined {
    const living = this.#living();
    return living[who % Math.max(1, living.length)];
  }

  /** A refusal changes nothing. */
  #submit(command: AgentCommand): readonly string[] | undefined {
    const decided = this.fixture.try(command);
    if (!decided.ok) return undefined;
    this.#oracle.learn(decided.value);
    return decided.value.map(({ event }) => event);
  }

  #do(step: Step): void {
    if (step.kind === "time") this.#pass(step.ms);
    else if (step.kind === "crash") this.#crash(step.lives);
    else if (step.kind === "create") this.#create(step);
    else if (step.kind === "repeat") {
      if (this.#lastSend !== undefined)
        expect(this.#submit(this.#lastSend)?.includes("message.enqueued") ?? false).toBe(false);
    } else {
      const agent = this.#pick(step.who);
      if (agent !== undefined) this.#doTo(agent, step);
    }
  }

  #create({ name, provider, parent }: Extract<Step, { kind: "create" }>): void {
    this.#made += 1;
    const plan = { ...planFor(provider), system_prompt: "by the user" };
    const above = parent === null ? undefined : this.#pick(parent)?.id;
    const wish = {
      name: NAMES[name] ?? "ann",
      parent: above,
      instructions: name === 0 ? "go" : "",
      plan,
      settings: {},
    };
    this.#submit({ kind: "create", id: `${this.#made}`.padStart(32, "0"), ...wish });
  }

  #doTo(agent: Agent, step: Extract<Step, { readonly who: number }>): void {
    const { id } = agent;
    switch (step.kind) {
      case "send":
        this.#made += 1;
        this.#lastSend = { kind: "send", id, message: `m${this.#made}`, payload: "hello", replyTo: undefined };
        this.#submit(this.#lastSend);
        return;
      case "call":
        this.#call(agent, step);
        return;
      case "ack":
        for (const { call, inline } of agent.calls) if (!inline) this.#submit({ kind: "call-taken", id, call });
        return;
      case "perform": {
        const effects = this.fixture.effects(id);
        const effect = effects[step.which % Math.max(1, effects.length)];
        if (effect !== undefined) this.#perform(effect, step.which, step.fails);
        return;
      }
      case "say":
        this.#say(agent, [this.#saying(step.what)], step.twice);
        return;
      case "end":
        this.#end(agent, step.code);
        return;
      case "answer":
        this.#answer(agent, step);
        return;
      case "wish":
        this.#wish(agent, step.wish);
    }
  }

  #wish({ id, inbox }: Agent, wish: Wish): void {
    if (wish === "terminate") this.#submit({ kind: "terminate", id, reason: "enough" });
    else if (wish === "fresh") this.#submit({ kind: "retry", id, history: "what was said" });
    else if (wish === "without") this.#submit({ kind: "retry", id, without: true });
    else if (wish !== "drop") this.#submit({ kind: wish, id });
    else this.#submit({ kind: "inbox-drop", id, messages: inbox.slice(-1).map(({ message_id }) => message_id) });
  }

  #call(agent: Agent, { tool, name, again }: Extract<Step, { kind: "call" }>): void {
    const last = this.#lastCall.get(agent.id);
    if (again && last?.kind === "call" && agent.calls.some(({ call }) => call === last.call)) {
      expect(this.#submit(last)?.filter((event) => event !== "turn.start")).toEqual([]);
      return;
    }
    this.#made += 1;
    const command = {
      kind: "call",
      id: agent.id,
      call: `c${this.#made}`,
      tool,
      args: argumentsOf(tool, name),
      ...(this.#made % 3 === 0 ? { via: "http" as const } : {}),
    } as const;
    this.#lastCall.set(agent.id, command);
    this.#submit(command);
  }

  #answer({ id, prompts }: Agent, { allow, always }: Extract<Step, { kind: "answer" }>): void {
    const prompt = prompts.at(-1);
    if (prompt === undefined) return;
    const decision = allow ? "allow" : "deny";
    const command = this.#answerTo(id, prompt.id, decision, always);
    const answered = this.#submit(command);
    expect(answered !== undefined).toBe(prompt.state.kind === "open");
    // A repeat of the same is acknowledged, and changes nothing.
    if (answered !== undefined) expect(this.#submit(command)).toEqual([]);
  }

  #answerTo(id: string, prompt: string, decision: "allow" | "deny", always: boolean) {
    this.#made += 1;
    return { kind: "answer", id, prompt, answer: `a${this.#made}`, decision, message: "", always } as const;
  }

  #saying(what: Saying): ProviderEvent {
    this.#made += 1;
    const id = `s${this.#made}`;
    const sayings: Readonly<Record<Saying, ProviderEvent>> = {
      text: { kind: "text", text: "hm" },
      done: { kind: "done", response: "yes" },
      tool: { kind: "tool", use: id, tool: "Bash", input: { command: "ls" } },
      session: { kind: "session", session: `session-${this.#made % 3}` },
      unopened: { kind: "failed", reason: "no session", retryable: false, opening: true },
      failed: { kind: "failed", reason: "no", retryable: this.#made % 2 === 0 },
      ask: { kind: "ask", request: id, tool: "Bash", input: { command: "ls" }, use: `s${this.#made - 1}` },
      call: {
        kind: "call",
        call: id,
        tool: this.#made % 2 === 0 ? "check_inbox" : "send_message",
        args: { to: "bob", text: "x" },
      },
      limit: { kind: "limit", until: new Date(this.fixture.now + 30_000).toISOString() },
      withdrawn: { kind: "withdrawn", request: `s${this.#made - 1}` },
      "too long": {
        kind: "failed",
        reason: "400",
        retryable: false,
        context: this.#made % 2 === 0 ? { limit: 9 } : {},
      },
      busy: { kind: "failed", reason: "429", retryable: true, passing: true },
      later: { kind: "later", reason: "503", until: new Date(this.fixture.now + 30_000).toISOString() },
      retrying: { kind: "retrying", reason: "429", attempt: 1, of: 9, delay_ms: 1000 },
      used: { kind: "usage", usage: { input_tokens: 1, output_tokens: 1, cost_usd: this.#made }, total: "process" },
    };
    return sayings[what];
  }

  #say({ id, generation, consumed }: Agent, events: readonly ProviderEvent[], twice = false): void {
    const command = { kind: "read", id, generation, offset: consumed + 1, events } as const;
    this.#submit(command);
    if (twice) expect(this.#submit(command)?.includes("agent.read") ?? false).toBe(false);
  }

  #end({ id, generation }: Agent, code: number | null): void {
    this.#submit({ kind: "ended", id, generation, code, signal: null });
  }

  /** `failure`: how it fails, if it does. */
  #start(id: string, generation: number, failure: number | undefined): void {
    const unresumable = failure === 0 ? true : undefined;
    if (failure !== undefined) this.#submit({ kind: "start-failed", id, generation, reason: "no", unresumable });
    else this.#submit({ kind: "started", id, generation, child: CHILD, holder: 1 });
  }

  #perform(effect: AgentEffect, which: number, fails: boolean): void {
    const { id } = effect;
    if (effect.kind === "start") {
      this.#start(id, effect.generation, fails ? which : undefined);
    } else if (effect.kind === "send") {
      const through = effect.from + which;
      this.#submit({ kind: "taken", id, generation: effect.generation, through, pieces: through });
    } else if (effect.kind === "suspend" || effect.kind === "stop") {
      if (!fails) this.#end(this.fixture.agent(id), 0);
    } else if (effect.kind === "ask") {
      const failed = { kind: "failed", reason: "503", retryable: true } as const;
      this.#say(this.fixture.agent(id), [fails ? failed : { kind: "done", response: "well" }]);
    } else if (effect.kind === "pass-on") {
      this.#submit({ kind: "pass-on", id });
    } else if (effect.kind === "timer" && !fails) {
      this.fixture.now = Math.max(this.fixture.now, Date.parse(effect.at));
      this.#submit({ kind: "wake", id });
    }
  }

  #pass(ms: number): void {
    this.fixture.wait(ms);
    for (const id of [...this.fixture.agentRecords.keys()]) this.#submit({ kind: "wake", id });
  }

  /** AG-2, AG-4: everything is rebuilt from the events as they are on disk. */
  #crash(lives: number): void {
    const before = this.fixture;
    this.fixture = new AgentFixture({ slots: SLOTS, paused: true });
    this.fixture.now = before.now;
    for (const { event, id, data } of before.events) {
      const stored = agentEventOf({ session_id: id, event, data: JSON.parse(JSON.stringify(data)) });
      if (stored === undefined) throw new Error(`${event} is not known`);
      this.fixture.fold(stored);
    }
    expect(this.fixture.agentRecords).toEqual(before.agentRecords);
    const all = [...this.fixture.agentRecords.keys()];
    for (const id of all) this.#submit({ kind: "detach", id });
    expect(this.#living().filter(({ session }) => session.kind === "active")).toEqual([]);
    for (const [at, id] of all.entries()) this.#find(this.fixture.agent(id), ((lives >> (at % 10)) & 1) === 1);
    this.fixture.settings = { ...this.fixture.settings, paused: false };
    const [first] = all;
    if (first !== undefined) this.#submit({ kind: "schedule", id: first });
  }

  #find(agent: Agent, lives: boolean): void {
    const { id, generation } = agent;
    if (!isAlive(agent.process)) return;
    if (lives) this.#submit({ kind: "adopted", id, generation, child: CHILD, holder: 1 });
    else this.#end(agent, null);
  }

  #check(): void {
    this.#oracle.check(this.fixture.agentRecords);
    for (const agent of this.#living()) expectWhole(agent);
    expect(this.fixture.tree.snapshot()).toEqual(Tree.of(this.fixture.agentRecords).snapshot());
    expect(this.fixture.tree.agents).toBe(this.#oracle.living);
    expectSlotsCounted(this.fixture.tree, this.fixture.agentRecords);
    for (const provider of ["scripted", "command", "openai"] as const)
      expect(this.fixture.tree.taken(provider)).toBeLessThanOrEqual(SLOTS[provider]);
  }
}

function argumentsOf(tool: Tool, at: number): Readonly<Record<string, string | number>> {
  const name = NAMES[at] ?? "ann";
  if (tool === "spawn_agent") return { name, instructions: "dig", system_prompt: "spawned" };
  if (tool === "send_message") return { to: name, text: "x" };
  if (tool === "broadcast") return { text: "all" };
  if (tool === "complete") return { result: "done" };
  return tool === "remind_me" ? { in_seconds: 30, text: "now" } : {};
}
