// Chaos on three hosts, in namespaces of their own, and two PostgreSQL servers (chaos/main.ts): a short round of each
// kind in the gate, and all that docs/FLEET.md counts in the part `fleet` of the proof.
import { expect, test } from "bun:test";
import { BUN } from "../ours.ts";
import { amount, PROFILE } from "../sim/fuzz/profile.ts";
import { HAS_POSTGRES } from "./server.ts";

const MAIN = "tests/fleet/chaos/main.ts";
const MINUTE = 60_000;
/** What a failed program said last. */
const SHOWN_CHARACTERS = 20_000;

/** Why the kernel does not let us; undefined: it does. */
function refusal(): string | undefined {
  const argv = [
    "unshare",
    "--net",
    "--mount",
    "--pid",
    "--uts",
    "--time",
    "--fork",
    "ip",
    "link",
    "add",
    "x",
    "type",
    "veth",
  ];
  const { exitCode, stderr } = Bun.spawnSync(argv, { stdio: ["ignore", "ignore", "pipe"] });
  return exitCode === 0 ? undefined : `${stderr}`;
}

const IS_ROOT = process.getuid?.() === 0 && Bun.which("unshare") !== null && Bun.which("ip") !== null;
const REFUSED = IS_ROOT && HAS_POSTGRES ? refusal() : "";
const isSkipped = !IS_ROOT || !HAS_POSTGRES || (REFUSED !== undefined && process.env["CI"] === undefined);

/** Returns what its last line of JSON says. */
async function came(...words: readonly (string | number)[]): Promise<Record<string, unknown>> {
  const argv = [BUN, MAIN, ...words.map(String)];
  const child = Bun.spawn(argv, { stdio: ["ignore", "pipe", "inherit"] });
  const out = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")}:\n${out.slice(-SHOWN_CHARACTERS)}`);
  const line = out.split("\n").findLast((one) => one.startsWith("{")) ?? "{}";
  console.log(`${words.join(" ")}: ${line}`);
  return JSON.parse(line);
}

/** In CI, a kernel that refuses is named, and no failure. */
function chaos(check: () => Promise<void>): () => Promise<void> {
  return async () => (REFUSED === undefined ? check() : console.log(`not tried, the kernel refused: ${REFUSED}`));
}

test.skipIf(isSkipped)(
  "three hosts in every trouble lose nothing, do nothing twice, and take new work in the end (needs postgresql and root)",
  chaos(async () => {
    const [rounds, seconds] = [amount(1, 5), amount(6, 60)];
    for (let round = 0; round < rounds; round++) {
      const { faults, acknowledged } = await came("rounds", PROFILE.seed + round, 1, seconds);
      expect(faults).toEqual([]);
      expect(acknowledged).toBeGreaterThan(2); // A terminal in each home at the end, at least.
    }
  }),
  60 * MINUTE,
);

test.skipIf(isSkipped)(
  "owners that stand still until they have lost their homes are refused at their next append (needs postgresql and root)",
  chaos(async () => {
    const zombies = amount(50, 1_000);
    expect(await came("zombies", PROFILE.seed, zombies)).toEqual({ zombies, refused: zombies, faults: [] });
  }),
  10 * MINUTE,
);

test.skipIf(isSkipped)(
  "a promoted standby has all that was confirmed, once, also if waits for it were cancelled (needs postgresql and root)",
  chaos(async () => {
    const failOvers = amount(3, 50);
    expect(await came("failovers", PROFILE.seed, failOvers)).toMatchObject({ failOvers, faults: [] });
  }),
  20 * MINUTE,
);

/** It takes a minute. */
const ZOMBIE_HOSTS = amount(0, 5);

test.skipIf(isSkipped)(
  "whole hosts that stand still until they have lost their homes follow, and refuse work (needs postgresql and root)",
  chaos(async () => {
    const zombies = ZOMBIE_HOSTS;
    if (zombies > 0)
      expect(await came("daemons", PROFILE.seed, zombies)).toEqual({ zombies, refused: zombies, faults: [] });
  }),
  20 * MINUTE,
);
