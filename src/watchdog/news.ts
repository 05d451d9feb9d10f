// What the watchdog publishes. The bus is the daemon's, which may be what has just died: news waits here until a daemon
// is live that asks for it, and is then sent over its heartbeat connection (WD-6, SM-4).
// NW1. News goes only to the daemon that is watched and live: its clients come back while it recovers.
// NW2. What waits is bounded: of a program that crashes again and again, the last crashes are the ones that matter.
import type { Json } from "../base/json.ts";
import type { RecoveryBus } from "../home/recovery-bus.ts";
import type { Inform } from "./heartbeat-server.ts";

/** NW2. More than a daemon misses while it is restarted. */
const MAX_KEPT = 32;

export class NewsDesk implements RecoveryBus {
  #waiting: { readonly topic: string; readonly data: Readonly<Record<string, Json>> }[] = [];
  #inform: Inform;

  publish(topic: string, data: Readonly<Record<string, Json>>): void {
    if (this.#inform !== undefined) this.#inform({ topic, data });
    else this.#waiting = [...this.#waiting, { topic, data }].slice(-MAX_KEPT); // NW2
  }

  /** From now on news goes to this daemon, beginning with what is waiting (NW1). */
  listens(inform: Inform): void {
    this.#inform = inform;
    if (inform === undefined) return;
    for (const news of this.#waiting.splice(0)) inform(news);
  }

  left(inform: Inform): void {
    if (this.#inform === inform) this.#inform = undefined;
  }
}
