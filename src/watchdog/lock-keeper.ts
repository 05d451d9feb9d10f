// The watchdog's lock, for as long as it runs. All of run/ may be removed under it.
// LK1. A lock whose file was removed is taken again, so that the watchdog is found, and no second one starts.
// LK2. If another watchdog has taken it by then, that one stays.
// LK3. A failure of the disk is reported, and retried.
// LK4. A record that could not be written is written again: commands find the watchdog by it.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { RUN, WATCHDOG_LOCK } from "../home/layout.ts";
import type { Complain } from "../home/recovery-bus.ts";
import { makeDirectories } from "../log/file/file.ts";
import { type Held, takeLock } from "../log/file/lock.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { identify, type Processes } from "../world/process.ts";

const LOOK_EVERY_MS = 2_000;

type KeeperWorld = { readonly disk: Disk; readonly clock: Clock; readonly processes: Processes };

export type KeeperHost = { restored(): void; displaced(): void; readonly complain: Complain };

export class LockKeeper {
  readonly #world: KeeperWorld;
  readonly #home: string;
  #held: Held | undefined;
  /** The file that we have locked. */
  #file: string | undefined;
  #cancel: () => void = () => undefined;

  constructor(world: KeeperWorld, home: string) {
    this.#world = world;
    this.#home = home;
  }

  /** Returns false if another process has it. */
  take(): boolean {
    const { disk, processes } = this.#world;
    makeDirectories(disk, joinPath(this.#home, RUN));
    const { pid } = processes;
    const owner = identify(processes, pid) ?? { pid, startTime: 0, bootId: "" };
    const taken = takeLock(this.#world, this.#path, owner);
    if (!taken.ok) return false;
    this.#held?.release();
    this.#held = taken.value;
    this.#file = disk.stat(this.#path)?.id;
    return true;
  }

  /** Looks after it until `release`. */
  keep(host: KeeperHost): void {
    this.#cancel = this.#world.clock.after(LOOK_EVERY_MS, () => {
      this.keep(host);
      this.#look(host);
    });
  }

  #look(host: KeeperHost): void {
    try {
      if (this.#world.disk.stat(this.#path)?.id === this.#file)
        this.#held?.record(); // LK4
      else if (this.take())
        host.restored(); // LK1
      else host.displaced(); // LK2
    } catch (error) {
      if (!isFault(error)) throw error;
      host.complain(error); // LK3
    }
  }

  release(): void {
    this.#cancel();
    this.#held?.release();
  }

  get #path(): string {
    return joinPath(this.#home, WATCHDOG_LOCK);
  }
}
