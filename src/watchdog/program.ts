// The watchdog of a home, with its settings in a variable (settings.ts). It exits with 0 when asked to, and when
// another one runs. It logs to stderr, which its starter keeps in a file.
import { type Fault, isFault } from "../base/fault.ts";
import { tolerating } from "../home/recovery-bus.ts";
import { turnOver } from "../home/run-log.ts";
import { keepSettings, settingsText } from "../home/watchdog-settings.ts";
import { SETTINGS_VARIABLE } from "../wire/heartbeat.ts";
import { realChildren } from "../world/real/children.ts";
import { realConsole } from "../world/real/console.ts";
import { realProgram } from "../world/real/program.ts";
import { realSockets } from "../world/real/socket.ts";
import { realSelf, type Self } from "../world/self.ts";
import { realWorld } from "../world/world.ts";
import { NewsDesk } from "./news.ts";
import { runWatchdog } from "./run.ts";
import { readSettings } from "./settings.ts";
import { lookAtUpgrade } from "./upgrades.ts";

const USAGE = 2;
const FAILED = 1;
/** A program that floods its stderr writes at worst some hundred megabytes in this time. */
const LOOK_MS = 5_000;

const program = realProgram();
const outlet = realConsole();
const world = { ...realWorld(), sockets: realSockets(), children: realChildren() };

/** Failed writes are dropped: a closed stderr is no reason to end. */
function say(text: string): void {
  const line = `${new Date(world.clock.now()).toISOString()} watchdog ${world.processes.pid}: ${text}\n`;
  // No one reads it any more, and there is nowhere else to report it.
  void outlet.err.write(line).catch(() => undefined);
}

function complain(fault: Fault): void {
  say(`${fault.message}. ${fault.hint}`);
}

/** At the log, to which watched programs write as well, without limit; and whether an upgrade is left. */
function look(home: string, self: Self): void {
  world.clock.after(LOOK_MS, () => look(home, self));
  void tolerating(complain, async () => turnOver(world.disk, home));
  const about = { home, binary: self.binary(), env: self.environment(), say };
  void tolerating(complain, async () => lookAtUpgrade(world, about));
}

async function main(): Promise<number> {
  const [home] = program.args;
  const self = realSelf();
  const given = self.environment()[SETTINGS_VARIABLE];
  if (home === undefined || !home.startsWith("/"))
    return leave("the first argument must be the home, as an absolute path", USAGE);
  const told = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) program.onSignal(signal, told.resolve);
  program.onSignal("SIGHUP", () => undefined); // The terminal that we were started from may close.
  try {
    const text = settingsText(world.disk, home, given);
    const read = readSettings(self, home, text);
    if (!read.ok) return leave(`${read.error.message} ${read.error.hint}`, USAGE);
    if (given !== undefined) await tolerating(complain, () => keepSettings(world.disk, home, given));
    look(home, self);
    const restore = () => void tolerating(complain, () => keepSettings(world.disk, home, text));
    const options = { ...read.value, say, told: told.promise, restore, news: new NewsDesk() };
    const how = await runWatchdog(world, home, read.value.specs, options);
    return leave(how === "another" ? "another watchdog runs on this home" : "left", 0);
  } catch (error) {
    if (!isFault(error)) throw error;
    complain(error);
    return FAILED;
  }
}

function leave(why: string, code: number): number {
  say(why);
  return code;
}

void outlet.staying(main()).then((code) => program.exit(code)); // Not awaited: the bundle is not a module.
