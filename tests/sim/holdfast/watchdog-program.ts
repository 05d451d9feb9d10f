// The watchdog on a simulated machine: its real program (src/watchdog/run.ts), without a page, patient with crashes.
// WP1. It finds no daemon unresponsive that runs.
// WP2. As in the real world, its daemon outlives it, and its end is reported to it a moment later.
// WP3. A call that fails ends it only before it watches anything, and it says which; the next one is started by the
//      daemon.
import { isFault } from "../../../src/base/fault.ts";
import { NewsDesk } from "../../../src/watchdog/news.ts";
import { runWatchdog } from "../../../src/watchdog/run.ts";
import { readSettings } from "../../../src/watchdog/settings.ts";
import type { Command, Ending } from "../../../src/world/children.ts";
import type { Self } from "../../../src/world/self.ts";
import { ACT_MS, type Born, HOME } from "../machine.ts";
import { type Life, mortalClock } from "../mortal.ts";
import { faultyDoors } from "./faulty-doors.ts";
import type { Daemon, HoldfastMachine } from "./machine.ts";

/** A story has more crashes in a minute than make a crash loop. */
const SETTINGS = JSON.stringify({ web: false, crashes: 1_000 });
const SILENT = "unresponsive";
const WATCHING = /: (?:started|adopted)$/;

export function startWatchdog(machine: HoldfastMachine, self: Self): Born {
  const born = machine.born();
  const doors = faultyDoors(machine.doors(born), (operation, path) => machine.beforeWatchdogCall(operation, path));
  const settings = readSettings(self, HOME, SETTINGS);
  if (!settings.ok) throw new Error(settings.error.message);
  const { specs, ...limits } = settings.value;
  let watches = false;
  const say = (text: string) => {
    machine.watchdogsSaid.push(text);
    watches ||= WATCHING.test(text);
    if (text.includes(SILENT)) machine.failed(new Error(`the watchdog says: ${text}`)); // WP1
  };
  const told = new Promise<void>(() => undefined);
  const run = async () => {
    await runWatchdog(doors, HOME, specs, { ...limits, say, told, news: new NewsDesk() });
    born.life.end();
  };
  const failed = (error: unknown) => {
    if (watches || !isFault(error)) return machine.crashedOr(error); // WP3
    say(error.message);
    born.life.end();
  };
  doors.clock.after(ACT_MS, () => void run().catch(failed));
  return born;
}

export type Ended = (ending: Ending) => void;

/** WP2 */
export function startWatched(machine: HoldfastMachine, command: Command, ended: Ended, by: Life): number {
  const daemon = machine.begin(command.env);
  const clock = mortalClock(machine.clock, by);
  daemon.born.life.onEnd(() => void clock.after(1, () => ended(endingOf(daemon))));
  return daemon.born.who.pid;
}

function endingOf({ code }: Daemon): Ending {
  return code === undefined ? { kind: "signalled", signal: "SIGKILL" } : { kind: "exited", code };
}
