// The holders' programs, bundled into one small file each: such a holder needs a fifth less memory than one run from
// the sources, and many run at a time. Each is copied into the home, where it stays when the installation changes. If
// it cannot be built, or was deleted, the sources are used.

import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { HOLDER_PROGRAMS } from "../../home/layout.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { makeDirectories } from "../../log/file/file.ts";
import { PROGRAMS } from "../../world/built.ts";
import type { Disk } from "../../world/disk.ts";
import { sha256 } from "../../world/hash.ts";
import type { Self } from "../../world/self.ts";

/** One for a terminal or an agent, for as long as that lives, and one that takes orders to hold attempts. */
export type HolderKind = "holder" | "orders";
export type HolderCommand = { readonly runtime: string; readonly entry: string };
type World = { readonly disk: Disk; readonly self: Self; readonly home: string };

export class HolderPrograms {
  readonly #world: World;
  readonly #made = new Map<HolderKind, string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Builds those that are missing. Running holders keep the one they were started from. */
  async make(): Promise<void> {
    for (const kind of ["holder", "orders"] as const) {
      const path = this.#made.get(kind) ?? (await this.#make(kind));
      if (path !== undefined) this.#made.set(kind, path);
    }
  }

  /** The command that starts a holder. */
  command(kind: HolderKind): HolderCommand {
    const { self, disk } = this.#world;
    const [runtime, ...argv] = self.command(PROGRAMS[kind]);
    const made = this.#made.get(kind);
    const there = made !== undefined && disk.stat(made) !== undefined; // run/ may have been cleaned while we run.
    return { runtime, entry: there ? made : (argv.at(-1) ?? "") };
  }

  async #make(kind: HolderKind): Promise<string | undefined> {
    const { disk, self, home } = this.#world;
    const text = await self.holder(kind);
    if (text === undefined) return undefined;
    const path = joinPath(home, `${HOLDER_PROGRAMS}/${kind}-${sha256(text).slice(0, 12)}.js`);
    try {
      makeDirectories(disk, joinPath(home, HOLDER_PROGRAMS));
      if (disk.stat(path) === undefined) await writeAtomic(disk, path, Buffer.from(text));
      return path;
    } catch (error) {
      if (isFault(error)) return undefined;
      throw error;
    }
  }
}
