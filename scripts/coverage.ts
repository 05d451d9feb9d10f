// Prints line coverage by room from coverage/lcov.info (written by `npm test`). Fails under 85 % in total, or in one of
// the files that the source documents name (named-files.ts).
import { isTest, readAll, readIfThere } from "./files.ts";
import { measure, percent, toTable } from "./lcov.ts";
import { namedUnder } from "./named-files.ts";

/** What the requirements ask for. */
const LEAST = 85;

const lcov = readIfThere("coverage/lcov.info");
if (lcov === undefined) {
  console.error("coverage/lcov.info is not there; run: npm test");
  process.exit(1);
}
/**
 * What runs in a browser only: views (.tsx, which are not even read here) and these files, which are the page's doors
 * and the terminals in its document. Browser tests run them, in a process whose coverage is not measured.
 */
const IN_BROWSERS = /^src\/page\/(?:browser|keys|state\/session|terminal\/(?:emulator|theme|thumbnail|window))\.ts$/;

const transpiler = new Bun.Transpiler({ loader: "ts" });
const sources = readAll("src/**/*.ts").filter(
  ({ path }) => !isTest(path) && !path.endsWith(".d.ts") && !IN_BROWSERS.test(path),
);
const files = measure(sources, lcov, (ts) => transpiler.transformSync(ts));
console.log(toTable(files));
for (const file of files) {
  if (percent([file]) < LEAST) console.log(`under ${LEAST} %: ${file.path} (${percent([file]).toFixed(1)} %)`);
}
if (percent(files) < LEAST)
  console.error(`line coverage is ${percent(files).toFixed(1)} %; at least ${LEAST} % is asked for`);
const under = namedUnder(LEAST, files);
for (const line of under) console.error(`${line}; at least ${LEAST} % is asked for`);
process.exit(percent(files) < LEAST || under.length > 0 ? 1 : 0);
