// The manual page that npm and Debian install, as programs that read such pages see it.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT, readText } from "../../scripts/files.ts";
import { plain, prose } from "../../scripts/roff.ts";

const PAGE = "docs/holdfast.1";

test("it has every command of docs/CLI.md, with its flags", () => {
  const commands = [...readText("docs/CLI.md").matchAll(/^## (holdfast .*)$/gm)].map(([, route = ""]) => route);
  const sections = [...readText(PAGE).matchAll(/^\.SS (.*)$/gm)].map(([, route = ""]) => route.replaceAll("\\-", "-"));
  expect(sections.toSorted()).toEqual(commands.toSorted());
  expect(readText(PAGE)).toContain("\n.B \\-d, \\-\\-detach\n");
});

test("RO1 no text is taken for a request or an escape", () => {
  expect(plain(".B 'x' \\n …")).toBe("\\&.B \\[aq]x\\[aq] \\en \\[u2026]");
  expect(prose("one\n\ntwo")).toBe("one\n.PP\ntwo");
});

test.skipIf(Bun.which("groff") === null)("groff has nothing to say about it (needs groff)", () => {
  const words = ["groff", "-man", "-ww", "-Tutf8", join(ROOT, PAGE)];
  const { exitCode, stdout, stderr } = Bun.spawnSync(words, { stderr: "pipe" });
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  expect(stdout.toString()).toContain("It worked.");
});
