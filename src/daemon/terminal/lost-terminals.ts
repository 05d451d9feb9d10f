// Terminals that are lost while the daemon lives: gathered, what is left of them stopped, and then restored, all that
// fell together.
// LT1. One batch at a time; a terminal that is lost meanwhile waits for the next one, and is in it once.
// LT2. A loss is that of one generation. If it is found twice, the terminal may have been started again by the time of
//      the second finding, which then says nothing about the new generation.
import type { ReportItem } from "../../core/recovery.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import type { Loss } from "./holders.ts";

export type LostPorts = {
  terminal(id: string): Terminal | undefined;
  /** Not ours to restore: it is rolled back, removed, or known as lost already. */
  note(id: string, reason: string): void;
  stopRest(ids: ReadonlySet<string>): Promise<unknown>;
  restore(terminal: Terminal, reason: string): Promise<ReportItem>;
  report(items: readonly ReportItem[]): Promise<void>;
};

export class LostTerminals {
  readonly #ports: LostPorts;
  readonly #waiting = new Map<string, Loss>();
  #working = false;

  constructor(ports: LostPorts) {
    this.#ports = ports;
  }

  async found(id: string, loss: Loss): Promise<void> {
    const terminal = this.#ports.terminal(id);
    if (terminal !== undefined && terminal.generation !== loss.generation) return; // LT2
    const open = terminal !== undefined && (terminal.state.kind === "running" || terminal.state.kind === "starting");
    if (!open || terminal.rollingBack || terminal.removed) return this.#ports.note(id, loss.reason);
    this.#waiting.set(id, loss);
    if (this.#working) return; // LT1
    this.#working = true;
    try {
      while (this.#waiting.size > 0) await this.#batch();
    } finally {
      this.#working = false;
    }
  }

  async #batch(): Promise<void> {
    const lost = [...this.#waiting];
    this.#waiting.clear();
    await this.#ports.stopRest(new Set(lost.map(([id]) => id)));
    const items = await Promise.all(
      lost.map(async ([id, { reason, generation }]) => {
        const terminal = this.#ports.terminal(id);
        return terminal?.generation === generation ? [await this.#ports.restore(terminal, reason)] : []; // LT2
      }),
    );
    if (items.flat().length > 0) await this.#ports.report(items.flat());
  }
}
