// Ends a watchdog that is hung, for a command that needs one: it keeps its lock and starts nothing.
// HW1. It is asked for a reply, which takes a millisecond; one that waits for the disk, or does not listen yet, is left
//      alone. SIGKILL, since it may be stopped; the next one adopts what runs.
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { encodeHeartbeat } from "../wire/heartbeat.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/process.ts";
import type { Sockets } from "../world/socket.ts";
import { within } from "../world/wait.ts";
import { WATCHDOG_LOCK, WATCHDOG_SOCKET } from "./layout.ts";
import { holderOf } from "./running.ts";

type Doors = {
  readonly disk: Disk;
  readonly processes: Processes;
  readonly sockets: Sockets;
  readonly clock: Clock;
};

const REPLY_MS = 3_000;

/** Returns the pid of the one that was ended, if there was one. */
export async function endHungWatchdog(doors: Doors, home: string): Promise<number | undefined> {
  const who = holderOf(doors, joinPath(home, WATCHDOG_LOCK));
  if (who === undefined || (await replies(doors, home))) return undefined;
  if (doors.processes.waitsForDisk(who.pid)) return undefined;
  return doors.processes.kill(who, "SIGKILL") ? who.pid : undefined;
}

/** HW1 */
async function replies({ sockets, clock }: Doors, home: string): Promise<boolean> {
  const reply = Promise.withResolvers<true>();
  const heard = () => reply.resolve(true);
  try {
    const line = await sockets.connect(joinPath(home, WATCHDOG_SOCKET), { bytes: heard, closed: heard });
    line.send(encodeHeartbeat({ type: "hello", name: "", pid: 0, startTime: 0, bootId: "", live: false, echo: true }));
    const found = await within(clock, REPLY_MS, reply.promise);
    line.destroy();
    return found === true;
  } catch (error) {
    if (isFault(error, "ENOENT", "ECONNREFUSED", "ECONNRESET", "EAGAIN")) return true;
    throw error;
  }
}
