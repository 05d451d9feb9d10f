// What is typed into a shell: exactly the original words, and no control key.
import { expect, test } from "bun:test";
import { isInteractiveShell, typable } from "./shell.ts";

const WORDS = [
  "vim",
  "a b",
  "it's",
  "$(rm)",
  "`x`",
  "-n",
  "~",
  "=ls",
  "!!",
  "a\\b",
  "é 漢",
  "",
  "*",
  "#c",
  "a;b&c|d>e",
];

test("SH1 a shell reads back exactly the words, with nothing expanded or split", () => {
  for (const shell of ["/bin/sh", "/bin/bash"]) {
    const line = typable(["printf", "%s\\n", ...WORDS], shell) ?? "";
    const read = Bun.spawnSync([shell, "-c", line]).stdout.toString().split("\n").slice(0, -1);
    expect(read).toEqual(WORDS);
  }
});

test("SH1 shells with their own quoting rules get quotes in that form", () => {
  expect(typable(["x", "it's a\\b"], "/usr/bin/fish")).toBe("x 'it\\'s a\\\\b'");
  expect(typable(["x", "it's!"], "/bin/tcsh")).toBe("x 'it'\\''s\\!'");
  expect(typable(["x", "it's!"], "")).toBe("x 'it'\\''s!'");
});

test("SH2 a command with a control key, or too long for one line, is not typed at all", () => {
  for (const word of ["a\nb", "a\rb", "\x03", "\x1b[A", "a\x7f", "\u009b", "a\u2028b", "x".repeat(5000)])
    expect(typable(["x", word], "/bin/bash")).toBeUndefined();
  expect(typable([], "/bin/bash")).toBeUndefined();
});

test("a shell that waits for a person has no script and no command", () => {
  for (const argv of [["-bash"], ["/bin/zsh", "-l"], ["bash", "--rcfile", "x"], ["sh", "-i"]])
    expect(isInteractiveShell(argv)).toBe(true);
  for (const argv of [["bash", "x.sh"], ["sh", "-c", "y"], ["bash", "-lc", "y"], ["vim"], []])
    expect(isInteractiveShell(argv)).toBe(false);
});
