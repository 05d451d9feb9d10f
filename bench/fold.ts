// A small fold for benchmarks: the number of events of each session, the last one, and where to continue reading. Its
// checkpoint holds, for each session, the seq of the last event folded, so that only the tail is read.
import { join } from "node:path";
import { CheckpointStore } from "../src/log/checkpoint/store.ts";
import type { EventLog } from "../src/log/event-log.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";

type Folded = { count: number; seq: number; lastEvent: string };
export type Fold = Map<string, Folded>;

export function foldStore(home: string): CheckpointStore {
  const directory = join(home, "recovery");
  return new CheckpointStore(realDisk(), realClock(), {
    home,
    path: join(directory, "checkpoint.json"),
    keep: { backup: join(directory, "checkpoint.backup.json") },
    kind: "bench-fold",
    version: 1,
    fold: 1,
  });
}

/** The checkpoint's fold; an empty one if there is none. */
export function loadFold(store: CheckpointStore): Fold {
  const loaded = store.load();
  if (loaded.kind === "refused") throw new Error(loaded.refusal.message);
  return loaded.kind === "none" ? new Map() : parseFold(loaded.checkpoint.body);
}

export async function saveFold(store: CheckpointStore, fold: Fold, seq: number): Promise<void> {
  const saved = await store.save([...fold], seq);
  if (!saved.ok) throw new Error(saved.error.message);
}

/** Continues reading where the fold ends, to the end of every session. */
export function foldOn(fold: Fold, log: EventLog): void {
  for (const session of log.sessions) {
    const folded = fold.get(session) ?? { count: 0, seq: 0, lastEvent: "" };
    for (const reading of log.readAfter(session, folded.seq) ?? log.read(session)) {
      if (reading.kind !== "entry") throw new Error(`${session} is not whole: ${reading.kind}`);
      folded.count += 1;
      folded.seq = reading.entry.seq;
      folded.lastEvent = reading.entry.event;
    }
    fold.set(session, folded);
  }
}

/** A benchmark that lost an event measures nothing: every seq up to the last belongs to one session. */
export function mustHaveAll(fold: Fold, log: EventLog): void {
  const count = fold.values().reduce((sum, folded) => sum + folded.count, 0);
  if (count !== log.durable) throw new Error(`${count} events were read of ${log.durable}`);
}

function parseFold(body: unknown): Fold {
  if (!Array.isArray(body)) throw new Error("the fold of a benchmark is a list");
  return new Map(body.map(parseSession));
}

function parseSession(pair: unknown): [string, Folded] {
  if (!Array.isArray(pair)) throw new Error("a folded session is a pair");
  const { count, seq, lastEvent } = pair[1];
  return [String(pair[0]), { count: Number(count), seq: Number(seq), lastEvent: String(lastEvent) }];
}
