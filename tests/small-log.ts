// The log of a test's own home. A home of the default size writes 24 MB of zeros before its first event, and tests make
// hundreds of them.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const SMALL_LOG = "[log]\nsegment_bytes = 2097152\nballast_bytes = 0\n";

/** Written where a program looks whose HOME is `home` and that is told nothing else. */
export function userConfig(home: string): void {
  smallLog(join(home, ".config/holdfast/config.toml"));
}

export function smallLog(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, SMALL_LOG);
}
