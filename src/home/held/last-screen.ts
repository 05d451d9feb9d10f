// A terminal's screen in the last checkpoint, read without the daemon.
// LS1. It is optional: a checkpoint that cannot be read, or would take long to read, counts as absent.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import {
  CHECKPOINT_BACKUP,
  CHECKPOINT_FACTS,
  CHECKPOINT_FILE,
  screenOf,
  sessionIn,
} from "../../core/terminal/checkpoint.ts";
import type { ScreenSnapshot } from "../../core/terminal/screen.ts";
import { firstUsable } from "../../log/checkpoint/load.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import type { Disk } from "../../world/disk.ts";

export type ScreenSeen = Pick<ListedTerminal, "id" | "generation" | "restored">;

/** A checkpoint of some hundred terminals. Reading a larger one takes longer than a person would wait (LS1). */
const MAX_CHECKPOINT = 8 << 20;

export function lastScreen(disk: Disk, home: string, terminal: ScreenSeen): ScreenSnapshot | undefined {
  const paths = [CHECKPOINT_FILE, CHECKPOINT_BACKUP].map((path) => joinPath(home, path));
  try {
    if (paths.some((path) => (disk.stat(path)?.size ?? 0) > MAX_CHECKPOINT)) return undefined;
    const loaded = firstUsable(disk, paths, CHECKPOINT_FACTS);
    if (loaded.kind !== "loaded") return undefined;
    const session = sessionIn(loaded.checkpoint.body, terminal.id);
    return session === undefined ? undefined : screenOf(session, terminal);
  } catch (error) {
    if (isFault(error)) return undefined; // LS1
    throw error;
  }
}
