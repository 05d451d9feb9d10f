// A spare: one holder of terminals that was started before it is needed. Starting one takes longer than everything else
// that a new terminal waits for.
// SH1. It only saves time. If there is none, or nothing may be started now, or it has ended, is stopped, or is of
//      another program than holders are started from now, a holder is started as usual; so is one if the spare dies
//      before it claims (LH1 of launched-holders.ts). One that hangs is replaced like any holder (HE7 of
//      held-programs.ts).
// SH2. It gets one order and is not ours any more: it is as detached as any other holder. Only its claim says what it
//      holds.
// SH3. A machine at rest has none: it is there for a while after the last start of a terminal.
//      It starts a moment later: someone still waits for the answer about the terminal that was started.
// SH4. It ends with us, whichever way we end: its input closes. So it always is of our version.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { TERMINALS } from "../../home/layout.ts";
import { encodeOrder, type HolderOrder } from "../../wire/holder/orders.ts";
import { spareStart } from "../../wire/holder/start.ts";
import type { ToldChild } from "../../world/children.ts";
import { identify } from "../../world/process.ts";
import type { DaemonWorld } from "../ports.ts";
import type { HolderCommand } from "./holder-program.ts";

/** SH3. Who opens terminals now and then finds one; its memory (docs/BENCHMARKS.md) is given back after a while. */
const KEEP_MS = 120_000;
/** SH3. Much longer than the answer takes, and not long for the next one. */
const MOMENT_MS = 10;
/** As long as the id of a terminal: it is shown in its place until the spare has one. */
const NO_ID = "-".repeat(32);

type World = Pick<DaemonWorld, "children" | "clock" | "home" | "mayStart" | "processes"> & {
  readonly self: Pick<DaemonWorld["self"], "environment">;
};
type Spare = { readonly child: ToldChild; readonly entry: string };

export class SpareHolder {
  readonly #world: World;
  readonly #command: () => HolderCommand;
  #spare: Spare | undefined;
  #cancel: () => void = () => undefined;

  /** `command`: the program that holders are started from. */
  constructor(world: World, command: () => HolderCommand) {
    this.#world = world;
    this.#command = command;
  }

  /** Returns the pid of the holder that got the order; undefined if there was none (SH1). */
  give(order: HolderOrder): number | undefined {
    if (this.#world.mayStart?.() === false) return undefined;
    const spare = this.#spare;
    if (spare === undefined || !this.#isFit(spare)) {
      this.close();
      return undefined;
    }
    this.#spare = undefined;
    spare.child.tell(encodeOrder(order));
    spare.child.release(); // SH2
    return spare.child.pid;
  }

  /** Called when a terminal was started: the next one may follow soon (SH3). */
  prepare(): void {
    const { clock } = this.#world;
    this.#cancel();
    const waits = [
      clock.after(KEEP_MS, () => this.close()),
      clock.after(MOMENT_MS, () => {
        this.#spare ??= this.#start();
      }),
    ];
    this.#cancel = () => waits.forEach((cancel) => void cancel());
  }

  close(): void {
    this.#cancel();
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined) this.#end(spare);
  }

  /** It has no order, so nothing can be lost; a stopped one would not see that its input is closed. */
  #end({ child }: Spare): void {
    const holder = identify(this.#world.processes, child.pid);
    if (holder !== undefined) this.#world.processes.kill(holder, "SIGKILL");
    child.release();
  }

  /** SH1 */
  #isFit({ child, entry }: Spare): boolean {
    return entry === this.#command().entry && !this.#world.processes.isStopped(child.pid);
  }

  /** SH1. Undefined if the system has no process to spare. */
  #start(): Spare | undefined {
    const { children, home, self } = this.#world;
    const { runtime, entry } = this.#command();
    const shown = joinPath(home, `${TERMINALS.replaceAll(/./g, "-")}/${NO_ID}`);
    try {
      const spare: Spare = {
        entry,
        child: children.told(spareStart(runtime, entry, shown, self.environment()), {
          ended: () => {
            if (this.#spare === spare) this.#spare = undefined;
          },
        }),
      };
      return spare;
    } catch (error) {
      if (isFault(error)) return undefined;
      throw error;
    }
  }
}
