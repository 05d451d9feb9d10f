// Preloaded into a program of ours (Bun's `--preload`, which they pass on), and required by the holders of a home:
// strace attaches before the program does anything, if the sweep has asked for that with a file in the home.
// EA1. The program's own modules are loaded before: a failing read of our sources is not what is tried.
// EA2. The file is used once, unless the fault is to stay: then every next start meets it, too.
// EA3. The program goes on only when all its threads are traced. strace leaves what it starts alone.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, renameSync } from "node:fs";
import { join } from "node:path";

const HOME = /^(\/.*\/hfdm-[^/]+)/;
const MODULES: Readonly<Record<string, string>> = {
  daemon: "daemon/run.ts",
  watchdog: "watchdog/run.ts",
  web: "web/host.ts",
  screen: "screen/answer.ts",
};

const home = [...process.argv, process.env["HOME"] ?? ""].map((word) => HOME.exec(word)?.[1]).find(Boolean);
const entry = process.argv[1] ?? "";
const program = /src\/(\w+)\/main\.ts$/.exec(entry)?.[1] ?? (entry.includes("/run/bin/") ? "holder" : undefined);
const asked = `${home}/early-${program}.json`;
/** A child of a holder that only looks at a connection is not a holder (PC3 of world/real/peer.ts). */
const looks = process.argv.includes("--peer");
if (home !== undefined && program !== undefined && !looks && existsSync(asked)) attach(program);

function attach(name: string): void {
  if (MODULES[name] !== undefined) require(join(import.meta.dir, "../../../src", MODULES[name])); // EA1
  const { words, stays } = JSON.parse(readFileSync(asked, "utf8"));
  if (stays !== true) renameSync(asked, `${asked}.used`); // EA2
  const threads = readdirSync("/proc/self/task").map((thread) => openSync(`/proc/self/task/${thread}/status`, "r"));
  Bun.spawn([...words, "-p", String(process.pid)], { stdio: ["ignore", "ignore", "ignore"], env: {} });
  while (!threads.every(isTraced)); // EA3
  for (const thread of threads) closeSync(thread);
}

/** Nothing is opened for it: that might be the call that fails. */
function isTraced(status: number): boolean {
  const bytes = Buffer.alloc(512);
  return !bytes.subarray(0, readSync(status, bytes, 0, bytes.length, 0)).includes("TracerPid:\t0\n");
}
