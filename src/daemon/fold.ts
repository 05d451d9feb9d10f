// Replays the session logs into the state. A session whose fold throws, or whose log is damaged, is set aside: it is
// frozen and named in the report, and the others still come up. Nothing is done on the basis of a partial fold.
// FO1. A session with a checkpoint starts from it, unless its log does not have the checkpoint's last entry (FL1 of
//      log/session/fold-log.ts).
// FO2. There are many sessions, perhaps without checkpoints: they are folded in slices, and requests are answered in
//      between.
// FO3. A session is put into the store only when all of it is folded: a fold that was given up leaves nothing half
//      done, and does not affect the next one.
// FO4. A session that cannot be read for now (too many open files, a disk that fails once) is read again after the
//      others and a pause, a few times. Only then it is set aside; the next daemon reads it again.
// FO5. A session that was set aside can be ended (U8 of session-store.ts). After that it is over, although its log
//      still does not fold: the entries from its end on are applied to what could be folded.
// FO6. A session is also set aside when its code fails later (PB2 of part.ts), in the same way and in the same words.
// FO7. Input or output that makes the code of a session throw is remembered on disk. An event need not be: folding
//      finds it again.
import type { ReportItem } from "../core/recovery.ts";
import type { EventLog } from "../log/event-log.ts";
import type { Entry } from "../log/session/entry.ts";
import { foldLog } from "../log/session/fold-log.ts";
import type { FoldStep, HowFar, PartBorder, Trouble } from "./part.ts";
import type { Kind, SessionStore } from "./session-store.ts";

export type Folding<K extends Kind> = {
  /** The directory of their logs, and what a report calls one of them. */
  readonly place: string;
  readonly what: string;
  /** Undefined for an event of a newer version. Throws if a field is missing. */
  eventOf(entry: Entry): K["event"] | undefined;
  /** The state in its checkpoint, and the seq of the last event in it (FO1). */
  load?(session: string): { readonly state: K["state"]; readonly seq: number } | undefined;
  /** The form in which it is kept once all of it is folded; unchanged if absent. */
  kept?(state: K["state"]): K["state"];
  nameOf(state: K["state"]): string | undefined;
  /** What is shown of a session that cannot be trusted; undefined to show nothing. */
  aside(state: K["state"], reason: string): K["state"] | undefined;
  /** Whether such an event may be what ended it for good (FO5). */
  ends(entry: Entry): boolean;
};

/** Yields after each entry how many sessions have been read; returns those that were set aside. */
export type Steps = Generator<FoldStep, ReportItem[]>;

/** FO4. Together much shorter than the timeout of the stage. */
const PAUSES_MS = [50, 100, 200, 400, 800, 1_600];

type Folded<K extends Kind> = { state: K["state"] | undefined; readonly so: HowFar };
type Source<K extends Kind> = {
  readonly border: PartBorder;
  readonly log: EventLog;
  readonly store: SessionStore<K>;
};

/** FO2 */
export function* foldSessions<K extends Kind>(source: Source<K>, folding: Folding<K>): Steps {
  const { border, log } = source;
  border.setsAside((id, trouble) => setAsideNow(source, folding, id, trouble)); // FO6
  const sessions = log.sessions.filter((session) => session.startsWith(folding.place));
  const items: ReportItem[] = [];
  const total = sessions.length;
  let left = sessions;
  for (const waitMs of [...PAUSES_MS, undefined]) {
    const refused: string[] = [];
    for (const [at, session] of left.entries()) {
      const folded: Folded<K> = { state: undefined, so: { done: total - left.length + at - refused.length, total } };
      const trouble = (yield* border.foldOne(foldOne(source, folding, session, folded))) ?? frozen(log, session);
      if (waitMs !== undefined && trouble?.passes === true) refused.push(session);
      else items.push(...settle(source, folding, session, { ...folded, trouble }));
    }
    left = refused;
    if (waitMs === undefined || left.length === 0) return items;
    yield { done: total - left.length, total, waitMs }; // FO4
  }
  return items;
}

function frozen(log: EventLog, session: string): Trouble | undefined {
  const reason = log.frozen(session);
  return reason === undefined ? undefined : { reason, passes: false };
}

