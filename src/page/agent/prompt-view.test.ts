import { expect, test } from "bun:test";
import { promptParts } from "./prompt-view.ts";

test("a command is shown whole, with what it is for, and the rest as JSON", () => {
  const parts = promptParts("Bash", { command: "make\nmake install", description: "builds", timeout: 5 });
  expect(parts).toEqual([
    { kind: "command", lines: ["make", "make install"] },
    { kind: "note", text: "builds" },
    { kind: "json", lines: ["{", '  "timeout": 5', "}"] },
  ]);
});

test("edits are shown as what they change, one after another", () => {
  const one = { file_path: "/a.ts", old_string: "a\nb", new_string: "a\n\tc", replace_all: true };
  const lines = [
    { kind: "kept", text: "a" },
    { kind: "removed", text: "b" },
    { kind: "added", text: "    c" },
  ];
  expect(promptParts("Edit", one)).toEqual([
    { kind: "edit", path: "/a.ts", lines, note: "every place in the file" },
  ] as never);
  const edits = [
    { old_string: "x", new_string: "y" },
    { old_string: "p", new_string: "q" },
  ];
  expect(promptParts("MultiEdit", { file_path: "/a.ts", edits }).map(({ kind }) => kind)).toEqual(["edit", "edit"]);
  expect(promptParts("Write", { file_path: "/a.ts", content: "x\n" })).toMatchObject([
    { kind: "edit", lines: [{ kind: "added", text: "x" }], note: "the whole file becomes this" },
  ]);
});

test("PV2 a character that cannot be seen is written out", () => {
  const [part] = promptParts("Bash", { command: "ls\u202e\u200b; rm" });
  expect(part).toEqual({ kind: "command", lines: ["ls\\u202e\\u200b; rm"] });
});

test("PV1 PV3 what is unknown, or only looks like something known, is JSON", () => {
  expect(promptParts("X", "text")).toEqual([{ kind: "json", lines: ['"text"'] }]);
  expect(promptParts("X", {})).toMatchObject([{ kind: "note" }]);
  expect(promptParts("Bash", { command: 3 })).toMatchObject([{ kind: "json" }]);
  const sneaky = { file_path: "/a", edits: [{ old_string: "a", new_string: "b", and: "more" }] };
  expect(promptParts("MultiEdit", sneaky)).toMatchObject([{ kind: "json" }]);
  const part = promptParts("Edit", { file_path: "/a", old_string: "a", new_string: "b", more: "1" });
  expect(part.map(({ kind }) => kind)).toEqual(["edit", "json"]);
  expect(promptParts("Other", { file_path: "/a", content: "x" })).toMatchObject([{ kind: "json" }]);
});
