// The engine of agents: performs their effects (core/agent/effects.ts) and submits the outcomes.
// E1. Effects are derived from the state: performing one twice is harmless, and one that was missed is performed on a
//     later round.
// E2. Times are in the state; a timer here is only a reminder of the next one.
// E3. There are rounds only while an agent has a process or a turn.
// E4. Output that is more than a transaction takes fails the turn in its place: it would be read and refused again at
//     every round and every start.
import { isFault } from "../../base/fault.ts";
import type { Result } from "../../base/result.ts";
import { type Agent, type AgentRecord, isLive } from "../../core/agent/agent.ts";
import type { AgentCommand, AgentEffect } from "../../core/agent/commands.ts";
import { agentEffectsOf } from "../../core/agent/effects.ts";
import { isAlive } from "../../core/agent/process.ts";
import type { ProviderEvent } from "../../core/agent/provider.ts";
import { timesOf } from "../../core/agent/times.ts";
import { isTooLong } from "../../core/agent/trim.ts";
import type { Left } from "../../core/due-times.ts";
import { TOOLS } from "../../wire/provider/tools.ts";
import type { PartialText } from "../../wire/rpc/partial.ts";
import type { HttpClient } from "../../world/http.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import { decided } from "../part.ts";
import type { DaemonWorld } from "../ports.ts";
import { BareModels, type BarePorts } from "./bare.ts";
import { Processes } from "./processes.ts";

export type EnginePorts = {
  agent(id: string): Agent | undefined;
  agents(): Iterable<Agent>;
  /** Milliseconds until a time that an agent waits for. */
  readonly left: Left;
  submit(command: AgentCommand): Promise<Result<AgentRecord>>;
  /** D3 of decoder.ts: where the lines of its process begin that are skipped. */
  skipped(agent: Agent): ReadonlySet<number>;
  holderCommand(): HolderCommand;
  environment(agent: Agent): Readonly<Record<string, string>>;
  /** Whether its session is on record, durably; and how that is done (R2 of records.ts). */
  isRecorded(agent: Agent): boolean;
  recorded(agent: Agent): Promise<void>;
  /** Afterwards the whole conversation of a bare LLM is in its state (load-conversation.ts). */
  recall(id: string): Promise<Result<void>>;
  /** CB-1 */
  readonly breaker: BarePorts["breaker"];
  /** SP-3 */
  crashed(id: string, reason: string): void;
  /** PB2 of part.ts */
  onBug(error: unknown, id: string): void;
  guard(id: string, work: () => void): void;
  /** B4 of bare.ts, A6 of agent-connection.ts */
  partial(partial: PartialText): void;
};

/** E1. A round costs next to nothing if all agents are healthy. */
const ROUND_MS = 5_000;
/** Timers count in 32 bits: for a later time, the timer is set again in between. */
const MAX_MS = 3_600_000;

function unrecordable(why: string): ProviderEvent {
  return { kind: "failed", reason: `What it wrote cannot be recorded: ${why}.`, retryable: false };
}

export class AgentEngine {
  readonly processes: Processes;
  readonly #bare: BareModels;
  readonly #world: DaemonWorld;
  readonly #ports: EnginePorts;
  readonly #timers = new Map<string, () => void>();
  readonly #recalling = new Set<string>();
  readonly #passing = new Set<string>();
  /** By agent: the time of the last crash that was reported. */
  readonly #told = new Map<string, string>();
  #rounds = false;
  #cancel: (() => void) | undefined;
  #closed = false;

  constructor(world: DaemonWorld & { readonly httpClient: HttpClient }, ports: EnginePorts) {
    this.#world = world;
    this.#ports = ports;
    this.processes = new Processes(world, {
      ...ports,
      submit: async (command) => decided(await this.#submit(command)).ok,
    });
    this.#bare = new BareModels({
      clock: world.clock,
      http: world.httpClient,
      tools: TOOLS,
      breaker: ports.breaker,
      variable: (name) => world.self.environment()[name],
      answered: async (id, request, events) => {
        decided(await this.#submit({ kind: "read", id, generation: 0, offset: request, events }));
      },
      partial: (id, offset, from, text) => ports.partial({ id, generation: 0, offset, from, text }),
      onBug: (error, id) => ports.onBug(error, id),
    });
  }

