// Reads the log of a session that is archived, or is just being brought back: the write-ahead log has nothing of it.
import type { Disk } from "../../world/disk.ts";
import type { FoldableLog } from "./fold-log.ts";
import { readAfter, readFiles } from "./log-segments.ts";
import { sessionPath } from "./places.ts";
import { skippedEvents } from "./poisons.ts";

export function archivedLog(disk: Disk, home: string): FoldableLog {
  return {
    read: (session) => readFiles(disk, sessionPath(disk, home, session)),
    readAfter: (session, seq) => readAfter(disk, sessionPath(disk, home, session), seq),
    poisons: { skipped: (session) => skippedEvents({ disk, home }, session) },
  };
}
