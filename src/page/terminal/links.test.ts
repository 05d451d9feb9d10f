import { expect, test } from "bun:test";
import { linkHandler } from "./links.ts";

test("LI1, LI2 a link is opened with Ctrl or Cmd, and only if it is one of the web", () => {
  const opened: string[] = [];
  const { activate } = linkHandler({ show: () => undefined, open: (address) => opened.push(address) });
  const click = (address: string, held: object) => activate({ ctrlKey: false, metaKey: false, ...held }, address);
  click("https://example.org/", {});
  click("https://example.org/", { shiftKey: true, altKey: true });
  for (const address of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "vscode://x", "//x", ""])
    click(address, { ctrlKey: true });
  expect(opened).toEqual([]);
  click("https://example.org/a?b#c", { ctrlKey: true });
  click("HTTP://example.org", { metaKey: true });
  expect(opened).toEqual(["https://example.org/a?b#c", "HTTP://example.org"]);
});
