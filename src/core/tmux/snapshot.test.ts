// What is stored of a tmux session: nothing of it is interpreted when it is restored.
import { expect, test } from "bun:test";
import {
  freeName,
  givenName,
  isBeginning,
  isLayout,
  isWaitingShell,
  lastLines,
  panesOfLayout,
  REVIVAL,
  savedDirectory,
  type TmuxPane,
  unformatted,
} from "./snapshot.ts";

const LAYOUT = "8f38,120x40,0,0{89x40,0,0,0,30x40,90,0[30x20,90,0,12,30x19,90,21,3]}";

test("a layout names its panes in order", () => {
  expect(panesOfLayout(LAYOUT)).toEqual(["%0", "%12", "%3"]);
  expect(panesOfLayout("c195,80x24,0,0,7")).toEqual(["%7"]);
  expect([LAYOUT, "even-horizontal", "8f38,80x24;kill-server", ""].map(isLayout)).toEqual([true, false, false, false]);
});

test("what tmux would expand is doubled, except for the start of a style, which it leaves alone", () => {
  expect(["a#b", "#{pid}", "#(rm)", "##", "#[x", "##[x"].map(unformatted)).toEqual([
    ...["a##b", "##{pid}", "##(rm)", "####", "#[x", "##[x"],
  ]);
});

test("a name as tmux shows it is converted to the original name", () => {
  expect(["a\\nb", "a\\\\b", "\\$HOME", "\\033x", "plain", "\\"].map(givenName)).toEqual([
    ...["a\nb", "a\\b", "$HOME", "\x1bx", "plain", "\\"],
  ]);
});

test("a waiting shell is one without anything to run", () => {
  for (const argv of [["-bash"], ["/bin/zsh", "-l"], ["fish"], ["sh", "-i"]]) expect(isWaitingShell(argv)).toBe(true);
  for (const argv of [["bash", "x.sh"], ["sh", "-c", "y"], ["bash", "-lc"], ["vim"], []])
    expect(isWaitingShell(argv)).toBe(false);
});

test("a pane has not started while it is a copy of tmux, or shows its old screen", () => {
  const server = ["tmux", "new", "-d"];
  expect(isBeginning(["tmux", "new", "-d"], server)).toBe(true);
  expect(isBeginning(["/bin/sh", "-c", REVIVAL, "/screen"], server)).toBe(true);
  for (const argv of [["tmux", "new -d"], ["tmux"], ["vim"]]) expect(isBeginning(argv, server)).toBe(false);
  expect(isBeginning(["vim"], undefined)).toBe(false);
});

test("a saved directory is found by window and pane; an empty one does not count", () => {
  const pane = (directory: string): TmuxPane => ({ title: "", directory, active: true, command: [], scrollback: "" });
  const flags = { automatic: false, active: true, last: false, zoomed: false };
  const window = { index: 4, name: "", layout: LAYOUT, size: { cols: 120, rows: 40 }, ...flags };
  const saved = { windows: [{ ...window, panes: [pane("/a"), pane("/b"), pane("")] }] };
  const found = [4, 5].map((index) => ["%0", "%12", "%3", "%7"].map((id) => savedDirectory(saved, index, id)));
  expect(found).toEqual([
    ["/a", "/b", undefined, undefined],
    [undefined, undefined, undefined, undefined],
  ]);
});

test("the end of a long text is kept, from the beginning of a line on", () => {
  expect(lastLines("one\ntwo\nthree", 100)).toBe("one\ntwo\nthree");
  expect(lastLines("one\ntwo\nthree", 8)).toBe("three");
});

test("a name that is taken gets a free number", () => {
  expect(freeName("a", new Set(["b"]))).toBe("a");
  expect(freeName("a", new Set(["a", "a-2"]))).toBe("a-3");
});
