// Preloaded into a program of ours (`bun --preload scripts/counting.ts`): our sources are loaded with their counters.
// The bytes of the counters are those of a mapped file, so that what ran is known even where SIGKILL was the end of it.
import { existsSync, readFileSync } from "node:fs";
import { countedPath, counterName, hitsPath } from "./counted-files.ts";
import { ROOT } from "./files.ts";

Bun.plugin({
  name: "counters",
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const relative = path.startsWith(`${ROOT}/`) ? path.slice(ROOT.length + 1) : "";
      const counted = countedPath(relative);
      const hits = relative === "" || !existsSync(counted) ? undefined : mapped(hitsPath(relative));
      if (hits === undefined) return { contents: readFileSync(path, "utf8"), loader: "ts" };
      Object.assign(globalThis, { [counterName(relative)]: hits });
      return { contents: readFileSync(counted, "utf8"), loader: "ts" };
    });
  },
});

/** Undefined where it can only be read: in a sandbox nothing of ours can be changed, and what runs there is not counted. */
function mapped(path: string): Uint8Array | undefined {
  try {
    return Bun.mmap(path, { shared: true });
  } catch {
    return undefined;
  }
}
