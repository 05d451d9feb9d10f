// `exercise verify`: reads what is there, before or after a recovery, and compares it with what was acknowledged. It
// changes nothing.
// V1. Events: a prefix of what was issued, in order, without a gap, nothing twice, transactions whole over all their
//     sessions; and everything acknowledged is in it, at the seqs that were acknowledged.
// V2. Checkpoints: the primary is whole at every moment and at least as new as the last acknowledged; those before it
//     are kept.
// V3. Tape: every stretch that was acknowledged and is not too old to be kept is there, byte by byte.

import { LogView } from "../../src/log/inspect.ts";
import type { Entry, NewEntry } from "../../src/log/session/entry.ts";
import { TapeReader } from "../../src/log/tape/reader.ts";
import type { World } from "../../src/world/world.ts";
import type { Ack } from "./acks.ts";
import { checkpointBody, tapeBytes, transaction } from "./content.ts";
import { HISTORY_LIMIT, STORES, type StoreName, storeOf, TAPE_KEPT, tapePath } from "./home.ts";
import { numberIn } from "./run.ts";

type Place = Pick<World, "disk" | "clock"> & { readonly home: string };

/** Every broken promise as a sentence; empty if all is well. */
export function verify(place: Place, acks: readonly Ack[]): string[] {
  const view = new LogView(place.disk, place.home);
  const found = eventsOf(view);
  const damage = view.inspect().findings.filter((finding) => finding.kind === "damage");
  return [
    ...damage.map(({ where, offset, what }) => `${where}${offset === undefined ? "" : ` at ${offset}`}: ${what}`),
    ...brokenEvents(found, acks),
    ...STORES.flatMap((store) => brokenStore(store, place, acks, found.length)),
    ...brokenTape(place, acks),
  ];
}

type Event = { readonly session: string; readonly entry: Entry };

/** All entries of all sessions, in the one order of the log. */
function eventsOf(view: LogView): Event[] {
  const found: Event[] = [];
  for (const session of view.sessions) {
    for (const reading of view.read(session)) {
      if (reading.kind === "entry") found.push({ session, entry: reading.entry });
    }
  }
  return found.sort((a, b) => a.entry.seq - b.entry.seq);
}

/** V1. */
function brokenEvents(found: readonly Event[], acks: readonly Ack[]): string[] {
  const gap = found.findIndex(({ entry }, index) => entry.seq !== index + 1);
  if (gap >= 0) return [`seq ${gap + 1} is missing: ${found[gap]?.entry.seq} comes instead`, ...unmet(found, acks)];
  for (let at = 0, id = 0; at < found.length; id += 1) {
    const begun = found.slice(at, at + 1).map(({ entry }) => entry.data);
    const wanted = transaction(numberIn(begun[0], "seed"), id);
    const broken = wanted.flatMap((entry, part) => difference(found[at + part], entry, { id, seq: at + part + 1 }));
    if (broken.length > 0) return [...broken, ...unmet(found, acks)];
    at += wanted.length;
  }
  return unmet(found, acks);
}

function difference(event: Event | undefined, wanted: NewEntry, { id, seq }: { id: number; seq: number }): string[] {
  const what = `seq ${seq}, which is of transaction ${id}`;
  if (event === undefined) return [`${what}, is missing from ${wanted.session}: half a transaction`];
  if (event.session !== wanted.session) return [`${what}, is in ${event.session}, not in ${wanted.session}`];
  const { event: name, ts, data, session_id } = event.entry;
  const same = name === wanted.event && ts === wanted.ts && wanted.session.endsWith(`/${session_id}`);
  if (same && JSON.stringify(data) === JSON.stringify(wanted.data)) return [];
  return [`${what}, is not what was written to ${wanted.session}: ${JSON.stringify(event.entry).slice(0, 200)}`];
}

