// Every call on a simulated disk comes through here: it is counted, shown to the test, and may be made to fail.
// X1. A call is shown (`onCall`) before it has any effect; a hook that throws has crashed the process.
// X2. After a crash every call throws `Crashed`, so that no `finally` of the dead process reaches the disk.
// X3. Every fault that fired is in `fired`: a sweep can prove that it tested something.
import { Fault } from "../../src/base/fault.ts";

export type Operation =
  | "open"
  | "size"
  | "read"
  | "write"
  | "truncate"
  | "datasync"
  | "startSync"
  | "datasyncBlocking"
  | "sync"
  | "tryLock"
  | "close"
  | "stat"
  | "list"
  | "makeDirectory"
  | "rename"
  | "link"
  | "unlink"
  | "removeDirectory"
  | "syncDirectory"
  | "free";

/** `index` counts from 1; `length` is the number of bytes of a read or write, otherwise 0. */
export type Call = {
  readonly index: number;
  readonly operation: Operation;
  readonly path: string;
  readonly length: number;
};

/**
 * `fail`: a Fault with this code and no effect; a sync that fails loses what it should have covered, unless it
 * `reached` the disk
 * and only the good news was lost. `short`: a read or write of so many bytes at most. `crash`: the process dies in the
 * middle of
 * this write, after so many bytes of it.
 */
export type FaultChoice =
  | { readonly kind: "fail"; readonly code: string; readonly reached?: boolean }
  | { readonly kind: "short"; readonly bytes: number }
  | { readonly kind: "crash"; readonly bytes: number };

export type Fired = { readonly call: Call; readonly choice: FaultChoice };

export class Crashed extends Error {
  override readonly name = "Crashed";
}

export class Calls {
  /** How many calls the disk has seen. */
  calls = 0;
  crashed = false;
  readonly fired: Fired[] = [];
  onCall: ((call: Call) => void) | undefined;
  fault: ((call: Call) => FaultChoice | undefined) | undefined;
  /** Delays the asynchronous syncs: the writes they cover stay pending until the gate's promise resolves. */
  gate: ((call: Call) => Promise<void>) | undefined;
  private crashIndex = Number.POSITIVE_INFINITY;

  /** The process dies at call `index` (it and all later calls throw `Crashed`). */
  crashAt(index: number): void {
    this.crashIndex = index;
  }

  /** The process dies now. */
  crash(): void {
    this.crashed = true;
  }

  /** Throws if the process is dead; called again after every wait. */
  alive(): void {
    if (this.crashed) throw new Crashed("the simulated process is dead");
  }

  /** Counts and shows a call; gives back the fault the test wants, which the caller has to carry out. */
  begin(operation: Operation, path: string, length: number): FaultChoice | undefined {
    this.alive(); // X2
    this.calls += 1;
    if (this.calls >= this.crashIndex) this.die(`crashed at call ${this.calls}: ${operation} ${path}`);
    if (this.onCall === undefined && this.fault === undefined) return undefined;
    const call = { index: this.calls, operation, path, length };
    this.show(call);
    const choice = this.fault?.(call);
    if (choice !== undefined) this.fired.push({ call, choice }); // X3
    return choice;
  }

  /** As `begin`, for calls that a `fail` leaves without effect. */
  enter(operation: Operation, path: string, length = 0): FaultChoice | undefined {
    const choice = this.begin(operation, path, length);
    if (choice?.kind === "fail") throw new Fault({ code: choice.code, operation, path });
    if (choice?.kind === "crash" && operation !== "write") this.die(`crashed in ${operation} ${path}`);
    return choice;
  }

  /** A fault of the disk's own (full, read-only), on record like the injected ones. */
  refuse(operation: Operation, path: string, code: string): never {
    const call = { index: this.calls, operation, path, length: 0 };
    this.fired.push({ call, choice: { kind: "fail", code } }); // X3
    throw new Fault({ code, operation, path });
  }

  die(where: string): never {
    this.crashed = true;
    throw new Crashed(where);
  }

  private show(call: Call): void {
    try {
      this.onCall?.(call); // X1
    } catch (error) {
      this.crashed = true;
      throw error;
    }
  }
}
