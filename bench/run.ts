// `bun run bench [name…] [--json] [--quick]`: measures us and our peers in the same run, and prints how they compare. A
// name selects everything below it (`log.append.25`); no name selects all. Figures go to standard output, messages to
// standard error.
// Exit code 0 when everything was measured, met or not; 1 when a benchmark broke; 2 for a name or flag that is none; 3
// when something was left out because its peer cannot be had: the others are measured all the same.
import { buildPrograms } from "../scripts/build.ts";
import { ROOT } from "../scripts/files.ts";
import { BARS, NAMES, namesBelow, SUITES } from "./benches.ts";
import { type Row, tableHead, tableLine, toJson } from "./row.ts";
import { type Bench, startBench } from "./scratch.ts";

type Wish =
  | { readonly kind: "run"; readonly names: readonly string[]; readonly json: boolean; readonly quick: boolean }
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly message: string };

const USAGE = "usage: bun run bench [name…] [--json] [--quick]";

function readArguments(args: readonly string[]): Wish {
  const flags = args.filter((arg) => arg.startsWith("-"));
  const wanted = args.filter((arg) => !arg.startsWith("-"));
  if (flags.includes("--help") || flags.includes("-h")) return { kind: "help" };
  const strange = flags.find((flag) => flag !== "--json" && flag !== "--quick");
  if (strange !== undefined) return { kind: "wrong", message: `${strange} is not an option` };
  const unknown = wanted.find((name) => namesBelow(name).length === 0);
  if (unknown !== undefined) return { kind: "wrong", message: `there is no benchmark ${unknown}` };
  const chosen = new Set(wanted.flatMap(namesBelow));
  const names = wanted.length === 0 ? NAMES : NAMES.filter((name) => chosen.has(name));
  return { kind: "run", names, json: flags.includes("--json"), quick: flags.includes("--quick") };
}

async function runAll(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  for (const suite of SUITES) {
    const mine = suite.names.filter((name) => names.includes(name));
    if (mine.length === 0) continue;
    const run = await suite.load();
    await run(mine, bench, emit);
  }
}

/** Names that no row came for. */
async function printed(wish: Wish & { kind: "run" }): Promise<string[]> {
  const bench = startBench(wish.quick);
  if (wish.quick) bench.say("--quick: too short to mean anything; it only shows that everything runs");
  await buildPrograms(ROOT); // As the launcher does: it is what people run.
  if (!wish.json) console.log(tableHead());
  const rows: Row[] = [];
  await runAll(wish.names, bench, (row) => {
    rows.push(row);
    if (!wish.json) console.log(tableLine(row, BARS.get(row.name)));
  });
  if (wish.json) console.log(toJson(rows));
  return wish.names.filter((name) => !rows.some((row) => row.name === name));
}

function usage(): string {
  return [USAGE, "names (a name stands for all below it):", ...NAMES.map((name) => `  ${name}`)].join("\n");
}

const wish = readArguments(Bun.argv.slice(2));
if (wish.kind === "help") console.log(usage());
else if (wish.kind === "run") {
  const left = await printed(wish);
  if (left.length > 0) {
    console.error(`not measured (see the reasons above): ${left.join(", ")}`);
    process.exitCode = 3;
  }
} else {
  console.error(`${wish.message}\n${usage()}`);
  process.exitCode = 2;
}
