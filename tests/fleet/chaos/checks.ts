// What must hold when everything has come back: in the database's log, on the hosts' disks, and in what the steps did.
// CH1. Acknowledged ⊆ log, and each of it once.
// CH2. Nothing is there twice: no seq, no terminal, run, message or prompt; a prompt has one answer.
// CH3. A step that must not happen twice did not; and none happened of which the log does not know that it was begun.
// CH4. One history: the log in the database has no hole, and no disk has another entry in the place of one that its
//      own epoch, or an earlier one, has committed.
// CH5. No program has said that it met a bug of its own, or has crashed until it was set aside.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FleetSeal } from "../../../src/fleet/seal.ts";
import { readOwner } from "../../../src/home/fleet-files.ts";
import { LogView } from "../../../src/log/inspect.ts";
import { decodeEntry, type Entry } from "../../../src/log/session/entry.ts";
import { decodeFrame, entriesOf } from "../../../src/log/wal/frame.ts";
import { realDisk } from "../../../src/world/real/disk.ts";
import type { Acknowledged } from "./clients.ts";

const NEWLINE = 10;
/** CH5. Whoever waited for a log that was lost to another host says so, and is gone with its process. */
const LOST = /fleet-lost/;
const BUG = /bug of holdfast|AssertionError|TypeError|RangeError|ReferenceError|safe mode|crash loop/i;
const disk = realDisk();

/** As the table has it. */
export type BatchRow = {
  readonly first: number;
  readonly last: number;
  readonly epoch: number;
  readonly bytes: Uint8Array;
};
export type LoggedHome = {
  readonly id: string;
  readonly name: string;
  /** By seq. */
  readonly entries: ReadonlyMap<number, Entry>;
  /** Under which epoch it was committed, by seq. */
  readonly epochs: ReadonlyMap<number, number>;
  readonly faults: readonly string[];
};

/** Opens what the database has of a home. */
export function loggedHome(
  seal: FleetSeal,
  home: { id: string; name: string; lastSeq: number },
  rows: readonly BatchRow[],
): LoggedHome {
  const entries = new Map<number, Entry>();
  const epochs = new Map<number, number>();
  const faults: string[] = [];
  let end = (rows[0]?.first ?? 1) - 1;
  for (const row of rows) {
    if (row.first !== end + 1) faults.push(`${home.name}: ${row.first} follows ${end}`); // CH4
    end = row.last;
    const opened = seal.openBatches(home.id, row);
    if (!opened.ok) faults.push(`${home.name}: ${opened.error.message}`);
    for (const entry of opened.ok ? opened.value.flatMap(({ bytes }) => inFrames(bytes)) : []) {
      if (entries.has(entry.seq)) faults.push(`${home.name}: ${entry.seq} is there twice`); // CH2
      entries.set(entry.seq, entry);
      epochs.set(entry.seq, row.epoch);
    }
  }
  if (end !== home.lastSeq) faults.push(`${home.name}: its log ends at ${end}, not at ${home.lastSeq}`);
  return { ...home, entries, epochs, faults };
}

function inFrames(bytes: Uint8Array): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, at);
    const frame = decodeFrame(bytes.subarray(at, end), 0);
    if (frame === undefined) throw new Error("what is no frame is in a batch");
    for (const { line } of entriesOf(frame)) {
      const entry = decodeEntry(line);
      if (entry !== undefined) entries.push(entry);
    }
    at = end + 1;
  }
  return entries;
}

/** CH1, CH2 */
export function checkLog(homes: readonly LoggedHome[], acknowledged: readonly Acknowledged[]): string[] {
  const found = new Map<string, number>();
  for (const { entries } of homes)
    for (const entry of entries.values()) {
      const key = keyOf(entry);
      if (key !== undefined) found.set(key, (found.get(key) ?? 0) + 1);
    }
  const twice = [...found].flatMap(([key, count]) => (count > 1 ? [`${key} is in the log ${count} times`] : []));
  const lost = acknowledged.filter(
    ({ kind, key }) => kind !== "any" && !found.has(`${kind === "ticker" ? "run" : kind} ${key}`),
  );
  return [
    ...twice,
    ...lost.map((one) => `${one.kind} ${one.key} of ${one.home} was acknowledged and is not in the log`),
  ];
}

/** What exists once: the one that an event makes. */
function keyOf({ event, data, session_id }: Entry): string | undefined {
  const of = (name: string) => String((data as Record<string, unknown>)[name]);
  if (event === "terminal.created") return `terminal ${of("name")}`;
  if (event === "workflow.created") return `run ${session_id}`;
  if (event === "prompt.opened") return `prompt ${of("prompt_id")}`;
  if (event === "prompt.answered") return `answer ${of("prompt_id")}`;
  const about = event === "message.enqueued" ? /ASK about ([\w-]+)/.exec(JSON.stringify(data))?.[1] : undefined;
  return about === undefined ? undefined : `message ${about}`;
}

/** CH3. `file`: a line for each step that was carried out: its run's key, its id, its attempt's marker. */
export function checkSteps(homes: readonly LoggedHome[], file: string): string[] {
  const text = readFileSync(file, "utf8");
  const steps = new Map<string, string[]>();
  for (const line of text.split("\n").filter(Boolean)) {
    const [key = "", step = "", marker = ""] = line.split(" ");
    const name = `${key} ${step}`;
    steps.set(name, [...(steps.get(name) ?? []), marker]);
  }
  const begun = new Set(homes.flatMap(({ entries }) => [...entries.values()].map(begunBy)));
  return [...steps].flatMap(([name, markers]) => [
    ...(markers.length > 1 ? [`step ${name} happened ${markers.length} times: ${markers.join(", ")}`] : []),
    ...markers.filter((marker) => !begun.has(marker)).map((marker) => `${name}: nothing began ${marker}`),
  ]);
}

function begunBy({ event, data }: Entry): string | undefined {
  return event === "workflow.attempt.started" ? String((data as Record<string, unknown>)["attempt"]) : undefined;
}

/** CH4. `directories`: of all hosts, whose daemons do not run. */
export function checkDisks(homes: readonly LoggedHome[], directories: readonly string[]): string[] {
  return directories.flatMap((home) => {
    const owner = readOwner({ disk, home });
    const logged = homes.find(({ id }) => id === owner?.home);
    if (owner === undefined || logged === undefined) return [];
    const epoch = owner.take?.epoch ?? 0;
    const other = localEntries(home).filter((entry) => {
      const committed = logged.entries.get(entry.seq);
      return committed !== undefined && (logged.epochs.get(entry.seq) ?? 0) <= epoch && !isSame(committed, entry);
    });
    return other.slice(0, 3).map(({ seq, event }) => {
      const there = logged.entries.get(seq);
      return `${home} (epoch ${epoch}) has ${event} as ${seq}, the database ${there?.event} (epoch ${logged.epochs.get(seq)})`;
    });
  });
}

/** CH5 */
export function checkWords(directories: readonly string[]): string[] {
  return directories.flatMap((home) => {
    const path = join(home, "run/watchdog.log");
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    return lines
      .filter((line) => BUG.test(line) && !LOST.test(line))
      .slice(0, 3)
      .map((line) => `${home}: ${line}`);
  });
}

function localEntries(home: string): Entry[] {
  const view = new LogView(disk, home);
  return view.sessions.flatMap((session) =>
    [...view.read(session)].flatMap((reading) => (reading.kind === "entry" ? [reading.entry] : [])),
  );
}

function isSame(one: Entry, other: Entry): boolean {
  return one.session_id === other.session_id && one.event === other.event && one.ts === other.ts;
}
