// The parts of `npm run proof`: everything that takes too long for the gate. Each part is one command, repeated with a
// new seed each time until it has been run often enough, or has counted enough.
// PP1. A part takes at most 45 minutes on two quiet cores; one that does not fit is divided.
export const PART_MINUTES = 45;

export type Part = {
  readonly name: string;
  readonly tries: string;
  /** Words for our Bun, or a path from the root. `{seed}` is the seed of the round; HOLDFAST_SEED has it too. */
  readonly command: readonly [string, ...string[]];
  /** Only test files with real processes, and of these one quarter: 1 to 4. */
  readonly quarter?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Until so many rounds are done, or until this many of what its output counts are reached. */
  readonly until: { readonly rounds: number } | { readonly count: RegExp; readonly of: string; readonly goal: number };
  /** Busy loops that run beside it. */
  readonly busyLoops?: number;
};

const FULL = { HOLDFAST_FUZZ: "full" };
const SUITE = ["scripts/test.ts", "--timeout=600000"] as const;
const STRACED = ["crash/faults", "agent/worktree-crash"].map((name) => `tests/${name}.test.ts`);

const FUZZERS = ["tests/sim/fuzz", "tests/sim/log/group-commit.test.ts", "tests/agent/hostile-process.test.ts"];

const FLEET = ["fleet/chaos", "fleet/postgres", "standby/end-to-end"].map((name) => `tests/${name}.test.ts`);

/** Twenty times each file is too much for one part (PP1). */
function underLoad(quarter: number): Part {
  return {
    name: `load-${quarter}`,
    tries: `quarter ${quarter} of 4 of the test files with real processes, 20 times beside two busy loops; flaky is failed`,
    command: SUITE,
    quarter,
    env: { CI: "1" },
    until: { rounds: 20 },
    busyLoops: 2,
  };
}

/** All points are too many for one part (PP1). */
function sweepOf(programs: "daemon" | "others"): Part {
  const whose = { daemon: "the daemon", others: "the watchdog, a holder, the page's host and the screen program" };
  return {
    name: `faults-${programs}`,
    tries: `every point of the fault sweep of ${whose[programs]}: each call, error and occurrence, once and for good`,
    command: [...SUITE, `tests/crash/sweep/${programs}.test.ts`],
    env: FULL,
    until: { rounds: 1 },
  };
}

export const PARTS: readonly Part[] = [
  {
    name: "suite",
    tries: "every test, with every counted case",
    command: SUITE,
    env: FULL,
    until: { rounds: 1 },
  },
  {
    name: "sim",
    tries: "everything on the simulated disk and machine: crashes, faults, damage, every counted case, five seeds",
    command: [...SUITE, "tests/sim"],
    env: FULL,
    until: { rounds: 5 },
  },
  {
    name: "lives",
    tries: "two hundred thousand lives of the whole daemon, with crashes and faults, and two quiet lives after them",
    // Rounds have neighbouring seeds, and so do the stories of a round.
    command: ["tests/sim/holdfast/main.ts", "{seed}0000", "2500"],
    until: { count: /"lives":(\d+)/g, of: "lives", goal: 200_000 },
  },
  {
    name: "every-call",
    tries:
      "agents, workflows and terminals on a simulated machine, crashed at every call with every ending, three seeds",
    command: [...SUITE, "every-call.test.ts", "tests/daemon/machine-sim.test.ts"],
    env: FULL,
    until: { rounds: 3 },
  },
  {
    name: "crash-points",
    tries: "a million crashes of the log at any call, with any ending, each followed by a recovery and a second life",
    command: [
      "test",
      "--timeout=900000",
      "./tests/sim/log/crash-random.test.ts",
      "./tests/sim/log/crash-scripted.test.ts",
    ],
    env: FULL,
    until: { count: /^crash points survived: (\d+)/gm, of: "crash points", goal: 1_000_000 },
  },
  ...[1, 2, 3, 4].map(underLoad),
  {
    name: "strace",
    tries: "system calls of real processes that strace lets fail or kills at: the exercise, and git making a worktree",
    command: [...SUITE, ...STRACED],
    env: { ...FULL, CI: "1" },
    until: { rounds: 1 },
  },
  ...(["daemon", "others"] as const).map(sweepOf),
  {
    name: "kills",
    tries: "the exercise, killed hundreds of times and with the power cut, five seeds",
    command: [...SUITE, "tests/crash/kill.test.ts", "tests/crash/power.test.ts"],
    env: FULL,
    until: { rounds: 5 },
  },
  {
    name: "calls",
    tries:
      "a thousand prompts while daemon and push service are killed at random: each is shown once, and then its end",
    command: [...SUITE, "tests/notify/kills.test.ts"],
    env: FULL,
    until: { rounds: 1 },
  },
  {
    name: "from-afar",
    tries: "relay, web host, daemon and device killed between every two messages of a prompt answered from afar",
    command: [...SUITE, "tests/tunnel/kills.test.ts"],
    env: FULL,
    until: { rounds: 1 },
  },
  {
    name: "bugs",
    tries: "every deliberate bug is caught, for its own reason",
    command: [...SUITE, "tests/bugs"],
    env: FULL,
    until: { rounds: 1 },
  },
  {
    name: "mutants",
    tries: "every mutant in the sources is killed by an ordinary test",
    command: [...SUITE, "tests/mutants"],
    env: FULL,
    until: { rounds: 1 },
  },
  {
    name: "golden",
    tries: "homes and holders of each release are opened, adopted and continued",
    command: [...SUITE, "tests/golden"],
    env: FULL,
    until: { rounds: 3 },
  },
  {
    name: "drill",
    tries: "`holdfast drill` for two minutes of kills, ten seeds",
    command: ["src/cli/main.ts", "drill", "--seconds", "120", "--seed", "{seed}"],
    until: { rounds: 10 },
  },
  {
    name: "drill-machine",
    tries: "`holdfast drill --machine`, ten seeds",
    command: ["src/cli/main.ts", "drill", "--machine", "--seed", "{seed}"],
    until: { rounds: 10 },
  },
  {
    name: "binary",
    tries: "our binary: 20 up- and downgrades under 25 typing terminals, and its drill for two minutes",
    command: [...SUITE, "tests/binary"],
    env: FULL,
    until: { rounds: 1 },
  },
  {
    name: "fuzz",
    tries: "the nightly profile of every fuzzer",
    command: ["scripts/test.ts", "--timeout=3600000", ...FUZZERS],
    env: { HOLDFAST_FUZZ: "nightly" },
    until: { rounds: 1 },
  },
  {
    name: "fleet",
    tries:
      "three hosts and two PostgreSQL servers: chaos, 1,000 zombies, 50 fail-overs, 2,000 lost connections; two seeds",
    command: [...SUITE, ...FLEET],
    env: FULL,
    until: { rounds: 2 },
  },
  {
    name: "soak",
    tries: "`npm run soak` for 30 minutes: no process grows",
    command: ["scripts/soak.ts", "--minutes", "30"],
    until: { rounds: 1 },
  },
];
