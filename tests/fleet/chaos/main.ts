// The programs of the fleet's chaos, each with a seed and an amount; exit code 1 if anything is wrong:
//   main.ts rounds SEED ROUNDS SECONDS [LIKE]  three hosts and two databases, work and troubles for so long (rounds.ts)
//   main.ts zombies SEED COUNT          owners that stand still until they have lost their homes (zombies.ts)
//   main.ts daemons SEED COUNT          the same with whole hosts (daemons.ts)
//   main.ts failovers SEED COUNT        promotions of the standby under owners that write (failovers.ts)
// Each prints what it does and a line of JSON with what it came to.
// It starts itself again in namespaces of its own: whatever it starts ends with it, and nobody else sees it.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SimRandom } from "../../sim/random.ts";
import { tryDaemons } from "./daemons.ts";
import { Databases, PASSWORD } from "./databases.ts";
import { tryFailOvers } from "./failovers.ts";
import { makeNetwork, Node } from "./machines.ts";
import { tryRound } from "./rounds.ts";
import { tryZombies } from "./zombies.ts";

/** The first process takes in whatever has lost its parent; we do not. */
const INIT = '"$@"; exit $?';
const INSIDE = "CHAOS_INSIDE";
const [what = "", ...numbers] = Bun.argv.slice(2);
const [seed = 1, amount = 1, seconds = 60] = numbers.map(Number);
const like = numbers[3] ?? "";

/** Returns how it ended. */
async function within(...words: readonly string[]): Promise<number> {
  const spaces = [
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "/bin/bash",
    "-c",
    INIT,
    "init",
  ];
  const env = { ...process.env, [INSIDE]: "1" };
  const argv = ["unshare", ...spaces, process.execPath, import.meta.path, ...words];
  return Bun.spawn(argv, { env, stdio: ["ignore", "inherit", "inherit"] }).exited;
}

/** Each round has namespaces of its own. */
async function outside(): Promise<number> {
  if (what !== "rounds") return within(what, ...numbers);
  let failed = 0;
  for (let number = 0; number < amount; number++) {
    const code = await within(what, `${seed + number}`, "1", `${seconds}`, like);
    if (code !== 0) failed += 1;
  }
  return failed === 0 ? 0 : 1;
}

type Came = { readonly faults: readonly string[] };

async function aRound(): Promise<Came> {
  const started = performance.now();
  const say = (words: string) => console.log(`${((performance.now() - started) / 1_000).toFixed(1)} s  ${words}`);
  console.log(`seed ${seed}`);
  const came = await tryRound({ seed, seconds, like, say });
  console.log(JSON.stringify({ rounds: 1, seed, ...came }));
  return came;
}

/** With two databases; `url` names both. */
async function onDatabases(act: (databases: Databases, url: string) => Promise<Came>): Promise<Came> {
  makeNetwork();
  const place = mkdtempSync(join(tmpdir(), "hc-"));
  chmodSync(place, 0o755);
  const nodes = [new Node("dba", 11), new Node("dbb", 12)] as const;
  const databases = new Databases(nodes, place);
  await databases.start();
  const hosts = nodes.map(({ address }) => address).join(",");
  const url = `postgres://holdfast:${PASSWORD}@${hosts}/postgres?sslmode=disable&connect_timeout=2`;
  const came = await act(databases, url);
  console.log(JSON.stringify(came));
  await databases.stop();
  databases.remove();
  rmSync(place, { recursive: true, force: true });
  return came;
}

const PROGRAMS: Readonly<Record<string, () => Promise<Came>>> = {
  rounds: aRound,
  daemons: async () => {
    const came = await tryDaemons(seed, amount);
    console.log(JSON.stringify(came));
    return came;
  },
  zombies: () => onDatabases((_, url) => tryZombies(url, amount)),
  failovers: () => onDatabases((databases, url) => tryFailOvers(databases, url, amount, new SimRandom(seed))),
};

async function inside(): Promise<number> {
  const program = PROGRAMS[what];
  if (program === undefined) throw new Error(`${what} is none of ${Object.keys(PROGRAMS).join(", ")}`);
  const { faults } = await program();
  return faults.length === 0 ? 0 : 1;
}

process.exit(process.env[INSIDE] === undefined ? await outside() : await inside());
