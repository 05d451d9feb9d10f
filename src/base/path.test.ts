import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { resolvedPath } from "./path.ts";

test("a path is resolved as node:path does it", () => {
  const paths = [
    "",
    ".",
    "a",
    "a/b/",
    "./a",
    "../a",
    "../../../a",
    "a/../..",
    "/",
    "//a//b",
    "/a/./b/../c",
    "a/...",
    "~/a",
  ];
  for (const from of ["/", "/x", "/x/y/", "//x/../z"]) {
    for (const path of paths)
      expect({ from, path, to: resolvedPath(from, path) }).toEqual({ from, path, to: resolve(from, path) });
  }
});
