// The checkpoints of agents, `agents/<id>/checkpoint.json`: cached folds, so that a recovery reads the tails of logs and not their history.
// AC1. What is saved is durable in the log: the agent as it was after the last durable event, never as it is only decided.
// AC2. It is saved when its tail has outgrown it, when the agent has ended, and when the daemon leaves: so writing costs a fixed part of
//      what the log costs, and a recovery never reads more than the tail may grow to.
// AC3. A disk that does not take it stops nobody: the log has everything.
// AC4. A checkpoint of other rules, of another agent, or whose last entry the log does not have is passed over.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { AgentRecord } from "../../core/agent/agent.ts";
import { STORED_VERSION, storedOf } from "../../core/agent/checkpoint.ts";
import { CheckpointStore } from "../../log/checkpoint/store.ts";
import type { Ticket } from "../../log/event-log.ts";
import { DurableDirectories } from "../../log/file/durable-directories.ts";
import { residentOf } from "../../wire/stored/agent.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";

type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

export type CheckpointPorts = {
  isOff(): boolean;
  say(words: string): void;
  onBug(error: unknown): void;
};

/** The shape of the file; what is in it has a version of its own (STORED_VERSION). */
const VERSION = 1;
/** AC2. Less than this is read faster than it is looked for. */
const SMALL_TAIL = 32 << 10;
/** Files that are written at a time. */
const AT_ONCE = 32;

/** `tail`: what happened since the last save, in bytes. */
type Kept = { agentRecord: AgentRecord; seq: number; tail: number; savedBytes: number; saving: boolean };

export class AgentCheckpoints {
  readonly #place: HomeWorld;
  readonly #ports: CheckpointPorts;
  readonly #stores = new Map<string, CheckpointStore>();
  readonly #directories: DurableDirectories;
  readonly #kept = new Map<string, Kept>();
  readonly #saving = new Set<Promise<void>>();

  constructor(place: HomeWorld, ports: CheckpointPorts) {
    this.#place = place;
    this.#directories = new DurableDirectories(place.disk, place.home);
    this.#ports = ports;
  }

  /** AC4. The seq is that of the last event in it. */
  load(id: string): { readonly state: AgentRecord; readonly seq: number } | undefined {
    const loaded = this.#store(id).load();
    if (loaded.kind === "refused") this.#ports.say(`agent ${id}: ${loaded.refusal.message}`);
    const problems = loaded.kind === "refused" ? [] : loaded.problems;
    for (const { path, reason } of problems) this.#ports.say(`a checkpoint is passed over: ${path}: ${reason}`);
    if (loaded.kind !== "loaded") return undefined;
    const agentRecord = residentOf(loaded.checkpoint.body);
    return agentRecord?.id === id ? { state: agentRecord, seq: loaded.checkpoint.seq } : undefined;
  }

  /** Events that are durable, and everybody as they are after them (AC1). */
  heard(
    ids: readonly string[],
    { first, bytes }: Pick<Ticket, "first" | "bytes">,
    after: ReadonlyMap<string, AgentRecord>,
  ): void {
    for (const [id, agentRecord] of after) {
      const kept = this.#kept.get(id) ?? { agentRecord, seq: 0, tail: 0, savedBytes: 0, saving: false };
      kept.agentRecord = agentRecord;
      kept.seq = first + ids.lastIndexOf(id);
      kept.tail += bytes / after.size;
      this.#kept.set(id, kept);
      if (isDue(kept) && !this.#ports.isOff()) this.#save(id, kept);
    }
  }

  /** Everything that waits is saved. */
  async finish(): Promise<void> {
    await Promise.all(this.#saving);
    const waiting = [...this.#kept].filter(([, { tail }]) => tail > 0);
    for (let at = 0; at < waiting.length; at += AT_ONCE) {
      for (const [id, kept] of waiting.slice(at, at + AT_ONCE)) this.#save(id, kept);
      await Promise.all(this.#saving);
    }
  }

  #save(id: string, kept: Kept): void {
    if (kept.saving) return; // The next event will look again.
    kept.saving = true;
    kept.tail = 0;
    const saving = this.#write(id, kept).finally(() => {
      kept.saving = false;
      this.#saving.delete(saving);
      if (isEnded(kept.agentRecord) && kept.tail === 0) this.forget(id);
    });
    this.#saving.add(saving);
  }

  async #write(id: string, kept: Kept): Promise<void> {
    try {
      const saved = await this.#store(id).save(storedOf(kept.agentRecord), kept.seq);
      if (saved.ok) kept.savedBytes = saved.value.bytes;
      else this.#ports.say(`agent ${id}: no checkpoint: ${saved.error.message}`);
    } catch (error) {
      if (isFault(error))
        this.#ports.say(`agent ${id}: no checkpoint: ${error.message}. ${error.hint}`); // AC3
      else this.#ports.onBug(error);
    }
  }

  /** Nothing more is saved of it. */
  forget(id: string): void {
    this.#kept.delete(id);
    this.#stores.delete(id);
  }

  #store(id: string): CheckpointStore {
    const { disk, clock, home } = this.#place;
    const known = this.#stores.get(id);
    if (known !== undefined) return known;
    const directory = joinPath(home, `agents/${id}`);
    const store = new CheckpointStore(disk, clock, {
      home,
      directories: this.#directories,
      path: joinPath(directory, "checkpoint.json"),
      keep: { backup: joinPath(directory, "checkpoint.backup.json") },
      ...{ kind: "agent", version: VERSION, fold: STORED_VERSION },
    });
    this.#stores.set(id, store);
    return store;
  }
}

/** AC2 */
function isDue(kept: Kept): boolean {
  return isEnded(kept.agentRecord) || kept.tail >= Math.max(SMALL_TAIL, kept.savedBytes);
}

function isEnded(agentRecord: AgentRecord): boolean {
  return agentRecord.kind === "agent" && agentRecord.terminated !== undefined && agentRecord.process.kind === "Idle";
}
