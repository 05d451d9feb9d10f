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

  test("lead where they were last pointed, and leave nothing else behind", () => {
    expect(links.read(path)).toBeUndefined();
    links.point(path, "/one");
    links.point(path, "/two");
    expect(links.read(path)).toBe("/two");
    expect(readdirSync(scratch)).toEqual(["link"]);
    links.remove(path);
    links.remove(path);
    expect(readdirSync(scratch)).toEqual([]);
  });

  test("what is no link leads nowhere; where there is no directory, that is a Fault", () => {
    writeFileSync(path, "");
    expect(links.read(path)).toBeUndefined();
    expect(() => links.point(join(scratch, "none/link"), "/x")).toThrow("ENOENT");
  });
});
