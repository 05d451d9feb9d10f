// workflow.items.memory: the most memory that the daemon had (VmHWM) after a map of 100,000 items, each with one step
// in process, in MB (10⁶); the peer is another daemon after the same map of 1,000 items.
// workflow.items.disk: what the checkpoints of the large map, the present one and its history, take on disk, in bytes
// per item. The log of the run is not in it.
// Not measured: items whose steps are commands, and large values or results.
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Home } from "./home.ts";
import { peakOf } from "./processes.ts";
import { costRow, type Row } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { until } from "./waiting.ts";
import { WorkflowHome } from "./workflow-home.ts";

const MEMORY = "workflow.items.memory";
const DISK = "workflow.items.disk";
const START_MS = 60_000;
/** Bytes per item of a whole checkpoint: a history of increments has each item once more. */
const DISK_BAR = 500;

const TEXT = `mode: mapreduce
map:
  input: items.json
  max_parallel: 8
  steps:
    - set: { result: "\${item.name} of \${item_index}" }
`;

type Cost = { readonly peak: number; readonly checkpoints: number; readonly log: number };

export async function workflowItemsMemory(names: readonly string[], bench: Bench, emit: (row: Row) => void) {
  const [few, many] = bench.quick ? [20, 200] : [1000, 100_000];
  bench.say(`${names.join(", ")}: maps of ${few} and ${many} items`);
  const small = await costOf(bench, few);
  const large = await costOf(bench, many);
  bench.say(`  on disk: ${megabytes(large.checkpoints)} MB of checkpoints, ${megabytes(large.log)} MB of log`);
  if (names.includes(MEMORY)) {
    const [value, peerValue] = [large.peak / 1e6, small.peak / 1e6];
    const peer = `the same with ${few} items`;
    emit({ name: MEMORY, value, unit: "MB", peer, peerValue, ratio: peerValue / value });
  }
  if (names.includes(DISK))
    emit(costRow({ name: DISK, value: large.checkpoints / many, unit: "bytes", bar: DISK_BAR }));
}

/** In a daemon of its own. */
async function costOf(bench: Bench, items: number): Promise<Cost> {
  const flows = new WorkflowHome(await Home.start(bench, `items-${items}`));
  const { home } = flows;
  const list = Array.from({ length: items }, (_, at) => ({ name: `item-${at}`, lines: at }));
  writeFileSync(join(home.path, "items.json"), JSON.stringify(list));
  try {
    const { daemon } = await until("the status", START_MS, () => home.status());
    const id = await flows.begin(TEXT);
    await flows.ended(id);
    const peak = peakOf(daemon.pid);
    await home.run("down"); // The last checkpoint is written.
    const place = flows.placeOf(id) ?? "";
    const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const sizes = files.map(({ parentPath, name }) => ({ name, bytes: statSync(join(parentPath, name)).size }));
    const sum = (isLog: boolean) =>
      sizes.filter(({ name }) => (name === "events.jsonl") === isLog).reduce((all, { bytes }) => all + bytes, 0);
    return { peak, checkpoints: sum(false), log: sum(true) };
  } finally {
    await home.end();
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
