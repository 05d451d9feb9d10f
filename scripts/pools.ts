// Which test files are deterministic and which work with real processes. What a file can reach decides, not its name.
// P1. A test file is in the real-process pool if it, or any file it imports directly or not, can start a process, open
//     a socket or watch files. Every other file is deterministic: the same sources give the same result every time.
// P2. A deterministic file that starts a process in a way that P1 does not see fails (scripts/no-processes.ts).
import { dirname, join } from "node:path";
import { codeOf } from "../tests/tidy/source.ts";
import { isTest, type SourceFile } from "./files.ts";

export type Pool = "deterministic" | "real-process";

const CALLS =
  /\bBun\s*\.\s*(?:spawn|spawnSync|listen|connect|serve|udpSocket|Terminal|\$)(?!\w)|\bnew Worker\(|\bfetch\(/;
const MODULES = /^(?:node:)?(?:child_process|cluster|dgram|http|http2|https|net|tls|worker_threads)$/;
const WATCHES = /\bwatch\b[^;]*from "node:fs"/;

type Module = { readonly isReal: boolean; readonly imports: readonly string[] };

/** The pool of every test file in `files`, which holds all that test files import. */
export function poolsOf(files: readonly SourceFile[]): Map<string, Pool> {
  const transpiler = new Bun.Transpiler({ loader: "ts" }); // It drops comments, types, and imports of types alone.
  const modules = new Map(files.map(({ path, text }) => [path, moduleOf(path, transpiler, text)]));
  const tests = files.filter(({ path }) => isTest(path));
  return new Map(tests.map(({ path }) => [path, reachesReal(path, modules) ? "real-process" : "deterministic"]));
}

function moduleOf(path: string, transpiler: Bun.Transpiler, text: string): Module {
  const javascript = transpiler.transformSync(text);
  const imports = transpiler.scanImports(javascript).map((one) => one.path);
  const calls = CALLS.test(javascript) && CALLS.test(codeOf(javascript)); // A word in a string is not a call.
  const isReal = calls || WATCHES.test(javascript) || imports.some((name) => MODULES.test(name));
  return { isReal, imports: imports.filter((name) => name.startsWith(".")).map((name) => join(dirname(path), name)) };
}

function reachesReal(from: string, modules: ReadonlyMap<string, Module>): boolean {
  const reached = new Set([from]);
  for (const path of reached) {
    const module = modules.get(path);
    if (module?.isReal === true) return true;
    for (const next of module?.imports ?? []) reached.add(next);
  }
  return false;
}
