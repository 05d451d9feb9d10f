// workflow.items.growth: time per item of a map of 10,000 items, each with one step in process, around item 10,000
// (ours) and around item 100 (the peer's column): the last thousand and the first thousand of the same run. Everything
// is in it: deciding, the log, checkpoints. The first run warms up and does not count.
// Not measured: items whose steps are commands; there, starting them is nearly all of it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Home } from "./home.ts";
import { median } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { timesOf, WorkflowHome } from "./workflow-home.ts";

const TEXT = `mode: mapreduce
map:
  input: items.json
  max_parallel: 8
  steps:
    - set: { result: "\${item.name} of \${item_index}" }
`;

export async function workflowItems(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const [name = ""] = names;
  const { items, window, runs } = bench.quick
    ? { items: 200, window: 50, runs: 2 }
    : { items: 10_000, window: 1000, runs: 31 };
  bench.say(`${name}: ${runs} runs of ${items} items`);
  const flows = new WorkflowHome(await Home.start(bench, "items"));
  const list = Array.from({ length: items }, (_, at) => ({ name: `item-${at}`, lines: at }));
  writeFileSync(join(flows.home.path, "items.json"), JSON.stringify(list));
  const seen = { first: [] as number[], last: [] as number[], all: [] as number[] };
  try {
    for (let run = 0; run < runs; run += 1) {
      const log = await flows.run(TEXT);
      const times = [...timesOf(log, "workflow.phase.entered").slice(0, 1), ...timesOf(log, "workflow.item.ended")];
      const at = (index: number) => times[index] ?? 0;
      if (run === 0) continue;
      seen.first.push((at(window) - at(1)) / (window - 1));
      seen.last.push((at(items) - at(items - window)) / window);
      seen.all.push((at(items) - at(1)) / items);
    }
  } finally {
    await flows.home.end();
  }
  bench.say(`  ${(1000 / median(seen.all)).toFixed(0)} items/s over all`);
  const peer = "the same map around its item 100";
  emit(timeRow({ name, value: median(seen.last), peer, peerValue: median(seen.first) }));
}
