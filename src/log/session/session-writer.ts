// Appends to many sessions' logs at once and syncs them together.
// A1. Lengths change only when everything is durable: the files, and the names of new ones up to the home.
import type { Fault } from "../../base/fault.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { makeDirectories, openRetrying, writeAll } from "../file/file.ts";
import { partsOf, type SessionParts } from "./entry-encoder.ts";
import { eventsPath } from "./places.ts";
import { WaitingLines } from "./waiting-lines.ts";

/** What the log knows about a session while it runs. */
export type Session = {
  readonly name: string;
  readonly parts: SessionParts;
  /** The session's last seq, durable or pending. */
  last: number;
  /** Where the next line goes in its file. */
  length: number;
  /** Whether its file's name is known to be durable. */
  named: boolean;
  /** Its file is damaged: why it accepts no more entries; undefined if it does. */
  frozen: string | undefined;
  /** A reader set it aside: why it accepts only the entries that end it; undefined if it accepts all. */
  aside: string | undefined;
  /** Durable lines that its file does not have yet. */
  readonly waiting: WaitingLines;
};

/** A session with nothing on disk. */
export function newSession(name: string): Session {
  const none = { last: 0, length: 0, named: false, frozen: undefined, aside: undefined };
  return { name, parts: partsOf(name), ...none, waiting: new WaitingLines() };
}

export type SessionWrite = { readonly session: Session; readonly block: Uint8Array };

/**
 * Writes each block at its session's end. A failure that `passing`
 * accepts is returned and changes nothing; others are thrown.
 */
export async function writeSessions(
  disk: Disk,
  home: string,
  writes: readonly SessionWrite[],
  passing: (error: unknown) => error is Fault,
): Promise<Fault | undefined> {
  const files: OpenFile[] = [];
  try {
    const fault = writeAndKeepOpen(disk, home, writes, { files, passing });
    if (fault !== undefined) return fault;
    if (files.length > 1) for (const file of files) file.startSync(); // Their syncs then share the disk's work.
    await Promise.all(files.map((file) => file.datasync()));
    for (const directory of unsyncedNames(home, writes)) await disk.syncDirectory(directory);
  } finally {
    for (const file of files) file.close();
  }
  for (const { session, block } of writes) {
    session.length += block.length; // A1
    session.named = true;
  }
  return undefined;
}

type Opened = { readonly files: OpenFile[]; readonly passing: (error: unknown) => error is Fault };

function writeAndKeepOpen(
  disk: Disk,
  home: string,
  writes: readonly SessionWrite[],
  opened: Opened,
): Fault | undefined {
  try {
    for (const { session, block } of writes) {
      if (!session.named) makeDirectories(disk, joinPath(home, session.name));
      const file = openRetrying(disk, eventsPath(home, session.name), "create");
      opened.files.push(file);
      writeAll(file, block, session.length);
      const end = session.length + block.length;
      if (file.size() > end) file.truncate(end);
    }
    return undefined;
  } catch (error) {
    if (opened.passing(error)) return error;
    throw error;
  }
}

/**
 * The directories to sync so that the new files can be found again, innermost first. Existing levels are included: the
 * process that made them may have been killed before the sync.
 */
function unsyncedNames(home: string, writes: readonly SessionWrite[]): string[] {
  const directories = new Set<string>();
  for (const { session } of writes) {
    if (session.named) continue;
    for (let at = joinPath(home, session.name); at.length >= home.length; at = parentOf(at)) {
      directories.add(at);
      if (at === home) break;
    }
  }
  return [...directories];
}

const NEWLINE = 10;

/** The lines, each with its newline, as one block. */
export function joinLines(lines: readonly Uint8Array[]): Uint8Array {
  const block = new Uint8Array(lines.reduce((sum, line) => sum + line.length + 1, 0));
  let at = 0;
  for (const line of lines) {
    block.set(line, at);
    at += line.length + 1;
    block[at - 1] = NEWLINE;
  }
  return block;
}
