// Folds the log of a session into its state, from its checkpoint on. Recovery and the readers beside a running daemon
// use the same fold.
// FL1. A session with a checkpoint starts from it, and only the log after it is read. If the log does not have the
//      checkpoint's last entry, the checkpoint is ignored: the log alone has everything.
// FL2. A damaged log does not fold, nor does one without its beginning: of that, a checkpoint has the rest.
// FL3. An event that throws does not fold, unless an operator has skipped it: then the others are folded without it.
//      The first event of a session cannot be skipped, since nothing would be left.
import type { Entry } from "./entry.ts";
import { PoisonedBytes } from "./poisons.ts";
import type { Reading } from "./session-log.ts";

export type FoldableLog = {
  read(session: string): Iterable<Reading>;
  /** What follows the entry with this seq; undefined if the log does not have it. */
  readAfter(session: string, seq: number): Iterable<Reading> | undefined;
  /** FL3. The seqs of the events that an operator has skipped. */
  readonly poisons: { skipped(session: string): ReadonlySet<number> };
};

export type LogFolding<S, E> = {
  /** The state in its checkpoint, and the seq of the last event in it (FL1). */
  readonly saved: { readonly state: S; readonly seq: number } | undefined;
  /** Undefined for an event of a newer version. Throws if a field is missing. */
  eventOf(entry: Entry): E | undefined;
  apply(state: S | undefined, event: E): S;
};

/** The whole fold at once. `start` is the state that it began with, `trouble` what is wrong with the log. */
export function foldWhole<S, E>(log: FoldableLog, session: string, folding: LogFolding<S, E>) {
  const states = foldLog(log, session, folding);
  const first = states.next();
  const start = first.done === true ? undefined : first.value;
  for (let state = start; ; ) {
    const next = states.next();
    if (next.done === true) return { start, state, trouble: next.value };
    state = next.value;
  }
}

/** Yields the state at the start and after each entry; returns what is wrong with the log, if anything is. */
export function* foldLog<S, E>(
  log: FoldableLog,
  session: string,
  { saved, ...folding }: LogFolding<S, E>,
): Generator<S | undefined, string | undefined> {
  const tail = saved && log.readAfter(session, saved.seq);
  let state = tail === undefined ? undefined : saved?.state; // FL1
  yield state;
  for (const reading of tail ?? log.read(session)) {
    if (reading.kind === "double") continue;
    if (reading.kind === "trimmed") return trimmed(reading.through); // FL2
    if (reading.kind !== "entry") return `its log is damaged: ${reading.kind} at byte ${reading.start}`; // FL2
    state = after(state, reading.entry, folding, () => log.poisons.skipped(session));
    yield state;
  }
  return undefined;
}

function trimmed(through: number): string {
  return `its log begins after ${through}, because of [retention], and no checkpoint of it can be used`;
}

/** FL3 */
function after<S, E>(
  state: S | undefined,
  entry: Entry,
  folding: Omit<LogFolding<S, E>, "saved">,
  skipped: () => ReadonlySet<number>,
): S | undefined {
  try {
    const event = folding.eventOf(entry);
    return event === undefined ? state : folding.apply(state, event);
  } catch (error) {
    if (state === undefined) throw error;
    if (skipped().has(entry.seq)) return state;
    throw new PoisonedBytes({ kind: "event", seq: entry.seq }, error);
  }
}
