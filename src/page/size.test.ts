// What a browser loads (docs/decisions/0031-page.md).
import { expect, test } from "bun:test";
import { buildPage } from "../world/real/page-build.ts";

const FIRST = ["/", "/main.js", "/main.css"];

test("the whole page is under 250 KB, compressed, and what the first view needs under 70 KB", async () => {
  const { files } = await buildPage();
  const sizes = new Map(files.map(({ path, gzip }) => [path, Uint8Array.fromBase64(gzip).length]));
  const sum = (paths: Iterable<string>) => [...paths].reduce((all, path) => all + (sizes.get(path) ?? 0), 0);
  expect(FIRST.every((path) => sizes.has(path))).toBe(true);
  const shared = [...sizes.keys()].filter((path) => path.startsWith("/main-")); // With what is loaded later.
  expect(sum([...FIRST, ...shared])).toBeLessThan(70_000);
  expect(sum(sizes.keys())).toBeLessThan(250_000);
});
