// What becomes durable in the logs of agents, in order, and when: the log is read as it would be found if the power
// were cut and nothing survived that was not synced.
import { LogView } from "../../../src/log/inspect.ts";
import { agentLogsOf } from "../../agent/sim-oracle.ts";
import type { SimDisk } from "../disk.ts";
import { HOME } from "../machine.ts";
import { nothing } from "../survive.ts";
import type { Heard } from "./script.ts";

export class Heed {
  readonly heard: Heard[] = [];
  readonly #known = new Map<string, number>();
  /** The oldest write of the log that waits for a sync. */
  #oldest: number | undefined;

  /** Returns how many events are durable. */
  look(disk: SimDisk): number {
    const oldest = disk.pending().find(({ kind, path }) => kind === "write" && path.endsWith(".wal"))?.seq;
    if (oldest !== this.#oldest) this.#listen(disk); // Since the last look something was written, or synced.
    this.#oldest = oldest;
    return this.heard.length;
  }

  #listen(disk: SimDisk): void {
    for (const [id, log] of agentLogsOf(new LogView(disk.powerCut(nothing), HOME))) {
      const known = this.#known.get(id) ?? 0;
      this.heard.push(...log.slice(known).map(({ event, data }) => ({ id, event, data })));
      this.#known.set(id, log.length);
    }
  }
}