  /** E4 */
  async #submit(command: AgentCommand): Promise<Result<AgentRecord>> {
    const done = await this.#ports.submit(command);
    if (done.ok || command.kind !== "read" || done.error.code !== "log.too-large") return done;
    return this.#ports.submit({ ...command, events: [unrecordable(done.error.message)] });
  }

  perform(effect: AgentEffect): void {
    if (this.#closed) return;
    this.#armRound();
    const { id } = effect;
    if (effect.kind === "ask") this.#ask(id, effect.request);
    else if (effect.kind === "timer") this.#remind(id);
    else if (effect.kind === "crashed") this.#tell(id, effect.reason, effect.at);
    else if (effect.kind === "finish") this.#finish(id);
    else if (effect.kind === "pass-on") this.#work(id, this.#passOn(id));
    else this.#ofProcess(effect);
  }

  #ofProcess(effect: Extract<AgentEffect, { readonly generation: number }>): void {
    const place = { id: effect.id, generation: effect.generation };
    if (effect.kind === "start") this.processes.start(place);
    else if (effect.kind === "send") this.processes.send(place);
    else if (effect.kind === "suspend") this.processes.suspend(place);
    else this.processes.stop(place, effect.signal);
  }

  performAll(agent: Agent): void {
    for (const effect of agentEffectsOf(agent)) this.perform(effect);
  }

  /** E3. From now on there are rounds, while any agent needs them. */
  startPolling(): void {
    this.#rounds = true;
    for (const agent of this.#ports.agents()) if (this.#needsLook(agent)) this.#armRound();
  }

  #armRound(): void {
    if (!this.#rounds || this.#closed || this.#cancel !== undefined) return;
    this.#cancel = this.#world.clock.after(ROUND_MS, () => {
      this.#cancel = undefined;
      for (const agent of this.#ports.agents()) {
        if (!this.#needsLook(agent)) continue;
        this.#ports.guard(agent.id, () => this.processes.tend(agent));
        // Submitted as a command, so that its effects are performed once they are durable, not when they are only
        // decided.
        this.#work(agent.id, this.#ports.submit({ kind: "schedule", id: agent.id }));
        this.#armRound();
      }
    });
  }

  /** It is busy, and an effect may have been missed; an idle agent gets its effects when it becomes active. */
  #needsLook(agent: Agent): boolean {
    return isAlive(agent.process) || (isLive(agent) && agent.turn !== undefined) || agent.broadcasts.length > 0;
  }

  /** Whether nothing works on it, or waits for a time of its. */
  isQuiet(agent: Agent): boolean {
    const { id } = agent;
    const works = this.#recalling.has(id) || this.#passing.has(id) || this.#bare.isAsking(id);
    return !works && !this.#timers.has(id) && this.processes.isQuiet(agent);
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
    for (const cancel of this.#timers.values()) cancel();
    this.#bare.close();
    this.processes.close();
  }

  #ask(id: string, request: number): void {
    const agent = this.#ports.agent(id);
    if (agent === undefined || this.#recalling.has(id)) return;
    if (!this.#ports.isRecorded(agent)) this.#work(id, this.#record(agent));
    else if (agent.conversation.earlier > 0) this.#work(id, this.#recall(id, request));
    else if (isTooLong(agent)) this.#work(id, this.#ports.submit({ kind: "trim", id }));
    else this.#bare.ask(agent, request);
  }

  #work(id: string, work: Promise<unknown>): void {
    void work.catch((error: unknown) => this.#ports.onBug(error, id));
  }

  /** If the disk refuses it, the next round tries again. */
  async #record(agent: Agent): Promise<void> {
    try {
      await this.#ports.recorded(agent);
      if (!this.#closed) await this.#ports.submit({ kind: "schedule", id: agent.id });
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }

  /** Reads its conversation from its log, then asks the model. If that fails, the turn fails with the reason. */
  async #recall(id: string, request: number): Promise<void> {
    this.#recalling.add(id);
    const done = await this.#ports.recall(id).finally(() => this.#recalling.delete(id));
    if (this.#closed) return;
    const reason = done.ok ? "" : `${done.error.message} ${done.error.hint}`;
    const failed = [{ kind: "failed", reason, retryable: false }] as const;
    if (done.ok) await this.#ports.submit({ kind: "schedule", id });
    else await this.#ports.submit({ kind: "read", id, generation: 0, offset: request, events: failed });
  }

  /** The clock was set, or the machine was asleep. */
  remindAll(): void {
    for (const id of [...this.#timers.keys()]) this.#remind(id);
  }

  /** E2. The earliest text is not always the next: the clock may have been set since. */
  #remind(id: string): void {
    const agent = this.#ports.agent(id);
    if (agent === undefined || this.#closed) return;
    this.#timers.get(id)?.();
    this.#wakeIn(id, Math.max(0, Math.min(MAX_MS, ...timesOf(agent).map(this.#ports.left))));
  }

  #wakeIn(id: string, ms: number): void {
    const cancel = this.#world.clock.after(ms, () => {
      this.#timers.delete(id);
      this.#work(id, this.#wake(id));
    });
    this.#timers.set(id, cancel);
  }

  /** If it is refused now, it is retried: rounds do not include idle agents. */
  async #wake(id: string): Promise<void> {
    const woken = await this.#ports.submit({ kind: "wake", id });
    const waits = !woken.ok && woken.error.code !== "set-aside";
    if (waits && !this.#closed && !this.#timers.has(id)) this.#wakeIn(id, ROUND_MS);
  }

  /** If the disk refuses it, the next round tries again. */
  async #passOn(id: string): Promise<void> {
    if (this.#passing.has(id)) return;
    this.#passing.add(id);
    try {
      while (!this.#closed && (this.#ports.agent(id)?.broadcasts.length ?? 0) > 0)
        if (!(await this.#ports.submit({ kind: "pass-on", id })).ok) return;
    } finally {
      this.#passing.delete(id);
    }
  }

  #tell(id: string, reason: string, at: string): void {
    if (this.#told.get(id) === at) return;
    this.#told.set(id, at);
    this.#ports.crashed(id, reason);
  }

  #finish(id: string): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    this.#told.delete(id);
    this.#bare.forget(id);
  }
}
