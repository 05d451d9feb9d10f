// recovery.machine.N: every process of a home with N terminals is killed at once; from the start of the next boot's
// watchdog until the status says LIVE and all N terminals run again, each in its next generation, with its old screen
// and the line that says what happened on its tape. Half of them are shells at a prompt, half full-screen programs, and
// all have their screen in a checkpoint.
// Not measured: the boot of the machine itself, and the cost of an empty page cache: everything here is still in
// memory.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TapeReader } from "../src/log/tape/reader.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { Home } from "./home.ts";
import { killAtOnce } from "./processes.ts";
import { median } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { until } from "./waiting.ts";

type Size = { readonly terminals: number; readonly crashes: number; readonly barMs: number };

/** Three, since a terminal that is lost a fourth time within a minute is left for a person to decide. */
export const MACHINES: readonly Size[] = [
  { terminals: 25, crashes: 3, barMs: 2000 },
  { terminals: 250, crashes: 2, barMs: 15_000 },
];

const CONFIG = "[checkpoint]\ninterval_ms = 1000\n";
const BACK_MS = 120_000;
const SAID = "started again";
const FULL_SCREEN = "printf '\\033[?1049h\\033[2J\\033[5;9H\\033[32mfull screen\\033[0m'; exec sleep 100000";

export async function recoveryMachine(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  for (const size of MACHINES) {
    const name = `recovery.machine.${size.terminals}`;
    if (!names.includes(name)) continue;
    const crashes = bench.quick ? 1 : size.crashes;
    bench.say(`${name}: ${crashes} crashes`);
    emit(await measured(name, { ...size, crashes }, bench));
  }
}

async function measured(name: string, { terminals, crashes, barMs }: Size, bench: Bench): Promise<Row> {
  const home = await Home.start(bench, `m${terminals}`, CONFIG, "bench-0");
  try {
    await home.open(Math.ceil(terminals / 2), ["sh"]);
    await home.open(Math.floor(terminals / 2), ["sh", "-c", FULL_SCREEN]);
    await until("a checkpoint of all", BACK_MS, () => (savedScreens(home) >= terminals ? true : undefined));
    const seen: number[] = [];
    for (let crash = 1; crash <= crashes; crash += 1) seen.push(await backMs(home, terminals, crash));
    bench.say(`  longest ${Math.round(Math.max(...seen))} ms`);
    return timeRow({ name, value: median(seen), peer: `bar ${barMs} ms`, peerValue: barMs });
  } finally {
    await home.end();
  }
}

/** How many terminals have their screen in the checkpoint. */
function savedScreens(home: Home): number {
  try {
    const { body } = JSON.parse(readFileSync(join(home.path, "recovery/checkpoint.json"), "utf8"));
    return body.sessions.filter(({ screen }: { screen: unknown }) => screen !== null).length;
  } catch (error) {
    if (error instanceof Error && "code" in error) return 0; // There is none yet.
    throw error;
  }
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
