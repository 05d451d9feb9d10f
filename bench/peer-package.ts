// Peers that are npm packages: each has its own package in bench/peers, installed on first use, so that it is only
// installed for comparisons. Their package scripts are not run, except for those that have to be compiled.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Effort } from "./rounds.ts";

export type PeerPackage = {
  readonly name: string;
  /** What has to be compiled, and a file that is there when it was, below `node_modules`. */
  readonly compiled?: { readonly module: string; readonly file: string };
};

/** npm writes this file last, so a broken-off installation does not have it. */
const DONE = ".package-lock.json";
const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];

export function peerPath(name: string, ...parts: readonly string[]): string {
  return join(import.meta.dir, "peers", name, ...parts);
}

/** The reason why it could not be installed; undefined if it is installed. */
export function missing(bench: Pick<Effort, "say">, { name, compiled }: PeerPackage): string | undefined {
  const isThere = (file: string) => existsSync(peerPath(name, "node_modules", file));
  if (Bun.which("node") === null) return "there is no node on the PATH";
  const needsBuild = compiled !== undefined && !isThere(compiled.file);
  if (isThere(DONE) && !needsBuild) return undefined;
  const npm = Bun.which("npm");
  if (npm === null) return `${name} is not installed and there is no npm on the PATH`;
  if (!isThere(DONE)) {
    bench.say(`installing the peer ${name}, once (npm ci in bench/peers/${name})`);
    const code = run(name, [npm, "ci", "--ignore-scripts", ...QUIET]);
    if (code !== 0) return `npm ci in bench/peers/${name} failed with exit code ${code}`;
  }
  if (!needsBuild) return undefined;
  bench.say(`compiling ${compiled.module} for the peer ${name}, once; it may take some minutes`);
  const code = run(name, [npm, "rebuild", compiled.module, ...QUIET]);
  return code === 0 && isThere(compiled.file) ? undefined : `${compiled.module} could not be compiled`;
}

function run(name: string, argv: string[]): number {
  return Bun.spawnSync(argv, { cwd: peerPath(name), stdio: ["ignore", "ignore", "inherit"] }).exitCode;
}
