// What must always hold for agents, in a model independent of the code: the recipients of each message, the open
// questions, the progress of each turn. Its only input is the events and the steps.
import { expect } from "bun:test";
import type { AgentRecord } from "../../src/core/agent/agent.ts";
import type { AgentEvent } from "../../src/core/agent/events.ts";
import { isAlive } from "../../src/core/agent/process.ts";

type Model = {
  parent: string | null;
  name: string;
  dead: boolean;
  readonly enqueued: Set<string>;
  readonly delivered: Set<string>;
  turn: number | undefined;
  turns: number;
  readonly prompts: Map<string, "open" | "unanswered" | "answered" | "closed">;
  generation: number;
  session: boolean;
  readonly request: boolean;
  alive: boolean;
  /** The last delivered entry of the outbox. */
  through: number;
  /** Messages that `check_inbox` returned to the current process, with their transport, and acknowledged calls. */
  readonly handed: Map<string, "http" | undefined>;
  readonly taken: Set<string>;
};

export class Oracle {
  readonly #agents = new Map<string, Model>();
  readonly #sent = new Map<string, string>();

  /** The events of one decision: one transaction. */
  learn(events: readonly AgentEvent[]): void {
    for (const event of events) this.#learn(event, events);
  }

  #learn(event: AgentEvent, all: readonly AgentEvent[]): void {
    const { id } = event;
    if (event.event === "agent.created") {
      expect(this.#agents.has(id)).toBe(false);
      const { name, parent_session_id: parent } = event.data;
      this.#agents.set(id, {
        ...{ parent, name, dead: false, enqueued: new Set(), delivered: new Set(), turn: undefined, turns: 0 },
        ...{ prompts: new Map(), generation: 0, session: false, through: 0, handed: new Map(), taken: new Set() },
        alive: false,
        request: event.data.session.recipe.provider === "openai",
      });
      return;
    }
    const agent = this.#agents.get(id);
    if (agent === undefined) return;
    this.#message(agent, event, all);
    this.#life(agent, event);
    this.#call(agent, event);
    this.#turn(agent, event);
    this.#prompt(agent, event);
  }

  #message(agent: Model, event: AgentEvent, all: readonly AgentEvent[]): void {
    if (event.event === "message.enqueued") {
      const { message_id, sender } = event.data;
      // Not duplicated, and not to a terminated agent.
      expect([agent.enqueued.has(message_id), agent.dead]).toEqual([false, false]);
      agent.enqueued.add(message_id);
      if (this.#agents.has(sender)) {
        const sent = all.filter((one) => one.event === "message.sent" && one.data.message_id === message_id);
        expect(sent.map(({ id }) => id)).toEqual([sender]); // One transaction over both logs.
      }
    }
    if (event.event === "message.sent") {
      expect(this.#sent.has(event.data.message_id)).toBe(false);
      this.#sent.set(event.data.message_id, event.data.recipient);
    }
    if (event.event === "message.delivered" || event.event === "message.dropped") {
      expect(agent.enqueued.has(event.data.message_id)).toBe(true);
      expect(agent.delivered.has(event.data.message_id)).toBe(false); // Delivered once, or dropped.
      agent.delivered.add(event.data.message_id);
    }
  }

  #life(agent: Model, event: AgentEvent): void {
    if (event.event === "agent.terminated") {
      expect(agent.dead).toBe(false);
      // Children end first.
      for (const other of this.#agents.values()) if (other.parent === event.id) expect(other.dead).toBe(true);
      agent.dead = true;
    }
    if (event.event === "session.created") {
      const parent = this.#agents.get(agent.parent ?? "");
      expect(agent.session).toBe(false);
      expect(parent?.turn === undefined || event.data.system_prompt === "by the user").toBe(true); // Deferred (AG-1).
      agent.session = true;
    }
    if (event.event === "process.starting") {
      expect([event.data.generation, agent.session]).toEqual([agent.generation + 1, true]);
      agent.generation += 1;
      agent.through = 0;
      agent.alive = true;
    }
    if (event.event === "process.ended") {
      agent.handed.clear();
      agent.alive = false;
    }
    if (event.event === "input.taken") {
      expect(event.data.through).toBeGreaterThan(agent.through);
      agent.through = event.data.through;
    }
  }

  #call(agent: Model, event: AgentEvent): void {
    if (event.event === "tool.answered") {
      agent.taken.delete(event.data.call);
      const reader = agent.request ? agent.turn !== undefined : agent.alive;
      if (reader) for (const id of event.data.messages) agent.handed.set(id, event.data.via);
    }
    if (event.event === "suspend.result" && event.data.reason === "recovery") lapse(agent.handed);
    if (event.event !== "tool.taken") return;
    expect(agent.taken.has(event.data.call)).toBe(false);
    agent.taken.add(event.data.call);
  }

  #turn(agent: Model, event: AgentEvent): void {
    if (event.event === "turn.start") {
      expect([agent.turn, event.data.turn, agent.dead]).toEqual([undefined, agent.turns + 1, false]);
      for (const id of event.data.messages)
        expect([agent.enqueued.has(id), agent.delivered.has(id), agent.handed.has(id)]).toEqual([true, false, false]);
      agent.turn = event.data.turn;
      agent.turns += 1;
    }
    if (event.event === "turn.complete" || event.event === "turn.failed") {
      expect(event.data.turn).toBe(agent.turn ?? 0); // A turn ends once.
      if (agent.request) agent.handed.clear();
      agent.turn = undefined;
    }
  }

  #prompt(agent: Model, event: AgentEvent): void {
    if (event.event === "prompt.opened") {
      // New, or asked again by the next process, if nobody had answered.
      expect(agent.prompts.get(event.data.prompt_id) ?? "unanswered").toBe("unanswered");
      agent.prompts.delete(event.data.prompt_id);
      agent.prompts.set(event.data.prompt_id, "open");
    }
    if (event.event === "prompt.answered") {
      expect(agent.prompts.get(event.data.prompt_id)).toBe("open"); // Answered once.
      agent.prompts.set(event.data.prompt_id, "answered");
    }
    if (event.event === "prompt.delivered") {
      expect(agent.prompts.get(event.data.prompt_id)).toBe("answered");
      agent.prompts.set(event.data.prompt_id, "closed");
    }
    if (event.event === "prompt.stale") {
      const before = agent.prompts.get(event.data.prompt_id);
      expect(before === "open" || before === "answered").toBe(true);
      agent.prompts.set(event.data.prompt_id, before === "open" ? "unanswered" : "closed");
    }
  }

  /** Checks that the house equals the model. */
  check(agentRecords: ReadonlyMap<string, AgentRecord>): void {
    for (const [id, model] of this.#agents) {
      const agent = agentRecords.get(id);
      if (agent?.kind !== "agent") throw new Error(`${id} is lost`);
      expect([agent.terminated !== undefined, agent.turns]).toEqual([model.dead, model.turns]);
      const pending = [...model.enqueued].filter((message) => !model.delivered.has(message));
      expect(agent.inbox.map(({ message_id }) => message_id)).toEqual(pending); // AG-3, in their order.
      if (!model.dead) expect(agent.turn?.number).toBe(model.turn as number);
      const open = [...model.prompts].filter(([, state]) => state === "open").map(([prompt]) => prompt);
      if (!isAlive(agent.process)) expect(open).toEqual([]); // Who asks is there.
      expect(agent.prompts.filter(({ state }) => state.kind === "open").map((prompt) => prompt.id)).toEqual(open);
    }
    this.#checkTree();
  }

  #checkTree(): void {
    const names = new Set<string>();
    for (const { parent, name, dead } of this.#agents.values()) {
      if (dead) continue;
      if (parent !== null) expect(this.#agents.get(parent)?.dead).toBe(false);
      expect(names.has(`${parent}/${name}`)).toBe(false);
      names.add(`${parent}/${name}`);
    }
  }

  get living(): number {
    return [...this.#agents.values()].filter(({ dead }) => !dead).length;
  }
}

/** HTTP has no receipts: what a dead daemon had returned is returned again. */
function lapse(handed: Model["handed"]): void {
  for (const [message, via] of handed) if (via === "http") handed.delete(message);
}
