// The coverage of our programs that tests start as processes of their own: laid out before the tests, added to Bun's
// lcov after them.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Built, isHolder } from "../src/world/built.ts";
import { bundle, programs } from "./build.ts";
import { COUNTED, COUNTING, countedPath, HITS, IN_ONE_FILE } from "./counted-files.ts";
import { COUNTERS, withCounters } from "./counters.ts";
import { isTest, ROOT, readAll, type SourceFile } from "./files.ts";
import { parseLcov } from "./lcov.ts";

export type Ran = { readonly path: string; readonly owners: ReadonlyMap<number, number>; readonly hits: Uint8Array };

/** What decides where a program runs from: here from the bundle with its counters. */
const CHOICES: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  "src/world/built.ts": [
    [
      'if (process.execArgv.includes("--preload")) return undefined;',
      `if (program) return \`${IN_ONE_FILE}/\${program}/main.js\`;`,
    ],
  ],
  "src/world/quick.ts": [
    ["return false; // It cannot be checked.", "return true;"],
    // A path that the bundler would not look for.
    ["require(`${ROOT}/src/cli/main.ts`)", `require(["${IN_ONE_FILE}/cli/main.js"].join(""))`],
  ],
};

function sources(): SourceFile[] {
  return readAll("src/**/*.ts").filter(({ path }) => !isTest(path) && !path.endsWith(".d.ts"));
}

/**
 * Writes every source with its counters, all at zero, and our programs made from those. Returns a function that tells,
 * after the tests, which lines ran.
 */
export async function layCounters(): Promise<() => Ran[]> {
  rmSync(COUNTED, { recursive: true, force: true });
  let bytes = 0;
  const laid = sources().map(({ path, text }) => {
    const from = bytes;
    const chosen = (CHOICES[path] ?? []).reduce((all, [one, other]) => all.replace(one, () => other), text);
    const counted = withCounters(chosen, from);
    mkdirSync(dirname(countedPath(path)), { recursive: true });
    // Its first byte says that the file was loaded; a file of types alone is loaded without a trace.
    writeFileSync(countedPath(path), `${COUNTERS}[${from}]=1;${counted.text}`);
    bytes += counted.units;
    return { path, owners: counted.owners, place: [from, bytes] as const };
  });
  writeFileSync(HITS, new Uint8Array(bytes));
  const text = await Bun.build({ entrypoints: [join(ROOT, "scripts/counting.ts")], target: "bun", format: "cjs" });
  await Bun.write(COUNTING, text.outputs[0] ?? "");
  const lay = (program: Built) =>
    bundle(ROOT, program, join(IN_ONE_FILE, program), isHolder(program) ? [] : [COUNTED_SOURCES]);
  await Promise.all(programs().map(lay)); // Holders load nothing beforehand: in them the counters would not exist.
  return () => {
    const hits = readFileSync(HITS);
    return laid.map(({ path, owners, place }) => ({ path, owners, hits: hits.subarray(...place) }));
  };
}

const COUNTED_SOURCES: Bun.BunPlugin = {
  name: "counters",
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      return { contents: readFileSync(countedPath(path.slice(ROOT.length + 1)), "utf8"), loader: "ts" };
    });
  },
};

/** The report with the lines that ran in children: Bun's counts stay, and its set of lines is used if it has one. */
export function addRan(lcov: string, ran: readonly Ran[]): string {
  const files = parseLcov(lcov);
  for (const { path, owners, hits } of ran) {
    if (hits[0] === 0) continue;
    const lines = files.get(path) ?? new Map([...owners.keys()].map((line) => [line, 0]));
    files.set(path, lines);
    for (const [line, count] of lines) if (hits[owners.get(line) ?? -1] === 1) lines.set(line, count + 1);
  }
  return [...files].map(([path, lines]) => toRecord(path, lines)).join("");
}

function toRecord(path: string, lines: ReadonlyMap<number, number>): string {
  const found = [...lines].sort(([a], [b]) => a - b).map(([line, count]) => `DA:${line},${count}`);
  const hit = [...lines.values()].filter((count) => count > 0).length;
  return [`SF:${path}`, ...found, `LF:${lines.size}`, `LH:${hit}`, "end_of_record", ""].join("\n");
}
