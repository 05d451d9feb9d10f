// Finds a program of ours as one bundled file (scripts/build.ts), which starts much faster than its sources.
// BU1. A bundle is current only if every source still has the change time it had when it was read. That time cannot be
//      set, so a source that was copied, unpacked or checked out again counts as changed.
// BU2. A bundle contains the paths of the place where it was built: one that was moved along with its sources is
//      outdated.
// BU3. If a bundle is outdated, or cannot be checked, a file says so until the launcher has built a new one. It is not
//      removed: the launcher may just be starting it, and what it starts looks for itself.
// BU4. With `--preload` the sources are used: what was preloaded needs to see them.
// BU5. In the npm package there are only bundles, at the paths of the entries.
// This file runs before any program and imports nothing of ours but quick.ts and root.ts, which load nothing.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { BUILT_FILE, BUILT_FROM, markOutdated } from "./quick.ts";
import { IS_PACKAGE, ROOT } from "./root.ts";

/** `root`: the root of the installation. `sources`: paths below it, each with its change time. */
export type BuiltFrom = {
  readonly root: string;
  readonly sources: readonly (readonly [path: string, changedMs: number])[];
};

/** Those that are built, with their entries. */
export const PROGRAMS = {
  cli: "src/cli/program.ts",
  quick: "src/cli/quick.ts",
  "quick-ls": "src/cli/program.ts",
  "quick-send": "src/cli/program.ts",
  "quick-attach": "src/cli/program.ts",
  "quick-new": "src/cli/program.ts",
  "quick-new-detached": "src/cli/program.ts",
  "quick-status": "src/cli/program.ts",
  "quick-prompts": "src/cli/program.ts",
  "quick-complete": "src/cli/program.ts",
  daemon: "src/daemon/program.ts",
  watchdog: "src/watchdog/program.ts",
  web: "src/web/program.ts",
  standby: "src/standby/program.ts",
  relay: "src/relay/program.ts",
  screen: "src/screen/program.ts",
  search: "src/search/program.ts",
  holder: "src/holder/main.ts",
  orders: "src/holder/orders-main.ts",
} as const;
export type Built = keyof typeof PROGRAMS;
/** The command line for some frequent commands, started by `quick` (src/cli/frequent.ts). */
export type Quick = Extract<Built, `quick-${string}`>;

export function isQuick(program: Built): program is Quick {
  return program.startsWith("quick-");
}

/** A holder is copied into each home and runs many times over: memory counts, and bytecode takes more of it. */
export function isHolder(program: Built): program is "holder" | "orders" {
  return program === "holder" || program === "orders";
}

/** CommonJS: the same program takes 150 KiB less memory than as a module. */
export const HOLDER_BUNDLE = { target: "bun", format: "cjs", minify: true } as const;

/**
 * A holder's bundle without private names, of which the engine keeps a table for each function of a class: 250 KiB in
 * each holder. They were checked in the sources. Unchanged if a class might have two of one name, or if what looks
 * like a private name might be text.
 */
export function withoutPrivateNames(text: string): string {
  const mayBeText = /(?<![.{};*]|\b(?:async|get|set|static))#[A-Za-z_$]/;
  if (mayBeText.test(text) || /\bextends (?!Error\b)/.test(text)) return text;
  return text.replace(/(\w?)#(?=[A-Za-z_$])/g, (_, before: string) => (before === "" ? "$" : `${before} $`));
}

/** The newest build, below the installation's root. It has a folder for each program. */
export const NEWEST = ".built/now";

/** The bundle of `program`, if there is a current one. */
export function builtProgram(program: Built): string | undefined {
  if (IS_PACKAGE) return `${ROOT}/${PROGRAMS[program]}`; // BU5
  if (process.execArgv.includes("--preload")) return undefined; // BU4
  try {
    const folder = `${realpathSync(`${ROOT}/${NEWEST}`)}/${program}`; // BU3
    if (isUpToDate(folder)) return `${folder}/${BUILT_FILE}`;
    markOutdated(ROOT); // BU3
  } catch {
    return undefined; // There is none, or it is not ours to mark.
  }
  return undefined;
}

function isUpToDate(folder: string): boolean {
  try {
    if (statSync(`${folder}/${BUILT_FILE}`).size === 0) return false;
    const built: BuiltFrom = JSON.parse(readFileSync(`${folder}/${BUILT_FROM}`, "utf8"));
    if (built.root !== ROOT) return false; // BU2
    return built.sources.every(([source, changedMs]) => statSync(`${ROOT}/${source}`).ctimeMs === changedMs); // BU1
  } catch {
    return false; // BU3
  }
}
