// Our programs start in tens of milliseconds because they load little. These tests keep it that way.
import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { readText } from "../../scripts/files.ts";

const STATIC = /^(?:import|export)\s(?!type\b)[^"'`;]*?from\s*["']([^"']+)["']/gm;

/** Every file of ours, and every package, that is loaded together with `path`. */
function loadedWith(path: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  if (!path.endsWith(".ts")) return seen;
  for (const [, from = ""] of readText(path).matchAll(STATIC)) {
    loadedWith(from.startsWith(".") ? join(dirname(path), from) : from, seen);
  }
  return seen;
}

test("before the words of a command line are understood, no command, no log and no stricli is loaded", () => {
  const loaded = [...loadedWith("src/cli/program.ts")];
  expect(loaded.filter((path) => path.startsWith("src/log/") || path.startsWith("src/core/"))).toEqual([]);
  expect(loaded.filter((path) => !path.startsWith("src/"))).toEqual(["node:fs"]);
  expect(loaded.length).toBeLessThan(28);
});

test("the web host loads HTTP/2, TLS and node:crypto, which most homes never need, with its first tunnel", () => {
  const loaded = [...loadedWith("src/web/program.ts")];
  expect(loaded).toContain("src/world/real/tunnel.ts");
  const others = loaded.filter((path) => !path.startsWith("src/"));
  expect(others.sort()).toEqual(["node:fs", "node:os", "node:path"]);
});

test("what the launcher starts loads nothing of the system's: node:fs alone takes half an empty script's time", () => {
  const loaded = [...loadedWith("src/cli/quick.ts")];
  expect(loaded.sort()).toEqual([
    ...["src/cli/frequent.ts", "src/cli/quick.ts", "src/wire/version.ts", "src/world/quick.ts"],
    ...["src/world/real/program.ts", "src/world/root.ts"],
  ]);
});
