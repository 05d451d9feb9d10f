// Preloaded, in one file, into our programs under test: our sources are loaded with their counters
// (scripts/children.ts). The counters are in a memory-mapped file, so that their values survive even a SIGKILL.
// It runs before thousands of programs: it loads as little as it can.
import { readFileSync } from "node:fs";
import { countedPath, HITS, SOURCES } from "./counted-files.ts";

Object.assign(globalThis, { __hits: mapped() });

Bun.plugin({
  name: "counters",
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const counted = path.startsWith(SOURCES) ? countedPath(`src/${path.slice(SOURCES.length)}`) : path;
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
