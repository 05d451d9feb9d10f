// How far the log is known to be on disk, seen from outside while it is being written.
// K1. A line of the write-ahead log can be read before it is synced, and may still be wiped (W4). It is certainly on
//     disk once a later frame says so, or once it or a later entry is in a session's own log.
import { eventsPath } from "../../log/session/places.ts";
import { tailOf } from "../../log/session/session-log.ts";
import type { Disk } from "../../world/disk.ts";
import { endOf, type Opened } from "./view.ts";

type DurableSeen = { readonly size: number; readonly last: number };

/** Remembers the sessions' logs, so that only changed ones are read again. */
export class DurableEnd {
  readonly #disk: Disk;
  readonly #seen = new Map<string, DurableSeen>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Everything up to this seq is certainly on disk, and in the view. */
  of({ home, view }: Opened): number {
    const last = (top: number, session: string) => Math.max(top, this.#lastIn(eventsPath(home, session)));
    return Math.min(endOf(view), view.sessions.reduce(last, view.marks.durable)); // K1
  }

  #lastIn(path: string): number {
    const size = this.#disk.stat(path)?.size ?? 0;
    const known = this.#seen.get(path);
    if (known?.size === size) return known.last;
    const last = tailOf(this.#disk, path, Number.POSITIVE_INFINITY).findLast((line) => line.head !== undefined);
    this.#seen.set(path, { size, last: last?.head?.seq ?? 0 });
    return last?.head?.seq ?? 0;
  }
}
