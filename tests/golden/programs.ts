// A version's own programs, as far as it takes to have its daemon start its holders: each in one file, where its entry
// is in the sources.
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";

/** The daemon itself, not what looks for a build of it (src/daemon/main.ts). */
const ENTRIES = {
  "src/daemon/main.ts": "src/daemon/program.ts",
  "src/holder/main.ts": "src/holder/main.ts",
  "src/holder/orders-main.ts": "src/holder/orders-main.ts",
  "src/shim/main.ts": "src/shim/main.ts",
};

/** Writes them below `into`; returns it. */
export async function programs(into: string): Promise<string> {
  for (const [path, entry] of Object.entries(ENTRIES)) {
    const built = await Bun.build({ entrypoints: [join(ROOT, entry)], target: "bun", format: "esm", minify: true });
    const text = (await built.outputs[0]?.text()) ?? "";
    // Its daemon bundles the holders once more before it starts them, as CommonJS, which has no `import.meta`.
    const held = path.startsWith("src/holder/");
    await Bun.write(join(into, path), held ? text.replace("=import.meta.require;", "=require;") : text);
  }
  return into;
}
