// Keeps the lease of a home whose log is not appended to: while the daemon that has taken it opens it, and while one
// version of the daemon follows another.
// HL1. Opening a large log may take longer than a lease: from the take until the log renews it, a timer does.
// HL2. A daemon that ends so that an upgrade can replace it leaves a longer lease behind: the next one takes the home
//      at once, whatever its lease (ST1 of core/fleet/start.ts). If none comes, the lease ends, and others may take it.
import { HOLD, type Take } from "../../fleet/calls.ts";
import type { Database } from "../../fleet/database.ts";
import type { Clock } from "../../world/clock.ts";
import type { Lease } from "./lease.ts";

export type HoldingPorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly lease: Lease;
  readonly leaseMs: number;
};

/** The lease is renewed so many times before it would end. */
export const RENEWALS = 3;
/** HL2. A start on a busy machine takes some seconds. */
export const UPGRADE_MS = 60_000;

export class Holding {
  readonly #ports: HoldingPorts;
  #cancel: (() => void) | undefined;

  constructor(ports: HoldingPorts) {
    this.#ports = ports;
  }

  /** HL1 */
  start(take: Take): void {
    const { clock, leaseMs } = this.#ports;
    this.#cancel = clock.after(leaseMs / RENEWALS, () => {
      void this.#hold(take, leaseMs).then(() => {
        if (this.#cancel !== undefined) this.start(take);
      });
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** HL2. If the database does not answer, the lease is as long as it was. */
  async leaveBehind(take: Take): Promise<void> {
    await this.#hold(take, Math.max(this.#ports.leaseMs, UPGRADE_MS));
  }

  async #hold(take: Take, leaseMs: number): Promise<void> {
    const { database, clock, lease } = this.#ports;
    const sentAt = clock.sinceBoot();
    const answer = await database.call(HOLD, { take, leaseMs });
    const isHeld = answer.kind === "done" && !answer.isDoubtful && answer.value !== undefined;
    if (isHeld) lease.renewed(take, sentAt, leaseMs);
  }
}
