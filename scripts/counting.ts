// Preloaded into a program of ours (`bun --preload scripts/counting.ts`): our sources are loaded with their counters,
// and programs that lie in one file from one that has them.
// The counters are in a memory-mapped file, so that their values survive even a SIGKILL.
import { readFileSync } from "node:fs";
import { countedPath, counterName, HITS, IN_ONE_FILE, PLACES, type Places } from "./counted-files.ts";
import { ROOT } from "./files.ts";

/** Decides where a program runs from. */
const CHOICE = "src/world/built.ts";
const OUR_CHOICE = `export const builtProgram = (program) => \`${IN_ONE_FILE}/\${program}/main.js\`;`;

const places: Places = JSON.parse(readFileSync(PLACES, "utf8"));
const hits = mapped();
for (const [path, [from, to]] of Object.entries(places)) {
  Object.assign(globalThis, { [counterName(path)]: hits.subarray(from, to) });
}

Bun.plugin({
  name: "counters",
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const relative = path.startsWith(`${ROOT}/`) ? path.slice(ROOT.length + 1) : "";
      if (relative === CHOICE) return { contents: OUR_CHOICE, loader: "js" };
      const counted = places[relative] === undefined ? path : countedPath(relative);
      return { contents: readFileSync(counted, "utf8"), loader: "ts" };
    });
  },
});

/**
 * Unshared bytes if the file is read-only: in a sandbox nothing of ours can be changed, and what runs there is not
 * counted.
 */
function mapped(): Uint8Array {
  try {
    return Bun.mmap(HITS, { shared: true });
  } catch {
    return new Uint8Array(readFileSync(HITS).length);
  }
}
