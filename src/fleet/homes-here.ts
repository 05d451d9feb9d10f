// Homes of other hosts on this one: mirrors of them, and their directories once they are taken.
// HH1. What is done for one home is done one after the other: a mirror has one user.
// HH2. Without a warm mirror, a home is made from one that is fetched for it. Once the home is made, its mirror is
//      removed: it would be that of a home which is here.
import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { makeDirectories, removeTree } from "../log/file/file.ts";
import type { World } from "../world/world.ts";
import type { Database } from "./database.ts";
import { type Materialised, type MaterialiseWish, materialise } from "./materialise.ts";
import { Mirror, type MirrorProgress } from "./mirror.ts";
import type { FleetSeal } from "./seal.ts";

export type HomesHerePorts = {
  readonly world: Pick<World, "disk" | "clock" | "processes">;
  readonly database: Database;
  readonly seal: FleetSeal;
  /** The directory with the mirrors, each by the id of its home. */
  readonly mirrors: string;
  /** Called after each piece of work. Throws to end it. */
  readonly step: (home: string, progress: MirrorProgress) => void;
};

/** A name in the database is nobody's path. */
const ID = /^[0-9a-zA-Z-]{1,64}$/;

export class HomesHere {
  readonly #ports: HomesHerePorts;
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(ports: HomesHerePorts) {
    this.#ports = ports;
  }

  /** Brings the mirror of a home up to date. Returns where its log ends. */
  mirror(home: string): Promise<Result<number>> {
    return this.#inTurn(home, async (mirror) => {
      const mirrored = await mirror.refresh();
      return mirrored.ok ? ok(mirrored.value.seq) : mirrored;
    });
  }

  /** Removes the mirror of a home. */
  forget(home: string): Promise<Result<undefined>> {
    return this.#inTurn(home, async () => {
      removeTree(this.#ports.world.disk, this.#path(home));
      return ok(undefined);
    });
  }

  /** Of a home that is taken already. Can be repeated. */
  make(wish: MaterialiseWish): Promise<Result<Materialised>> {
    const { world, seal } = this.#ports;
    return this.#inTurn(wish.take.home, async (mirror) => {
      const made = await materialise({ world, mirror, seal }, wish);
      if (made.ok) removeTree(world.disk, this.#path(wish.take.home)); // HH2
      return made;
    });
  }

  /** HH1 */
  #inTurn<T>(home: string, work: (mirror: Mirror) => Promise<Result<T>>): Promise<Result<T>> {
    if (!ID.test(home))
      return Promise.resolve(refused("fleet-no-home", "That is not the id of a home.", "See its row."));
    const { world, database, step } = this.#ports;
    const run = () => {
      makeDirectories(world.disk, this.#path(home));
      const ports = { disk: world.disk, database, homeId: home, path: this.#path(home) };
      return work(new Mirror({ ...ports, step: (progress) => step(home, progress) }));
    };
    const done = (this.#last.get(home) ?? Promise.resolve()).then(run, run);
    this.#last.set(home, done);
    return done;
  }

  #path(home: string): string {
    return joinPath(this.#ports.mirrors, home);
  }
}
