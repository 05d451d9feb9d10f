// What the append benchmarks are measured against. Each writes the same event bytes and returns when they are synced.
//   fdatasync       one event, one write, one sync, on a file that grows: what a careful program does without a log
//   preallocated    the same in a file that is there already, filled with zeros, as the segments of our own log are
//   groupcommit     N events, one write, one sync, in a file that is there already: the limit of any group commit
//   sqlite          WAL, synchronous=FULL, one commit for each event
//   sqlite-batched  the same, N events in a commit
// They do less than the log does: no numbering, no checksums, and no second file for each session.
import { Database } from "bun:sqlite";
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { eventBytes, sessionName } from "./event.ts";
import type { Contestant } from "./rounds.ts";

/** As much as the log's own segments have together. */
const PREALLOCATED = 64 << 20;

export type PeerName = "fdatasync" | "preallocated" | "groupcommit" | "sqlite" | "sqlite-batched";

export const PEERS: Readonly<Record<PeerName, (directory: string, batch: number) => Contestant>> = {
  fdatasync: growingFile,
  preallocated: (directory) => preallocatedFile(join(directory, "preallocated"), 1),
  groupcommit: (directory, batch) => preallocatedFile(join(directory, "groupcommit"), batch),
  sqlite: (directory) => sqlite(join(directory, "single.sqlite"), 1),
  "sqlite-batched": (directory, batch) => sqlite(join(directory, "batched.sqlite"), batch),
};

function growingFile(directory: string): Contestant {
  const fd = openSync(join(directory, "growing"), "w");
  const event = eventBytes();
  const run = (events: number) => {
    for (let left = events; left > 0; left -= 1) {
      writeWhole(fd, event, null);
      fdatasyncSync(fd);
    }
  };
  return { name: "write + fdatasync, growing file", run, close: () => closeSync(fd) };
}

function preallocatedFile(path: string, batch: number): Contestant {
  const fd = openSync(path, "w");
  writeWhole(fd, Buffer.alloc(PREALLOCATED), 0);
  fdatasyncSync(fd);
  const bytes = Buffer.concat(Array.from({ length: batch }, eventBytes));
  let at = 0;
  const run = (events: number) => {
    for (let left = events; left > 0; left -= batch) {
      if (at + bytes.length > PREALLOCATED) at = 0;
      const part = left < batch ? bytes.subarray(0, (bytes.length / batch) * left) : bytes;
      writeWhole(fd, part, at);
      fdatasyncSync(fd);
      at += part.length;
    }
  };
  return { name: `write + fdatasync of ${batch}, preallocated`, run, close: () => closeSync(fd) };
}

function sqlite(path: string, batch: number): Contestant {
  const db = new Database(path, { create: true, strict: true });
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA synchronous = FULL");
  db.run("CREATE TABLE events (seq INTEGER PRIMARY KEY, session TEXT NOT NULL, line TEXT NOT NULL)");
  const insert = db.prepare("INSERT INTO events (session, line) VALUES (?, ?)");
  const line = eventBytes().toString("utf8");
  const session = sessionName(0);
  const insertMany = db.transaction((rows: number) => {
    for (let left = rows; left > 0; left -= 1) insert.run(session, line);
  });
  const run = (events: number) => {
    for (let left = events; left > 0; left -= batch) {
      if (batch === 1) insert.run(session, line);
      else insertMany(Math.min(left, batch));
    }
  };
  return { name: `SQLite WAL FULL, ${batch} in a commit`, run, close: () => db.close() };
}

function writeWhole(fd: number, bytes: Uint8Array, position: number | null): void {
  for (let done = 0; done < bytes.length; ) {
    const at = position === null ? null : position + done;
    done += writeSync(fd, bytes, done, bytes.length - done, at);
  }
}
