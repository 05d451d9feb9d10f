// Wakes a follower of a log when something in it may have changed.
// H1. A change between two looks is never missed: a new watch counts as a change, so one more look follows it.
import { joinPath, parentOf } from "../../base/path.ts";
import { EVENTS_FILE, WAL_DIRECTORY } from "../../log/session/places.ts";
import type { Watch } from "../../world/watch.ts";

export class Changes {
  readonly #watch: Watch;
  readonly #home: string;
  readonly #stops = new Map<string, () => void>();
  #changed = Promise.withResolvers<void>();

  constructor(watch: Watch, home: string) {
    this.#watch = watch;
    this.#home = home;
  }

  /** Resolves at the next change, or at once if there was one since the last call of `seen`. */
  next(): Promise<void> {
    return this.#changed.promise;
  }

  /** A look starts: only changes from now on count. */
  seen(): void {
    this.#changed = Promise.withResolvers<void>();
  }

  /** Watches the write-ahead log and these sessions; if a directory is missing, the one it will be created in. */
  follow(sessions: readonly string[]): void {
    this.#add(this.#home, () => true);
    this.#add(joinPath(this.#home, WAL_DIRECTORY), () => true);
    for (const session of sessions) {
      // A terminal's tape is next to its log and changes all the time.
      this.#add(joinPath(this.#home, session), (name) => name === EVENTS_FILE);
      for (let at = parentOf(session); at !== "."; at = parentOf(at)) this.#add(joinPath(this.#home, at), () => true);
    }
  }

  #add(directory: string, counts: (name: string) => boolean): void {
    if (this.#stops.has(directory)) return;
    const stop = this.#watch.directory(directory, (name) => {
      if (counts(name)) this.#changed.resolve();
    });
    if (stop === undefined) return;
    this.#stops.set(directory, stop);
    this.#changed.resolve(); // H1
  }

  stop(): void {
    for (const stop of this.#stops.values()) stop();
    this.#stops.clear();
  }
}
