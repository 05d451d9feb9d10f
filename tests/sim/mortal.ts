// The world of one process among several on a simulated machine: when it dies, its calls fail, and the others continue.
// MO1. A dead process does nothing any more: its calls throw `Crashed`, its awaits never resolve, its timers never
//      fire.
// MO2. Before every call that changes the disk the test is notified (`moment`), and may kill any process there,
//      including the caller.
// MO3. The locks of a process end with it.
import type { Clock } from "../../src/world/clock.ts";
import type { Disk, OpenFile } from "../../src/world/disk.ts";
import { Crashed } from "./faults.ts";

export class Life {
  readonly #ends: (() => void)[] = [];
  #dead = false;

  get dead(): boolean {
    return this.#dead;
  }

  end(): void {
    if (this.#dead) return;
    this.#dead = true;
    for (const tell of this.#ends) tell();
  }

  /** Told once, when it dies. */
  onEnd(tell: () => void): void {
    this.#ends.push(tell);
  }

  /** Does this unless it is dead; if it dies of it, only this process ends. */
  act(work: () => void): void {
    if (this.#dead) return;
    try {
      work();
    } catch (error) {
      if (!(this.dead && error instanceof Crashed)) throw error;
    }
  }

  /** MO1 */
  mustLive(): void {
    if (this.#dead) throw new Crashed("this process is dead");
  }

  async whileAlive<T>(work: () => Promise<T>): Promise<T> {
    if (this.#dead) return never();
    const done = await work();
    return this.#dead ? never() : done;
  }
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

export type Moment = (what: string) => void;

export function mortalClock(clock: Clock, life: Life): Clock {
  return {
    now: () => clock.now(),
    minutesAhead: (at) => clock.minutesAhead(at),
    elapsed: () => clock.elapsed(),
    sinceBoot: () => clock.sinceBoot(),
    after: (ms, fn) => clock.after(ms, () => life.act(fn)),
    soon: (fn) => clock.soon(() => life.act(fn)),
  };
}

export function mortalDisk(disk: Disk, life: Life, moment: Moment): Disk {
  /** MO2 */
  const changing = (what: string) => {
    life.mustLive();
    moment(what);
    life.mustLive();
    return disk;
  };
  const looking = () => {
    life.mustLive();
    return disk;
  };
  return {
    open: (path, how) => {
      const makes = how !== "read" && looking().stat(path) === undefined;
      const opened = makes ? changing(`open ${path}`) : looking();
      return mortalFile(opened.open(path, how), life, moment);
    },
    stat: (path) => looking().stat(path),
    lstat: (path) => looking().lstat(path),
    realPath: (path) => looking().realPath(path),
    list: (path) => looking().list(path),
    free: (path) => looking().free(path),
    makeDirectory: (path) => changing(`makeDirectory ${path}`).makeDirectory(path),
    rename: (from, to) => changing(`rename ${from}`).rename(from, to),
    link: (from, to) => changing(`link ${to}`).link(from, to),
    unlink: (path) => changing(`unlink ${path}`).unlink(path),
    removeDirectory: (path) => changing(`removeDirectory ${path}`).removeDirectory(path),
    syncDirectory: (path) => syncing(life, moment, `syncDirectory ${path}`, () => disk.syncDirectory(path)),
  };
}

function syncing(life: Life, moment: Moment, what: string, sync: () => Promise<void>): Promise<void> {
  return life.whileAlive(async () => {
    moment(what); // MO2
    if (!life.dead) await sync();
  });
}

function mortalFile(file: OpenFile, life: Life, moment: Moment): OpenFile {
  const { path } = file;
  const changing = (what: string) => {
    life.mustLive();
    moment(`${what} ${path}`); // MO2
    life.mustLive();
    return file;
  };
  const looking = () => {
    life.mustLive();
    return file;
  };
  let closed = false;
  const close = () => {
    closed = true;
    file.close();
  };
  const lock = () => {
    const taken = looking().tryLock();
    if (taken) life.onEnd(() => void (closed || close())); // MO3
    return taken;
  };
  return {
    path,
    size: () => looking().size(),
    read: (into, offset) => looking().read(into, offset),
    write: (bytes, offset) => changing("write").write(bytes, offset),
    truncate: (length) => changing("truncate").truncate(length),
    datasync: () => syncing(life, moment, `datasync ${path}`, () => file.datasync()),
    startSync: () => changing("startSync").startSync(),
    datasyncBlocking: () => changing("datasync").datasyncBlocking(),
    sync: () => syncing(life, moment, `sync ${path}`, () => file.sync()),
    tryLock: lock,
    close: () => void ((closed && life.dead) || close()),
  };
}
