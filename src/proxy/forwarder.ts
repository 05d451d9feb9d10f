// Connects programs inside a sandbox with the proxy outside.
// FW1. A caller is not read before there is a way out, and is closed if there is none for too long.
import { isFault } from "../base/fault.ts";
import type { Clock } from "../world/clock.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";
import { pass } from "./joint.ts";

export type ForwarderPorts = {
  readonly clock: Pick<Clock, "after">;
  dial(events: ConnectionEvents): Promise<Connection>;
};

/** FW1. The next daemon, and with it the next proxy, is there in a few seconds. */
const TRIES = 300;
const PAUSE_MS = 100;

export class Forwarder {
  readonly #ports: ForwarderPorts;

  constructor(ports: ForwarderPorts) {
    this.#ports = ports;
  }

  accept(inside: Connection): ConnectionEvents {
    let [outside, isClosed]: [Connection | undefined, boolean] = [undefined, false];
    const early: Uint8Array[] = [];
    const ofOutside: ConnectionEvents = {
      bytes: (bytes) => outside && pass(bytes, outside, inside),
      drained: () => inside.resume(),
      closed: () => inside.end(),
    };
    inside.pause(); // FW1
    void this.#dial(ofOutside, () => isClosed).then((found) => {
      if (found === undefined) return inside.destroy();
      if (isClosed) return found.destroy();
      outside = found;
      for (const bytes of early.splice(0)) pass(bytes, inside, found);
      inside.resume();
    });
    return {
      bytes: (bytes) => (outside === undefined ? void early.push(new Uint8Array(bytes)) : pass(bytes, inside, outside)),
      drained: () => outside?.resume(),
      closed: () => {
        isClosed = true;
        outside?.end();
      },
    };
  }

  async #dial(events: ConnectionEvents, isOver: () => boolean): Promise<Connection | undefined> {
    for (let tries = 0; tries < TRIES && !isOver(); tries += 1) {
      try {
        return await this.#ports.dial(events);
      } catch (error) {
        if (!isFault(error)) throw error;
        await new Promise<void>((resolve) => this.#ports.clock.after(PAUSE_MS, resolve));
      }
    }
    return undefined;
  }
}
