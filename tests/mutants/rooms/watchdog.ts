// The mutants in src/watchdog (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const WATCHDOG: readonly Mutant[] = [
  {
    mutant: "the daemon is restarted before its crash is on record",
    file: "src/watchdog/watched-program.ts",
    from: "    const ready = crash === undefined ? Promise.resolve() : this.#owner.crashed(this.spec, crash);",
    to: `    if (crash !== undefined) void this.#owner.crashed(this.spec, crash);
    const ready = Promise.resolve();`,
    killedBy: {
      file: "tests/watchdog/program.test.ts",
      test: "WD-6(a,b) each crash is on the bus and in the file before the daemon restarts",
    },
    isSentinel: true,
  },
  {
    mutant: "a process that waits for the disk is killed",
    file: "src/watchdog/watchdog.ts",
    from: "    const spared = this.#processes.waitsForDisk(who.pid); // W4",
    to: "    const spared = false;",
    killedBy: {
      file: "tests/watchdog/watchdog.test.ts",
      test: "WD-2(e) a process that waits for the disk is never killed, and gets its whole time again when the disk is back",
    },
  },
  {
    mutant: "processes are blamed for a pause of the watchdog's own",
    file: "src/watchdog/watchdog.ts",
    from: "lateMs > watched.lookMs ?",
    to: "lateMs > Number.POSITIVE_INFINITY ?",
    killedBy: {
      file: "tests/watchdog/watchdog.test.ts",
      test: "WD-2(a) if we were stopped for an hour, nothing is reported, and every process has two intervals to beat",
    },
  },
  {
    mutant: "the timer of an unregistered process is not cancelled",
    file: "src/watchdog/watchdog.ts",
    from: "    this.#watched.get(name)?.cancel(); // W5\n",
    to: "",
    killedBy: {
      file: "tests/watchdog/watchdog.test.ts",
      test: "WD-7 unregistering leaves no timer, and registering again leaves one",
    },
  },
  {
    mutant: "a second daemon is started beside a living one",
    file: "src/watchdog/watched-program.ts",
    from: '    if (found.kind === "known") this.#adopt(found.who);',
    to: '    if (found.kind === "known") this.#startIfWanted();',
    killedBy: {
      file: "tests/watchdog/adopt.test.ts",
      test: "WD-8(a) a new watchdog adopts the running daemon by its lock, and starts no second one",
    },
  },
  {
    mutant: "a crash loop begins anew with each watchdog",
    file: "src/watchdog/crash-loop.ts",
    from: "newBudget(limits.crashes, limits.windowMs, readHistory(place))",
    to: "newBudget(limits.crashes, limits.windowMs)",
    killedBy: {
      file: "tests/watchdog/program-loop.test.ts",
      test: "SM-2(b) a loop continues across watchdogs: one crash under each of three is a loop",
    },
  },
  {
    mutant: "a disk that never answers holds up every restart",
    file: "src/watchdog/service.ts",
    from: "await this.#withinReason(Promise.all(written)); // Q1",
    to: "await Promise.all(written);",
    killedBy: {
      file: "tests/watchdog/program-loop.test.ts",
      test: "SM-5 WD-9(c) a disk that never answers, or is full, prevents neither safe mode nor a restart",
    },
  },
  {
    mutant: "a daemon in a crash loop is restarted before safe mode is on disk",
    file: "src/watchdog/service.ts",
    from: "if (this.#detector.isLooping()) written.push(this.#enterSafeMode(crash));",
    to: "if (this.#detector.isLooping()) void this.#enterSafeMode(crash);",
    killedBy: {
      file: "tests/watchdog/program-loop.test.ts",
      test: "SM-4(a) the daemon is not restarted before safe mode is on disk",
    },
  },
  {
    mutant: "two watchdogs stay on one home",
    file: "src/watchdog/heartbeat-server.ts",
    from: '    if (isFault(trouble, "EADDRINUSE")) this.#host.displaced(); // N4\n',
    to: "",
    killedBy: {
      file: "tests/watchdog/adopt.test.ts",
      test: "a watchdog whose socket another one has taken leaves: two would count every crash twice",
    },
  },
];