/** Returns what is wrong with it; undefined if it folded. */
function* foldOne<K extends Kind>(
  { log, store }: Source<K>,
  folding: Folding<K>,
  session: string,
  folded: Folded<K>,
): Generator<HowFar, string | undefined> {
  const states = foldLog<K["state"], K["event"]>(log, session, {
    saved: folding.load?.(session), // FO1
    eventOf: (entry) => folding.eventOf(entry),
    apply: (state, event) => store.apply(state, event),
  });
  for (;;) {
    const next = states.next();
    if (next.done === true) return next.value;
    folded.state = next.value;
    yield folded.so;
  }
}

/** Folds one session at once, which was brought back from the archive. */
export function foldAgain<K extends Kind>(source: Source<K>, folding: Folding<K>, session: string): void {
  const folded: Folded<K> = { state: undefined, so: { done: 0, total: 1 } };
  const steps = source.border.foldOne(foldOne(source, folding, session, folded));
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  settle(source, folding, session, { ...folded, trouble: step.value ?? frozen(source.log, session) });
}

/** FO3 */
function settle<K extends Kind>(
  source: Source<K>,
  folding: Folding<K>,
  session: string,
  { state, trouble }: Folded<K> & { readonly trouble: Trouble | undefined },
): ReportItem[] {
  const { log, store } = source;
  const { kept } = folding;
  const id = idOf(session);
  if (trouble === undefined) {
    store.put(id, state && kept ? kept(state) : state);
    return [];
  }
  const over = endedState(source, folding, session, state);
  if (over === undefined) return [setAside(source, folding, session, { state, trouble })];
  log.freeze(session, trouble.reason);
  store.put(id, over);
  return [];
}

/** FO6. Returns undefined if there is no such session. */
function setAsideNow<K extends Kind>(source: Source<K>, folding: Folding<K>, id: string, trouble: Trouble) {
  const session = source.log.sessions.find((one) => one.startsWith(folding.place) && idOf(one) === id);
  if (session === undefined) return undefined;
  return setAside(source, folding, session, { state: source.store.settled(id), trouble });
}

function setAside<K extends Kind>(
  { border, log, store }: Source<K>,
  { what, aside, nameOf }: Folding<K>,
  session: string,
  { state, trouble }: { readonly state: K["state"] | undefined; readonly trouble: Trouble },
): ReportItem {
  const id = idOf(session);
  const { reason, bytes } = trouble;
  log.freeze(session, reason);
  store.put(id, state && aside(state, reason));
  const name = (state && nameOf(state)) ?? shortOf(id);
  const item: ReportItem = { what, id, name, fate: "needs you", reason, next: nextFor(id, trouble) };
  const isOver = () => {
    const now = store.settled(id);
    return now !== undefined && store.isOver(now);
  };
  border.asides.set(id, { item, session, bytes, isOver });
  if (bytes !== undefined && bytes.kind !== "event")
    border.outcome(() => border.tolerating(() => log.poisons.note(session, bytes, reason)), id); // FO7
  return item;
}

function nextFor(id: string, { passes, bytes }: Trouble): string {
  if (bytes !== undefined && bytes.kind !== "input") return `holdfast recovery skip ${shortOf(id)}`;
  return passes ? "holdfast down && holdfast up" : `holdfast log verify ${shortOf(id)}`;
}

function shortOf(id: string): string {
  return id.slice(0, 12);
}

/** FO5. Its state if it was ended for good; otherwise undefined. */
function endedState<K extends Kind>(
  { log, store }: Source<K>,
  { eventOf, ends }: Folding<K>,
  session: string,
  partial: K["state"] | undefined,
): K["state"] | undefined {
  try {
    const entries = [...log.read(session)].flatMap((reading) => (reading.kind === "entry" ? reading.entry : []));
    const from = entries.findLastIndex(ends);
    if (from < 0 || partial === undefined) return undefined;
    const events = entries.slice(from).flatMap((entry) => eventOf(entry) ?? []);
    const state = events.reduce<K["state"]>((before, event) => store.apply(before, event), partial);
    return store.isOver(state) ? state : undefined;
  } catch {
    return undefined; // It stays set aside.
  }
}

/** The session's id: the last word of its path. */
export function idOf(session: string): string {
  return session.slice(session.lastIndexOf("/") + 1);
}

/** When this event first happened to a session, by its log; undefined if it did not. */
export function timeOf(log: EventLog, session: string, event: string): number | undefined {
  for (const reading of log.read(session)) {
    if (reading.kind !== "entry" || reading.entry.event !== event) continue;
    const time = Date.parse(reading.entry.ts);
    return Number.isNaN(time) ? undefined : time;
  }
  return undefined;
}
