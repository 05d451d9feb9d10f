// Terminals that are lost while the daemon is running: collected, their leftover processes stopped, and then restored
// together.
// LT1. One batch at a time; terminals lost in the meantime wait for the next batch. Each terminal is in a batch once.
import type { ReportItem } from "../../core/recovery.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";

export type LostPorts = {
  terminal(id: string): Terminal | undefined;
  /** Called if it is not to be restored: it is being rolled back, was removed, or is already known to be lost. */
  note(id: string, reason: string): void;
  stopRest(ids: ReadonlySet<string>): Promise<unknown>;
  restore(terminal: Terminal, reason: string): Promise<ReportItem>;
  report(items: readonly ReportItem[]): Promise<void>;
};

export class LostTerminals {
  readonly #ports: LostPorts;
  readonly #waiting = new Map<string, string>();
  #working = false;

  constructor(ports: LostPorts) {
    this.#ports = ports;
  }

  async found(id: string, reason: string): Promise<void> {
    const terminal = this.#ports.terminal(id);
    const open = terminal !== undefined && (terminal.state.kind === "running" || terminal.state.kind === "starting");
    if (!open || terminal.rollingBack || terminal.removed) return this.#ports.note(id, reason);
    this.#waiting.set(id, reason);
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
      lost.map(async ([id, reason]) => {
        const terminal = this.#ports.terminal(id);
        return terminal === undefined ? [] : [await this.#ports.restore(terminal, reason)];
      }),
    );
    await this.#ports.report(items.flat());
  }
}
