// One life of a daemon on the simulated machine, for agents: the real log, turn, engine, holders, records, checkpoints,
// recovery.
// SG1. A session that was active when the last life ended is suspended before any other event of it (AG-4, FI-3).
import { Fault } from "../../src/base/fault.ts";
import type { Result } from "../../src/base/result.ts";
import type { Agent, AgentRecord } from "../../src/core/agent/agent.ts";
import type { AgentCommand } from "../../src/core/agent/commands.ts";
import type { AgentEvent } from "../../src/core/agent/events.ts";
import { loadConversation } from "../../src/daemon/agent/load-conversation.ts";
import { type AgentPart, openAgents } from "../../src/daemon/agent/part.ts";
import type { PartPorts } from "../../src/daemon/part.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { Clock } from "../../src/world/clock.ts";
import type { HoldfastMachine } from "../sim/holdfast/machine.ts";
import type { Born } from "../sim/machine.ts";
import type { Life } from "../sim/mortal.ts";

const SMALL_LOG = { segmentBytes: 64 << 10, ballastBytes: 0 };
const AGENTS = { slots: 2, recovery: "auto", recoveryPrompt: "Go on.", hungAfterS: 300, promptDays: 7, env: [] };
/** Tools are not called over HTTP here; that it is unavailable is reported, and stops nothing. */
const NO_HTTP = {
  listen: () => {
    throw new Fault({ code: "EACCES", operation: "listen", path: "127.0.0.1" });
  },
};
const isAboutHttp = (words: string) => words.startsWith("no MCP over HTTP");
/** What may happen to an agent in any state of its session. */
const OF_NO_SESSION = /^(message|rule|reminder)\./;

export type Heard = (event: AgentEvent) => void;
export type BirthHooks = {
  readonly heard: Heard;
  /** Called with the state from the log alone. */
  folded(daemon: SimDaemon): void;
};

export class SimDaemon {
  readonly life: Life;
  readonly part: AgentPart;
  readonly #log: EventLog;
  readonly #clock: Clock;
  /** SG1 */
  readonly #active = new Set<string>();

  /** Resolves when it is live; never if it dies before. */
  static async begin(machine: HoldfastMachine, born: Born, hooks: BirthHooks): Promise<SimDaemon> {
    const log = await EventLog.open(machine.doors(born), SMALL_LOG);
    const daemon = new SimDaemon(machine, born, log, hooks.heard);
    const { part } = daemon;
    const setAside = await part.fold(() => undefined);
    if (setAside.length > 0) throw new Error(`set aside: ${JSON.stringify(setAside)}`);
    for (const { id, session, terminated } of part.store.agents())
      if (session.kind === "active" && terminated === undefined) daemon.#active.add(id);
    hooks.folded(daemon);
    for (const stage of ["RESTORING", "RECONCILING"] as const) {
      const items = (await part.stages[stage]?.(() => undefined)) ?? [];
      for (const { fate, reason } of items) if (fate === "could not") throw new Error(reason);
    }
    part.goLive();
    return daemon;
  }

  private constructor(machine: HoldfastMachine, born: Born, log: EventLog, heard: Heard) {
    const { life } = born;
    const doors = machine.doors(born);
    const httpClient = machine.model.door(doors.clock, (what) => machine.moment(what));
    this.life = life;
    this.#log = log;
    this.#clock = machine.clock;
    const self = { environment: () => ({}), command: () => ["bun"] as const, holder: async () => undefined };
    const onBug = (error: unknown) => {
      if (!life.dead) machine.failed(error);
    };
    const publish = (_: string, event: AgentEvent) => {
      if (event.data === undefined) return; // Notices about agents are no events.
      const wrong = this.#tooEarly(event);
      if (wrong !== undefined) machine.failed(new Error(wrong));
      heard(event);
    };
    const holderCommand = () => ({ runtime: "bun", entry: "holder" });
    const ports = {
      world: { ...doors, self, http: NO_HTTP, httpClient },
      bus: { publish },
      config: { agents: { ...AGENTS, sleepOnLimit: true }, provider: {}, terminal: { envAllow: [], envDeny: [] } },
      safeMode: { isActive: () => false },
      say: (words: string) => {
        if (!machine.isFull && !isAboutHttp(words)) onBug(new Error(words)); // A full disk is told of.
      },
      onBug,
      log,
      isLive: () => true,
      times: { now: () => doors.clock.now(), left: (due: string) => Date.parse(due) - doors.clock.now() },
    } as unknown as PartPorts;
    this.part = openAgents(ports, { holderCommand, heard: () => undefined, listen: async () => undefined });
  }

  /** SG1 */
  #tooEarly({ event, id }: AgentEvent): string | undefined {
    if (!this.#active.has(id) || OF_NO_SESSION.test(event)) return undefined;
    this.#active.delete(id);
    return event === "suspend.result" ? undefined : `${event} happens to ${id}, which was found active`;
  }

  agent(id: string): Agent | undefined {
    return this.part.store.agent(id);
  }

  agents(): Agent[] {
    return [...this.part.store.agents()];
  }

  /** With the whole conversation. */
  async recalled(): Promise<Agent[]> {
    for (const { id } of this.agents()) {
      const { ok } = await loadConversation({ log: this.#log, clock: this.#clock, store: this.part.store }, id);
      if (!ok) throw new Error(`the log lacks what ${id} said`);
    }
    return this.agents();
  }

  submit(command: AgentCommand): Promise<Result<AgentRecord>> {
    return this.part.store.submit(command);
  }
}
