// What a backup asks of the log, so that its files can be read as one state (daemon/backup-pin.ts).
import type { Drain } from "./session/drain.ts";
import type { WriteAheadLog } from "./wal/wal.ts";

export class Stillness {
  readonly #wal: WriteAheadLog;
  readonly #drain: Drain;

  constructor(wal: WriteAheadLog, drain: Drain) {
    this.#wal = wal;
    this.#drain = drain;
  }

  /** Whether the files of the sessions keep their names, however long they become. */
  keepNames(wanted: boolean): void {
    this.#drain.keepsNames = wanted;
  }

  /** Resolves when nothing is being written; what is appended is acknowledged only after `release`. */
  hold(): Promise<void> {
    return this.#wal.hold();
  }

  release(): void {
    this.#wal.release();
  }
}