/** The acknowledgements of transactions that the log does not keep. */
function unmet(found: readonly Event[], acks: readonly Ack[]): string[] {
  const bySeq = new Map(found.map((event) => [event.entry.seq, event.entry]));
  const told = new Set<number>();
  const broken: string[] = [];
  for (const ack of acks) {
    if (ack.kind !== "transaction") continue;
    const { id, seed, first, last } = ack;
    if (told.has(id)) broken.push(`transaction ${id} was acknowledged twice`);
    told.add(id);
    for (let seq = first; seq <= last; seq += 1) {
      const data = bySeq.get(seq)?.data;
      if (numberIn(data, "id") === id && numberIn(data, "seed") === seed) continue;
      broken.push(`transaction ${id} was acknowledged, but seq ${seq} of it is not there`);
    }
  }
  return broken;
}

/** V2. */
function brokenStore(name: StoreName, place: Place, acks: readonly Ack[], events: number): string[] {
  const numbers = acks.flatMap((ack) => (ack.kind === "checkpoint" && ack.store === name ? [ack.number] : []));
  const promised = numbers.reduce((top, number) => Math.max(top, number), 0);
  const loaded = storeOf(name, place).load();
  const what = `checkpoint ${name}`;
  if (loaded.kind === "refused") return [`${what}: ${loaded.refusal.message}`];
  const broken = loaded.problems.map(({ path, reason }) => `${what}: ${path}: ${reason}`);
  if (loaded.kind === "none")
    return promised === 0 ? broken : [...broken, `${what} ${promised} was acknowledged and is gone`];
  const { body, seq } = loaded.checkpoint;
  const number = numberIn(body, "number");
  if (number < promised) broken.push(`${what} ${promised} was acknowledged, but the newest is ${number}`);
  if (JSON.stringify(body) !== JSON.stringify(checkpointBody(numberIn(body, "seed"), number)))
    broken.push(`${what} ${number} is not what was saved`);
  if (seq > events) broken.push(`${what} ${number} is a fold at seq ${seq}, but the log ends at ${events}`);
  return [...broken, ...brokenOlder(name, place, { present: number, saves: new Set(numbers).size })];
}

type Saves = { readonly present: number; readonly saves: number };

/** Those before the present one: whole, not newer than it, and as many as there must be. */
function brokenOlder(name: StoreName, place: Place, { present, saves }: Saves): string[] {
  const store = storeOf(name, place);
  const limit = name === "backup" ? 1 : HISTORY_LIMIT;
  const older = store.listHistory();
  const broken = older.flatMap((one) => (one.valid ? [] : [`checkpoint ${name}: ${one.path}: ${one.reason}`]));
  let newer = present;
  for (const [index, { valid }] of older.entries()) {
    const loaded = store.loadFromHistory(index);
    const number = loaded.kind === "loaded" ? numberIn(loaded.checkpoint.body, "number") : newer;
    if (valid && number > newer) broken.push(`checkpoint ${name}: number ${number} is kept as older than ${newer}`);
    newer = Math.min(newer, number);
  }
  const wanted = Math.min(limit, saves - 1);
  if (older.length < wanted)
    broken.push(`checkpoint ${name}: ${wanted} older ones should be kept, ${older.length} are`);
  return broken;
}

/** V3. */
function brokenTape({ disk, home }: Place, acks: readonly Ack[]): string[] {
  const ranges = new Map<number, number>();
  for (const ack of acks) {
    if (ack.kind === "tape") ranges.set(ack.from, Math.max(ack.to, ranges.get(ack.from) ?? 0));
  }
  const kept = [...ranges.values()].reduce((top, to) => Math.max(top, to), 0) - TAPE_KEPT;
  const reader = new TapeReader(disk, tapePath(home));
  return [...ranges].flatMap(([from, to]) => brokenStretch(reader, Math.max(from, kept), to));
}

function brokenStretch(reader: TapeReader, from: number, to: number): string[] {
  for (let at = from; at < to; ) {
    const read = reader.read(at, to - at);
    if (read.kind === "end") return [`tape: ${to} bytes were acknowledged, but it ends at ${read.end}`];
    if (read.kind !== "bytes") return [`tape: bytes ${read.from} to ${read.to} were acknowledged and are gone`];
    if (Buffer.compare(read.bytes, tapeBytes(at, read.bytes.length)) !== 0)
      return [`tape: what stands from ${at} to ${at + read.bytes.length} is not what was acknowledged`];
    at += read.bytes.length;
  }
  return [];
}
