import { expect, test } from "bun:test";
import { isWebMethod, pageMay } from "./rights.ts";

test("a device that may look opens no terminal and answers nothing; one that may answer does only that", () => {
  const methods = [
    "web.health",
    "workflow.items",
    "web.checkpoints",
    "prompt.list",
    "prompt.answer",
    "workflow.resolve",
    "prompt.always",
    "web.new",
    "web.workflow",
    "web.run",
  ] as const;
  const allowed = (["look", "answer", "type"] as const).map((rights) => methods.filter((one) => pageMay(rights, one)));
  expect(allowed).toEqual([methods.slice(0, 4), methods.slice(0, 6), [...methods]]);
  expect(["web.new", "web.none", "constructor", "status"].filter(isWebMethod)).toEqual(["web.new"]);
});
