import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realLinks } from "./links.ts";

const scratch = mkdtempSync(join(tmpdir(), "links-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe("links", () => {
  const links = realLinks();
  const path = join(scratch, "link");

  test("lead where they were last pointed, and nothing else is left behind", () => {
    expect(links.read(path)).toBeUndefined();
    links.point(path, "/one");
    links.point(path, "/two");
    expect(links.read(path)).toBe("/two");
    expect(readdirSync(scratch)).toEqual(["link"]);
    links.remove(path);
    links.remove(path);
    expect(readdirSync(scratch)).toEqual([]);
  });

  test("a path that is not a link leads nowhere; a missing directory is a Fault", () => {
    writeFileSync(path, "");
    expect(links.read(path)).toBeUndefined();
    expect(() => links.point(join(scratch, "none/link"), "/x")).toThrow("ENOENT");
  });
});
