// No import cycle in src/: type imports and imports that are loaded later count, since both tie the files together.
import { dirname, join } from "node:path";
import { isTest, type SourceFile } from "../../scripts/files.ts";
import { importsOf } from "./rooms.ts";

type Graph = ReadonlyMap<string, readonly string[]>;

/** Each cycle once, as the paths along it; the first one is repeated at the end. */
export function importCycles(files: readonly SourceFile[]): string[] {
  const graph = graphOf(files);
  const done = new Set<string>();
  const found = new Map<string, string>();
  for (const path of graph.keys()) search(graph, path, [], { done, found });
  return [...found.values()];
}

function graphOf(files: readonly SourceFile[]): Graph {
  const sources = files.filter(({ path }) => path.startsWith("src/") && /\.tsx?$/.test(path) && !isTest(path));
  const known = new Set(sources.map(({ path }) => path));
  const edges = ({ path, text }: SourceFile) =>
    importsOf(text).flatMap(({ from }) => {
      const target = from.startsWith(".") ? join(dirname(path), from) : from;
      return known.has(target) ? target : [];
    });
  return new Map(sources.map((file) => [file.path, edges(file)]));
}

type Search = { readonly done: Set<string>; readonly found: Map<string, string> };

/** Depth first: an import of a file that is still open closes a cycle. */
function search(graph: Graph, path: string, open: readonly string[], state: Search): void {
  const at = open.indexOf(path);
  if (at >= 0) {
    const cycle = open.slice(at);
    state.found.set(cycle.toSorted().join(" "), [...cycle, path].join(" → "));
    return;
  }
  if (state.done.has(path)) return;
  for (const next of graph.get(path) ?? []) search(graph, next, [...open, path], state);
  state.done.add(path);
}
