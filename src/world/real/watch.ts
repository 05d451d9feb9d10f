// Changes as the system reports them (inotify, through Bun).
import { type FSWatcher, watch } from "node:fs";
import { Fault } from "../../base/fault.ts";
import type { Watch } from "../watch.ts";
import { attempt, unless } from "./attempt.ts";

const NOTHING_THERE = ["ENOENT", "ENOTDIR"];
/** The system reports ENOSPC, which would look like a full disk. */
const NO_MORE_WATCHES =
  "The system watches too many files. Raise fs.inotify.max_user_watches (sysctl), then try again.";

export function realWatch(): Watch {
  return { directory };
}

function directory(path: string, changed: (name: string) => void): (() => void) | undefined {
  const watcher = unless<FSWatcher | undefined>(NOTHING_THERE, undefined, () => start(path, changed));
  if (watcher === undefined) return undefined;
  // The watch on its parent reports that a directory went away.
  watcher.on("error", () => watcher.close());
  return () => watcher.close();
}

function start(path: string, changed: (name: string) => void): FSWatcher {
  try {
    return attempt("watch", path, () => watch(path, (_kind, name) => changed(name ?? "")));
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "ENOSPC") throw error;
    throw new Fault({ code: error.code, operation: error.operation, path, hint: NO_MORE_WATCHES }, error);
  }
}
