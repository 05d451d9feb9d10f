// Which room may import which (docs/ARCHITECTURE.md). Arrows only go down; programs never import each other.
import { dirname, join } from "node:path";
import { isTest, type SourceFile } from "../../scripts/files.ts";
import type { Violation } from "./rules.ts";
import { lineOf, withoutComments } from "./source.ts";

const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  core: ["base"],
  world: ["base"],
  log: ["base", "world"],
  wire: ["base", "core"],
  home: ["base", "core", "world", "log", "wire"],
  vt: ["base", "core", "world", "log"],
  fleet: ["base", "core", "world", "log", "wire", "home"],
  watchdog: ["base", "world", "wire", "log", "home"],
  holder: ["base", "core", "world", "wire", "log", "home"],
  screen: ["base", "core", "world", "wire", "log", "vt"],
  search: ["base", "core", "world", "log", "wire"],
  daemon: ["base", "core", "world", "log", "wire", "home", "fleet"],
  standby: ["base", "core", "world", "log", "wire", "home", "fleet"],
  web: ["base", "core", "wire", "world", "log", "home", "fleet"],
  /** Runs in browsers. */
  page: ["base", "core", "wire", "vt"],
  relay: ["base", "core", "world", "log", "wire"],
  database: ["base", "world", "wire"],
  proxy: ["base", "world", "log", "wire"],
  shim: ["base", "core", "world", "log", "wire"],
  drill: ["base", "core", "world", "wire", "log", "home", "fleet"],
  // log/ is for `holdfast log`, which reads beside a running daemon; a decision record says why.
  cli: ["base", "core", "world", "wire", "log", "home", "vt", "fleet"],
};

/** What the root of daemon/ holds; what belongs to one kind of session is in that noun's folder. */
const DAEMON_ROOT = new Set([
  ...["archive", "archive-gc", "archive-lines", "backup-pin", "log-gc"],
  ...[
    "main",
    "program",
    "daemon",
    "ports",
    "part",
    "parts",
    "rpc-server",
    "bus",
    "bind",
    "slices",
    "session-store",
    "fold",
  ],
  ...["recovery-news", "recovery-run", "recovery-state", "gc", "run", "presence", "timekeeper", "skip", "pages"],
  ...["devices", "asked-program", "live-config"],
]);

/** The packages that are bundled into the programs. */
const PACKAGES = "src/package.json";

/** What the page may take of vt/: the rest needs the world. */
const PAGE_REPLAY = "src/vt/replay.ts";

/** Rooms whose files are pure: they may not bring in packages either. */
const WITHOUT_PACKAGES = ["base", "core"];

const IMPORT = /\b(?:import|export)\b[^"'`;]*?\bfrom\s*["']([^"']+)["']|\bimport\s*\(?\s*["']([^"']+)["']/g;

export type Import = { readonly from: string; readonly line: number };

/** Everything a file imports or re-exports, types included. */
export function importsOf(text: string): Import[] {
  const bare = withoutComments(text);
  return [...bare.matchAll(IMPORT)].map((match) => ({
    from: match[1] ?? match[2] ?? "",
    line: lineOf(bare, match.index),
  }));
}

export function importDirections(file: SourceFile): Violation[] {
  if (!file.path.startsWith("src/") || file.path === PACKAGES || isTest(file.path)) return [];
  const room = file.path.split("/")[1] ?? "";
  if (ROOMS[room] === undefined)
    return [{ path: file.path, line: 1, what: `"${room}" is not a room of docs/ARCHITECTURE.md` }];
  return importsOf(file.text).flatMap(({ from, line }) => {
    const what = wrongImport(file.path, room, from);
    return what === undefined ? [] : [{ path: file.path, line, what }];
  });
}

function wrongImport(path: string, room: string, from: string): string | undefined {
  if (from.startsWith("node:") || from.startsWith("bun")) return undefined; // the doors' rule judges these
  if (!from.startsWith(".")) {
    return WITHOUT_PACKAGES.includes(room) ? `${room}/ imports no package, but it imports ${from}` : undefined;
  }
  const target = join(dirname(path), from);
  if (room === "cli" && target === "package.json") return undefined; // where the version is
  if (!target.startsWith("src/")) return `src/ imports nothing outside itself, but this is ${target}`;
  const to = target.split("/")[1] ?? "";
  if (room === "page" && to === "vt" && target !== PAGE_REPLAY) return "in a browser only vt/replay.ts works";
  if (to === room || ROOMS[room]?.includes(to)) return undefined;
  return `${room}/ may not import ${to}/`;
}

export function daemonRoot({ path }: SourceFile): Violation[] {
  const name = /^src\/daemon\/([^/]+)\.ts$/.exec(path)?.[1];
  if (name === undefined || isTest(path) || DAEMON_ROOT.has(name)) return [];
  return [{ path, line: 1, what: "the root of daemon/ holds what all nouns share; this belongs to one of them" }];
}
