// Agents with their archive, without a daemon and without programs.
import { expect } from "bun:test";
import type { AgentCommand } from "../../src/core/agent/commands.ts";
import { derivedId } from "../../src/core/agent/derive.ts";
import { AgentArchive } from "../../src/daemon/agent/archive.ts";
import { AgentCheckpoints } from "../../src/daemon/agent/checkpoints.ts";
import { forgetAgents } from "../../src/daemon/agent/forget.ts";
import { agentGarbage } from "../../src/daemon/agent/gc.ts";
import { type AgentHandlerPorts, agentHandlers } from "../../src/daemon/agent/handlers.ts";
import { SessionRecords } from "../../src/daemon/agent/records.ts";
import { AgentStore, agentFolding } from "../../src/daemon/agent/store.ts";
import { GarbageCollector, type Work } from "../../src/daemon/gc.ts";
import type { PartBorder } from "../../src/daemon/part.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { Config } from "../../src/wire/files/config-schema.ts";
import { foldNow, readBorder } from "../daemon/border.ts";
import type { SimDisk } from "../sim/disk.ts";
import { Crashed } from "../sim/faults.ts";
import { simWorld } from "../sim/world.ts";
import { AROUND, planFor } from "./house.ts";

export const HOME = "/h";
export const DAY = 86_400_000;
export const LIMIT_MS = 300_000;
export const [ROOT, KID, LAST, OTHER] = ["a", "b", "c", "d"].map((letter) => letter.repeat(32)) as [
  string,
  string,
  string,
  string,
];

function onBug(error: unknown): never {
  throw error;
}

/** Agents with their records and checkpoints, as a daemon has them; no program is started. */
export class Life {
  readonly world: ReturnType<typeof simWorld> & { home: string };
  readonly log: EventLog;
  readonly store: AgentStore;
  readonly archive: AgentArchive;
  readonly handlers: ReturnType<typeof agentHandlers>;
  readonly checkpoints: AgentCheckpoints;
  readonly records: SessionRecords;
  clone: Work | undefined;
  /** Whether no checkpoints are made. */
  isOff = false;

  static async begin(disk: SimDisk): Promise<Life> {
    const world = { ...simWorld(1, disk), home: HOME };
    const log = await EventLog.open(world, { segmentBytes: 64 << 10, ballastBytes: 0 });
    const life = new Life(world, log, await readBorder());
    expect(foldNow(log, life.store, agentFolding(life.checkpoints))).toEqual([]);
    return life;
  }

  private constructor(world: Life["world"], log: EventLog, border: PartBorder) {
    this.world = world;
    this.log = log;
    const ignore = () => undefined;
    this.checkpoints = new AgentCheckpoints(world, { isOff: () => this.isOff, say: ignore });
    this.records = new SessionRecords(world, (error) => {
      if (!(error instanceof Crashed)) throw error;
    });
    const around = { ...AROUND, isArchived: (id: string) => this.archive.has(id) };
    this.store = new AgentStore(log, world.clock, () => around, {
      publish: ({ id }) => {
        const agent = this.store.settledAgent(id);
        if (agent !== undefined) this.records.note(agent);
      },
      settled: (events, _, ticket, after) =>
        this.checkpoints.heard(
          events.map(({ id }) => id),
          ticket,
          after,
        ),
      ...{ perform: ignore, onBug },
    });
    const sessions = { log, store: this.store, border, checkpoints: this.checkpoints, records: this.records };
    this.archive = new AgentArchive({
      ...{ ...sessions, place: world, afterMs: 0, isOff: () => false, isQuiet: () => true },
    });
    const ports = { border, store: this.store, archive: this.archive, trouble: ignore, agentConfig: { rules: [] } };
    this.handlers = agentHandlers(ports as unknown as AgentHandlerPorts);
  }

  ask(method: string, params: Record<string, unknown>) {
    return this.handlers[method]?.(params as never, undefined);
  }

  async submit(command: AgentCommand): Promise<void> {
    const done = await this.store.submit(command);
    if (!done.ok) throw new Error(done.error.message);
  }

  create(id: string, parent?: string, name = id.slice(0, 4)): Promise<void> {
    const wish = { id, name, parent, instructions: "", plan: planFor("scripted"), settings: {} };
    return this.submit({ kind: "create", ...wish });
  }

  terminate(id: string): Promise<void> {
    return this.submit({ kind: "terminate", id, reason: "enough" });
  }

  /** What was written so far leaves the write-ahead log, and what it says to another agent shows that. */
  async drain(to = OTHER): Promise<void> {
    await this.checkpoints.finish();
    for (const { id } of this.store.agents()) while (!this.records.isQuiet(id)) await Promise.resolve();
    await this.drainLog(to);
  }

  async drainLog(to = OTHER): Promise<void> {
    await this.log.drain();
    const message = derivedId("message", `${this.log.durable}`);
    await this.submit({ kind: "send", id: to, message, payload: "x", replyTo: undefined });
  }

  /** Archives everything that has ended. */
  async round(): Promise<void> {
    await this.drain();
    this.world.clock.advance(1000);
    await this.archive.round();
  }

  names(): string[] {
    return this.world.disk.list(`${HOME}/agents`).sort();
  }

  /** Whether each has ended, by id. */
  all(): Record<string, boolean> {
    const ids = this.names().map((name) => name.replace("_", ""));
    expect(new Set(ids).size).toBe(ids.length); // None has two directories.
    const agents = [...new Set([...ids, ...this.store.states.keys()])].flatMap((id) => this.archive.agent(id) ?? []);
    return Object.fromEntries(agents.map(({ id, terminated }) => [id, terminated !== undefined]));
  }

  collect(days = 30) {
    const parts = { log: this.log, store: this.store, records: this.records, checkpoints: this.checkpoints };
    const forget = (ids: readonly string[]) => forgetAgents(parts, ids);
    const agents = { agents: () => this.store.agents(), archive: this.archive, forget, clone: () => this.clone };
    const rules = { agentDays: days, agentBytes: 1e9 } as Config["retention"];
    const home = { reportDays: 90, reports: 9, quarantineDays: 90, quarantineBytes: 1e9 };
    const collector = new GarbageCollector(
      this.world,
      { ...rules, ...home },
      {
        parts: [{ garbage: (limits) => agentGarbage(this.world, agents, limits) }],
        collected: () => this.archive.collected(),
        ...{ isOff: () => false, say: () => undefined, onBug },
      },
    );
    return collector.collect(false);
  }
}
