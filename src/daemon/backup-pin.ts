// Keeps the home still while a backup of it is written by another process (home/backup/take.ts).
// BP1. While it is pinned, nothing is removed, archived or renamed by garbage collection, the archives and the log. The
//      pin is given up if its owner has not asked for anything for a while, so one that was killed leaves nothing
//      behind.
// BP2. While the log is held, nothing is acknowledged, for a few seconds at most. The owner says regularly that it is
//      still there; otherwise the log goes on, and the owner learns that the hold did not last.
// BP3. One backup at a time.
import { ok, type Result, refused } from "../base/result.ts";
import type { EventLog } from "../log/event-log.ts";
import type { Params } from "../wire/rpc/params.ts";
import type { BackupResult } from "../wire/rpc/rpc.ts";
import type { Clock } from "../world/clock.ts";

/** BP1. Its owner asks several times a second, unless it is stopped or the machine is very busy. */
const PIN_MS = 15_000;
/** BP2 */
const HOLD_MS = 3_000;
/** BP2. What a person may notice once; looking at a hundred thousand files takes less. */
const MAX_HOLD_MS = 15_000;

/** `garbage.settled`: what it began before is done (BP1). */
type Opened = { readonly log: EventLog; readonly garbage: { readonly settled: Promise<unknown> } };

type Owner = { readonly id: string; heldAt: number | undefined; cancel: () => void };

export class BackupPin {
  readonly #clock: Clock;
  readonly #opened: () => Opened;
  #owner: Owner | undefined;

  constructor(clock: Clock, opened: () => Opened) {
    this.#clock = clock;
    this.#opened = opened;
  }

  get #still() {
    return this.#opened().log.still;
  }

  /** BP1 */
  get isActive(): boolean {
    return this.#owner !== undefined;
  }

  async step({ step, id }: Params<"backup">): Promise<Result<BackupResult>> {
    const owner = step === "pin" ? await this.#pin(id) : this.#owner;
    if (owner?.id !== id) return owner === undefined || step !== "pin" ? EXPIRED : BACKUP_RUNS;
    if (step === "hold") return this.#hold(owner);
    if (step === "release" && owner.heldAt === undefined) return EXPIRED;
    if (step === "release" || step === "end") this.#letGo(owner);
    if (step === "end") this.#unpin();
    else this.#renew(owner, PIN_MS);
    return ok({ seq: this.#opened().log.durable });
  }

  async #pin(id: string): Promise<Owner> {
    const known = this.#owner;
    if (known !== undefined) return known;
    const owner: Owner = { id, heldAt: undefined, cancel: () => undefined };
    this.#owner = owner;
    this.#renew(owner, PIN_MS);
    this.#still.keepNames(true);
    await this.#opened().garbage.settled;
    return owner;
  }

  /** BP2 */
  async #hold(owner: Owner): Promise<Result<BackupResult>> {
    owner.heldAt ??= this.#clock.elapsed();
    if (this.#clock.elapsed() - owner.heldAt > MAX_HOLD_MS) {
      this.#letGo(owner);
      return TOO_LONG;
    }
    this.#renew(owner, HOLD_MS);
    await this.#still.hold();
    return ok({ seq: this.#opened().log.durable });
  }

  #letGo(owner: Owner): void {
    owner.heldAt = undefined;
    this.#still.release();
  }

  #unpin(): void {
    this.#owner?.cancel();
    this.#owner = undefined;
    this.#still.keepNames(false);
  }

  /** If nothing is heard of the owner for so long, a held log goes on, and nothing is pinned any more. */
  #renew(owner: Owner, ms: number): void {
    owner.cancel();
    owner.cancel = this.#clock.after(ms, () => {
      this.#letGo(owner);
      this.#unpin();
    });
  }
}

const EXPIRED = refused(
  "backup.expired",
  "Nothing was heard of this backup for too long, so the home has gone on without it.",
  "Try again, when the machine is less busy.",
);
export const BACKUP_RUNS = refused(
  "backup.busy",
  "A backup of this home is being written.",
  "Wait until it has ended. One that was killed is forgotten after 15 s.",
);
const TOO_LONG = refused(
  "backup.too-long",
  "This home has too many files to be held still while they are looked at.",
  "Stop it for the backup: holdfast down, holdfast backup FILE, holdfast up. Programs in terminals keep running.",
);
