// `holdfast bench`: how long people wait for commands on this machine, beside an empty script under the same Bun, and
// tmux if it is there. Each is timed in turn with the others, and the median counts.
// BN1. It has a home of its own, which is removed at the end; yours is not touched.
import { joinPath } from "../../base/path.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { makeDirectories, openRetrying, removeTree } from "../../log/file/file.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { printJson, say } from "../print.ts";
import { tableText } from "../table.ts";
import { type Contestant, contestants, type Place, prepared } from "./contestants.ts";

export type BenchFlags = DataFlags & { readonly rounds: number };

/** Other programs rely on this shape: fields are added, never changed. `ratio`: how often an empty script fits in. */
type Row = { readonly name: string; readonly ms: number; readonly emptyMs: number; readonly ratio: number };

async function bench(world: DaemonCommandWorld, flags: BenchFlags): Promise<Exit> {
  const directory = `/tmp/hf-bench-${world.random.bytes(4).toHex()}`; // Short: it has sockets.
  const place: Place = { directory, empty: joinPath(directory, "empty.js") };
  makeDirectories(world.disk, directory);
  openRetrying(world.disk, place.empty, "create").close();
  try {
    const rows = await measured(world, place, flags.rounds);
    if (!rows.ok) return rows;
    if (flags.json) await printJson(world.console, rows.value);
    else await world.console.out.write(tableText(world.console, [HEAD, ...rows.value.map(cells)]));
    return ok(EXIT.ok);
  } finally {
    removeTree(world.disk, directory); // BN1
  }
}

async function measured(world: DaemonCommandWorld, place: Place, rounds: number): Promise<Result<readonly Row[]>> {
  const all = contestants(world, place);
  await say(world.console, `timing ${all.length} commands, ${rounds} times each, in a home of its own`);
  const end = await prepared(world, place);
  if (!end.ok) return end;
  try {
    return await inTurn(all, rounds);
  } finally {
    await end.value();
  }
}

async function inTurn(all: readonly Contestant[], rounds: number): Promise<Result<readonly Row[]>> {
  const seen = all.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, { name, timed }] of all.entries()) {
      const ms = await timed();
      if (ms === undefined) return { ok: false, error: failed(name) };
      seen[at]?.push(ms);
    }
  }
  const [emptyMs = Number.NaN, ...others] = seen.map(median);
  return ok(others.map((ms, at) => ({ name: all[at + 1]?.name ?? "", ms, emptyMs, ratio: ms / emptyMs })));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

const HEAD = ["COMMAND", "MS", "EMPTY SCRIPT", "RATIO"];

function cells({ name, ms, emptyMs, ratio }: Row): string[] {
  return [name, ms.toFixed(1), emptyMs.toFixed(1), ratio.toFixed(1)];
}

function failed(name: string): Refusal {
  return refused("failed", `${name} did not work.`, "`holdfast doctor` shows what is wrong on this machine.").error;
}

export const benchCommand = withDaemonWorld(bench);
