// The watchdog's counterpart: a daemon that does only what every watched program of ours does.
//   bun fake-daemon.ts HOME [heal]     with `heal` it starts a new watchdog where it loses its own
// It takes its lock, sends heartbeats, goes live, and exits with 0 on SIGTERM. `FAKE_DAEMON=dies` never gets that far.
// On SIGUSR1 it hangs in state D, as in a sync on a stalled disk, until something writes to the pipe `stall` in its
// home.
import { joinPath } from "../../src/base/path.ts";
import { HeartbeatLink, keepWatchdog, startHeartbeat } from "../../src/home/heartbeat-client.ts";
import { WATCHDOG_SOCKET } from "../../src/home/layout.ts";
import { readWanted } from "../../src/home/wanted.ts";
import { makeDirectories } from "../../src/log/file/file.ts";
import { takeLock } from "../../src/log/file/lock.ts";
import { lockPathOf } from "../../src/watchdog/specs.ts";
import { ANOTHER_RUNS, HEARTBEAT_VARIABLE } from "../../src/wire/heartbeat.ts";
import { identify } from "../../src/world/process.ts";
import { realChildren } from "../../src/world/real/children.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { realSelf } from "../../src/world/self.ts";
import { realWorld } from "../../src/world/world.ts";

const [home = "", heal] = process.argv.slice(2);
if (process.env["FAKE_DAEMON"] === "dies") process.exit(1);

const world = realWorld();
const self = identify(world.processes, process.pid);
if (self === undefined) throw new Error("nobody knows us");
makeDirectories(world.disk, joinPath(home, "run"));
const lock = takeLock(world, lockPathOf(home, "daemon"), self);
if (!lock.ok) process.exit(ANOTHER_RUNS);

const keep = keepWatchdog({
  wanted: () => readWanted(world.disk, home),
  start: () => {
    const argv = realSelf().command("src/watchdog/main.ts", home);
    realChildren().detached({ argv, cwd: home, env: realSelf().environment() }, joinPath(home, "watchdog.log"));
  },
  elapsed: world.clock.elapsed,
});
const ports = {
  connect: (events: { bytes(bytes: Uint8Array): void; closed(): void }) =>
    realSockets().connect(joinPath(home, WATCHDOG_SOCKET), events),
  after: world.clock.after,
  chance: world.random.fraction,
};
const link = new HeartbeatLink(ports, { name: "daemon", ...self }, heal === undefined ? {} : keep);
startHeartbeat(link, Number(process.env[HEARTBEAT_VARIABLE] ?? 2000));
link.live();
// A real wait in state D: starting a child blocks this thread until the child has its files, and opening a pipe blocks
// until it has a writer.
process.on("SIGUSR1", () => void Bun.spawn(["true"], { stdin: Bun.file(joinPath(home, "stall")) }));
process.on("SIGTERM", () => {
  link.leave(0);
  setImmediate(() => process.exit(0));
});
setInterval(() => undefined, 1 << 30);
