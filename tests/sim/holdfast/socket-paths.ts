// The paths of sockets on a simulated disk, and a watch on them, as inotify is one.
// SP1. A path is a name on the disk like any other: not synced, it outlives its process, and anyone may remove it.
// SP2. Every path that is put, touched or removed here is reported to the watchers of its directory, a moment later.
import { baseName, parentOf } from "../../../src/base/path.ts";
import type { Watch } from "../../../src/world/watch.ts";
import type { SimClock } from "../clock.ts";
import type { SimDisk } from "../disk.ts";
import type { Life } from "../mortal.ts";
import type { SocketFiles } from "../sockets.ts";

const NOTICE_MS = 1;

type Watcher = { readonly directory: string; readonly life: Life; readonly changed: (name: string) => void };
type World = { readonly disk: SimDisk; readonly clock: SimClock };

export class SocketPaths implements SocketFiles {
  readonly #world: () => World;
  readonly #watchers = new Set<Watcher>();

  /** The disk is another one after a power cut. */
  constructor(world: () => World) {
    this.#world = world;
  }

  put(path: string): () => boolean {
    const { disk } = this.#world();
    if (disk.stat(path) !== undefined) disk.unlink(path);
    disk.open(path, "exclusive").close(); // SP1
    const id = disk.tree.lookup(path);
    this.touch(path);
    return () => this.#world().disk === disk && disk.tree.lookup(path) === id;
  }

  remove(path: string): void {
    this.#world().disk.unlink(path);
    this.touch(path);
  }

  touch(path: string): void {
    const { clock } = this.#world();
    for (const { directory, life, changed } of this.#watchers)
      if (directory === parentOf(path)) clock.after(NOTICE_MS, () => life.act(() => changed(baseName(path)))); // SP2
  }

  watch(life: Life): Watch {
    return {
      directory: (directory, changed) => {
        if (this.#world().disk.stat(directory) === undefined) return undefined;
        const watcher = { directory, life, changed };
        const stop = () => void this.#watchers.delete(watcher);
        this.#watchers.add(watcher);
        life.onEnd(stop);
        return stop;
      },
    };
  }
}
