// The checkpoints of agents, `agents/<id>/checkpoint.json`; log/checkpoint/fold-checkpoints.ts has the rules for
// saving.
// AC1. One is saved when its tail has outgrown it, when the agent has ended, and when the daemon stops.
// AC2. A checkpoint of another version of the rules, or of another agent, is ignored.

import { joinPath } from "../../base/path.ts";
import { type AgentRecord, agentSession } from "../../core/agent/agent.ts";
import { CHECKPOINT_VERSION, STORED_VERSION, storedOf } from "../../core/agent/checkpoint.ts";
import { isAlive } from "../../core/agent/process.ts";
import { FoldCheckpoints } from "../../log/checkpoint/fold-checkpoints.ts";
import { CheckpointStore } from "../../log/checkpoint/store.ts";
import type { Ticket } from "../../log/event-log.ts";
import { DurableDirectories } from "../../log/file/durable-directories.ts";
import { sessionPath } from "../../log/session/places.ts";
import { residentOf } from "../../wire/stored/agent.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";

type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };

export type CheckpointPorts = {
  isOff(): boolean;
  say(words: string): void;
};

/** AC1. A shorter tail is read faster than a checkpoint. */
const SMALL_TAIL = 32 << 10;

export class AgentCheckpoints {
  readonly #place: HomeWorld;
  readonly #say: (words: string) => void;
  readonly #stores = new Map<string, CheckpointStore>();
  readonly #directories: DurableDirectories;
  readonly #folds: FoldCheckpoints<AgentRecord>;

  constructor(place: HomeWorld, ports: CheckpointPorts) {
    this.#place = place;
    this.#say = ports.say;
    this.#directories = new DurableDirectories(place.disk, place.home);
    this.#folds = new FoldCheckpoints<AgentRecord>({
      ...ports,
      what: "agent",
      clock: place.clock,
      gatherMs: 0,
      restMs: 0,
      apartMs: 0,
      tailFor: (savedBytes) => Math.max(SMALL_TAIL, savedBytes),
      isResting: isEnded,
      isOver: isEnded,
      save: (record, seq) => this.#store(record.id).save(storedOf(record), seq),
    });
  }

  /** AC2. `seq` is that of the last event in it. */
  load(id: string): { readonly state: AgentRecord; readonly seq: number } | undefined {
    const loaded = this.#store(id).load();
    if (loaded.kind === "refused") this.#say(`agent ${id}: ${loaded.refusal.message}`);
    const problems = loaded.kind === "refused" ? [] : loaded.problems;
    for (const { path, reason } of problems) this.#say(`a checkpoint is passed over: ${path}: ${reason}`);
    if (loaded.kind !== "loaded") return undefined;
    const state = residentOf(loaded.checkpoint.body);
    return state?.id === id ? { state, seq: loaded.checkpoint.seq } : undefined;
  }

  /** The seq up to which the log of an agent is not needed by its checkpoints; 0 if they are not good. */
  covers(id: string): number {
    return this.#store(id).covers();
  }

  /** Called for durable events: the ids of their agents, and the states of these agents after them. */
  heard(
    ids: readonly string[],
    { first, bytes }: Pick<Ticket, "first" | "bytes">,
    after: ReadonlyMap<string, AgentRecord>,
  ): void {
    for (const [id, record] of after)
      this.#folds.heard(id, record, { seq: first + ids.lastIndexOf(id), bytes: bytes / after.size });
  }

  /** Saves everything that is waiting. */
  finish(): Promise<void> {
    return this.#folds.finish();
  }

  /** Whether nothing of it is being saved, or waits for it. */
  isQuiet(id: string): boolean {
    return this.#folds.isSaved(id);
  }

  /** Saves nothing more of this agent. */
  forget(id: string): void {
    this.#folds.forget(id);
    this.#stores.delete(id);
  }

  #store(id: string): CheckpointStore {
    const { disk, clock, home } = this.#place;
    const known = this.#stores.get(id);
    if (known !== undefined) return known;
    const directory = sessionPath(disk, home, agentSession(id)); // It may be archived.
    const store = new CheckpointStore(disk, clock, {
      home,
      directories: this.#directories,
      path: joinPath(directory, "checkpoint.json"),
      keep: { backup: joinPath(directory, "checkpoint.backup.json") },
      ...{ kind: "agent", version: CHECKPOINT_VERSION, fold: STORED_VERSION },
    });
    this.#stores.set(id, store);
    return store;
  }
}

function isEnded(record: AgentRecord): boolean {
  return record.kind === "agent" && record.terminated !== undefined && !isAlive(record.process);
}
