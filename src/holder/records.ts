// The two small files of a holder's life: `claim.json` before its command is executed, `exit.json` after it has ended.
// E1. A claim is made once, whole and durable, or not at all; if one exists, nothing is started. The name of its
//     directory is made durable with it, in case its creator did not sync it. If that fails, the claim is withdrawn:
//     nothing was started, and another holder may.
// E2. `exit.json` is whole and durable when `recordExit` resolves. On a full or failing disk it is retried for as long
//     as it takes, unless the terminal's directory is gone: then no one needs it.
// E3. With a journal (log/file/journal.ts), its records are durable and the files are not: those are for the programs
//     that run now. The claim's file is made before its record, since it decides who may start the program, and the
//     exit's after it. What is lost of the files with the machine, the daemon makes again of the records
//     (home/held/journals.ts). A journal that is full or has failed is done without.
import { assert } from "../base/assert.ts";
import { isFault } from "../base/fault.ts";
import { joinPath, parentOf } from "../base/path.ts";
import { createExclusive, createUnsynced } from "../log/file/exclusive-file.ts";
import { readWhole, removeIfThere } from "../log/file/file.ts";
import type { Journal } from "../log/file/journal.ts";
import { parseClaim } from "../wire/holder/json.ts";
import { type HolderClaim, type HolderExit, PROTOCOL } from "../wire/holder/protocol.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Identities } from "../world/process.ts";

const RETRY_MS = 1000;
const CLAIM = "claim.json";
const EXIT = "exit.json";
/** More than a claim and an exit take. */
const JOURNAL_ROOM = 4 << 10;

type HolderDirectory = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly processes: Identities;
  readonly directory: string;
  /** E3 */
  readonly journal?: Journal | undefined;
};

/** E1. Returns false if a claim already exists. */
export async function claim(place: HolderDirectory, generation: number): Promise<boolean> {
  const { processes, clock, disk, directory, journal } = place;
  const { pid } = processes;
  const facts: HolderClaim = {
    v: PROTOCOL,
    generation,
    by: "holder",
    pid,
    startTime: processes.startTime(pid) ?? 0,
    bootId: processes.bootId(),
    at: new Date(clock.now()).toISOString(),
  };
  if (journal?.hasRoom(JOURNAL_ROOM) === true) return claimInJournal(place, facts, journal);
  const done = [make(place, CLAIM, facts), disk.syncDirectory(parentOf(directory)).then(() => true)];
  try {
    return (await Promise.all(done)).every(Boolean);
  } catch (error) {
    await Promise.allSettled(done);
    withdraw(place, facts);
    throw error;
  }
}

/** E3 */
async function claimInJournal(place: HolderDirectory, facts: HolderClaim, journal: Journal): Promise<boolean> {
  const { disk, directory } = place;
  if (!createUnsynced(disk, joinPath(directory, CLAIM), lineOf(facts), String(facts.pid))) return false;
  try {
    assert(await journal.append({ of: nameOf(directory, journal), claim: facts }), "there is room for a claim");
    return true;
  } catch (error) {
    withdraw(place, facts);
    throw error;
  }
}

/** Its directory below the home: so it means the same in a home that was moved. */
function nameOf(directory: string, journal: Journal): string {
  const home = parentOf(parentOf(journal.use.path));
  assert(directory.startsWith(`${home}/`), "a journal is of the home of what is held");
  return directory.slice(home.length + 1);
}

/** E1. Only our own. If that fails as well, it stays, and the start counts as lost. */
function withdraw({ disk, directory }: HolderDirectory, { pid, startTime }: HolderClaim): void {
  const path = joinPath(directory, CLAIM);
  const bytes = readWhole(disk, path);
  const made = bytes === undefined ? undefined : parseClaim(bytes);
  if (made?.by === "holder" && made.pid === pid && made.startTime === startTime) removeIfThere(disk, path);
}

/** E2. An existing file stays: an end is recorded once. `hasTapes`: something that it printed is on the disk. */
export async function recordExit(place: HolderDirectory, exit: HolderExit, hasTapes = true): Promise<void> {
  const { disk, clock, directory, journal } = place;
  if (journal !== undefined && (await isInJournal(place, exit, { journal, hasTapes }))) return;
  for (;;) {
    try {
      if (disk.stat(directory) === undefined) return;
      if (journal !== undefined) await disk.syncDirectory(parentOf(directory)); // E3: the claim has not done it.
      await make(place, EXIT, exit);
      return;
    } catch (error) {
      if (!isFault(error)) throw error;
      await new Promise<void>((again) => clock.after(RETRY_MS, again));
    }
  }
}

type Recording = { readonly journal: Journal; readonly hasTapes: boolean };

/** E3. Returns false if it has to be made durable as a file. */
async function isInJournal(place: HolderDirectory, exit: HolderExit, { journal, hasTapes }: Recording) {
  const { disk, directory, processes } = place;
  try {
    if (hasTapes) await disk.syncDirectory(parentOf(directory)); // The tapes are durable, but in which directory?
    if (!(await journal.append({ of: nameOf(directory, journal), exit }))) return false;
    return createUnsynced(disk, joinPath(directory, EXIT), lineOf(exit), String(processes.pid));
  } catch (error) {
    if (!isFault(error)) throw error;
    return false;
  }
}

function make({ disk, directory, processes }: HolderDirectory, name: string, facts: HolderClaim | HolderExit) {
  return createExclusive(disk, joinPath(directory, name), lineOf(facts), String(processes.pid));
}

function lineOf(facts: HolderClaim | HolderExit): Uint8Array {
  return Buffer.from(`${JSON.stringify(facts)}\n`);
}
