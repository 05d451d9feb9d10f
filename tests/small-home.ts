// The configuration of a test's own home: what tests make hundreds of costs little. A log of the default size writes
// 24 MB of zeros before its first event, and a page that nobody looks at takes a third of what a start takes.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const SMALL_LOG = "[log]\nsegment_bytes = 2097152\nballast_bytes = 0\n";
const NO_PAGE = "[web]\nenabled = false\n";
/** Agents of tests are programs of ours, in places that no sandbox shows. */
const NO_SANDBOX = "[agents]\nsandbox = false\n";

/** Written where a program looks whose HOME is `home` and that is told nothing else. */
export function userConfig(home: string): void {
  smallHome(join(home, ".config/holdfast/config.toml"));
}

export function smallHome(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, SMALL_LOG + NO_PAGE + NO_SANDBOX);
}

/** For a test of the page. */
export function withPage(path: string, more = ""): void {
  writeFileSync(path, SMALL_LOG + more);
}
