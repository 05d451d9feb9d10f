// Two connections, joined: what arrives on one is sent on the other.
// JT1. If one side does not accept what is sent, reading stops on the other: little is ever queued here.
// JT2. When one side closes, the other one gets what is queued and is closed.
import type { Connection } from "../world/socket.ts";

/** JT1 */
const MAX_WAITING = 256 << 10;

export function pass(bytes: Uint8Array, from: Connection, to: Connection): void {
  to.send(bytes);
  if (to.waiting > MAX_WAITING) from.pause();
}
