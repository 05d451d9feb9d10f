// recovery.machine.N: every process of a home with N terminals is killed at once; from the start of the next boot's
// watchdog until the status says LIVE and all N terminals run again, each in its next generation, with its old screen
// and the line that says what happened on its tape. Half of them are shells at a prompt, half full-screen programs, and
// all have their screen in a checkpoint.
// recovery.machine.250.growth: the same figure; the peer is recovery.machine.25, crashed in turn with it.
// Not measured: the boot of the machine itself, and the cost of an empty page cache: everything here is still in
// memory.
import { join } from "node:path";
import { CHECKPOINT_FACTS, CHECKPOINT_FILE, readSessions } from "../src/core/terminal/checkpoint.ts";
import { firstUsable } from "../src/log/checkpoint/load.ts";
import { TapeReader } from "../src/log/tape/reader.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { Home } from "./home.ts";
import { killAtOnce } from "./processes.ts";
import { median } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { until } from "./waiting.ts";

type Size = { readonly terminals: number; readonly barMs: number };

export const MACHINES: readonly Size[] = [
  { terminals: 25, barMs: 2000 },
  { terminals: 250, barMs: 15_000 },
];

/** Three, since a terminal that is lost a fourth time within a minute is left for a person to decide. */
const CRASHES = 3;

const CONFIG = "[checkpoint]\ninterval_ms = 1000\n";
const BACK_MS = 120_000;
const SAID = "started again";
const FULL_SCREEN = "printf '\\033[?1049h\\033[2J\\033[5;9H\\033[32mfull screen\\033[0m'; exec sleep 100000";

const GROWTH = "recovery.machine.250.growth";

export async function recoveryMachine(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const wanted = MACHINES.filter(({ terminals }) => names.includes(`recovery.machine.${terminals}`));
  const sizes = names.includes(GROWTH) ? MACHINES : wanted;
  const seen = await crashed(sizes, bench);
  const rowOf = (at: number, name: string, peer: string, peerValue: number) =>
    timeRow({ name, value: median(seen[at] ?? []), peer, peerValue });
  for (const size of wanted) {
    const { barMs, terminals } = size;
    emit(rowOf(sizes.indexOf(size), `recovery.machine.${terminals}`, `bar ${barMs} ms`, barMs));
  }
  if (names.includes(GROWTH)) emit(rowOf(1, GROWTH, "25 terminals", median(seen[0] ?? [])));
}

/** The times of each size, one crash of each in turn. */
async function crashed(sizes: readonly Size[], bench: Bench): Promise<number[][]> {
  const homes: Home[] = [];
  try {
    for (const { terminals } of sizes) homes.push(await opened(terminals, bench));
    const seen = sizes.map((): number[] => []);
    for (let crash = 1; crash <= (bench.quick ? 1 : CRASHES); crash += 1) {
      for (const [at, { terminals }] of sizes.entries()) {
        const home = homes[at];
        if (home !== undefined) seen[at]?.push(await backMs(home, terminals, crash));
      }
    }
    for (const [at, { terminals }] of sizes.entries())
      bench.say(`recovery.machine.${terminals}: ${seen[at]?.map(Math.round).join(", ")} ms`);
    return seen;
  } finally {
    for (const home of homes) home.cut();
  }
}

async function opened(terminals: number, bench: Bench): Promise<Home> {
  const home = await Home.start(bench, `m${terminals}`, CONFIG, "bench-0");
  await home.open(Math.ceil(terminals / 2), ["sh"]);
  await home.open(Math.floor(terminals / 2), ["sh", "-c", FULL_SCREEN]);
  await until("a checkpoint of all", BACK_MS, () => (savedScreens(home.path) >= terminals ? true : undefined));
  return home;
}

/** How many terminals have their screen in the checkpoint, as the product reads it; 0 if there is none yet. */
export function savedScreens(home: string): number {
  const loaded = firstUsable(realDisk(), [join(home, CHECKPOINT_FILE)], CHECKPOINT_FACTS);
  if (loaded.kind !== "loaded") return 0;
  return readSessions(loaded.checkpoint.body).sessions.filter(({ screen }) => screen !== null).length;
}

async function backMs(home: Home, terminals: number, crash: number): Promise<number> {
  killAtOnce(home.path);
  home.isBooted(`bench-${crash}`);
  const before = performance.now();
  await home.run("up");
  await until("LIVE", BACK_MS, async () => ((await home.status())?.recovery.stage === "LIVE" ? true : undefined));
  const took = performance.now() - before;
  const back = (await home.terminals()).filter(({ state, generation, restored, id }) => {
    return state.kind === "running" && generation === crash + 1 && said(home, id, restored?.offset ?? 0);
  });
  if (back.length !== terminals) throw new Error(`${back.length} of ${terminals} terminals are back`);
  return took;
}

function said(home: Home, id: string, from: number): boolean {
  const read = new TapeReader(realDisk(), join(home.path, "terminals", id, "tape")).read(from, 1 << 16);
  return read.kind === "bytes" && Buffer.from(read.bytes).toString().includes(SAID);
}
