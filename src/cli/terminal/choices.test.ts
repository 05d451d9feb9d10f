// Small decisions of the terminal commands: which terminal, key, signal and environment.

import { expect, test } from "bun:test";
import { endedText, exitCodeOf, signalNamed } from "../../base/exit-code.ts";
import { pickTerminal } from "../../core/terminal/find.ts";
import { terminalEnvironment, withoutOurs } from "../../home/environment.ts";
import { detachKey } from "./detach-key.ts";
import { politeSignal } from "./end.ts";

const A = { id: "3f2a9c0d11224e55a6677889900aabbc", name: "work" };
const B = { id: "3f2b9c0d11224e55a6677889900aabbc", name: "3f2a" };

test("FD1 an exact name wins, then a prefix of an id, or of a name unless it has to be exact", () => {
  expect(pickTerminal([A, B], "work", "exact")).toEqual({ ok: true, value: A });
  expect(pickTerminal([A, B], "3f2a", "exact")).toEqual({ ok: true, value: B });
  expect(pickTerminal([A, B], "3f2a9", "exact")).toEqual({ ok: true, value: A });
  for (const [key, code] of [
    ["", "unknown"],
    ["wor", "unknown"],
    ["zzz", "unknown"],
    ["3f2", "ambiguous"],
  ] as const) {
    expect(pickTerminal([A, B], key, "exact")).toMatchObject({ ok: false, error: { code } });
  }
  expect(pickTerminal([A, B], "wor", "prefix")).toEqual({ ok: true, value: A });
  expect(pickTerminal([A, B], "3f2a", "prefix")).toEqual({ ok: true, value: B });
  expect(pickTerminal([A, B], "3", "prefix")).toMatchObject({ ok: false, error: { code: "ambiguous" } });
  const error = { code: "unknown", hint: expect.stringContaining("Did you mean work?") };
  expect(pickTerminal([A, B], "wokr", "prefix")).toMatchObject({ ok: false, error });
});

test("the detach key is found as a byte and as other keyboard protocols send it; it can be disabled", () => {
  const split = (setting: string | false, text: string) =>
    detachKey(setting)
      .split(Buffer.from(text))
      .map(({ kind, bytes }) => [kind, Buffer.from(bytes).toString()]);
  expect(split("ctrl-\\", "ab\u001cc")).toEqual([
    ["text", "ab"],
    ["key", "\u001c"],
    ["text", "c"],
  ]);
  expect(split("ctrl-\\", "\u001c\u001b[92;5u\u001b[27;5;92~")).toEqual([
    ["key", "\u001c"],
    ["key", "\u001b[92;5u"],
    ["key", "\u001b[27;5;92~"],
  ]);
  expect(split("ctrl-a", "x\u0001")).toContainEqual(["key", "\u0001"]);
  expect(split("ctrl-a", "\u001b[97;5u")).toEqual([["key", "\u001b[97;5u"]]);
  expect(split("ctrl-\\", "plain \u001b[A")).toEqual([["text", "plain \u001b[A"]]);
  expect(split(false, "\u001c")).toEqual([["text", "\u001c"]]);
});

test("EN1 an interactive shell gets SIGHUP, everything else SIGTERM", () => {
  for (const argv of [["/bin/bash"], ["-zsh"], ["fish", "-l"], ["bash", "--norc"]])
    expect(politeSignal(argv)).toBe("SIGHUP");
  for (const argv of [["bash", "-c", "x"], ["sh", "script"], ["sleep", "1"], ["/opt/publish"], []]) {
    expect(politeSignal(argv)).toBe("SIGTERM");
  }
});

test("an exit code is the program's own, or 128 plus the signal's number", () => {
  expect([exitCodeOf({ code: 7, signal: null }), exitCodeOf({ code: null, signal: "SIGTERM" })]).toEqual([7, 143]);
  expect(endedText({ code: null, signal: "SIGKILL" })).toBe("was ended by SIGKILL");
  expect(["term", "SIGTERM", "15"].map(signalNamed)).toEqual(Array(3).fill("SIGTERM"));
  expect(signalNamed("nonsense")).toBeUndefined();
});

test("NV1 a new terminal gets the environment without our variables and the window's", () => {
  const ours = { HOLDFAST_TERMINAL: "x", HOLDFAST_SAFE_MODE: "y", HOLDFAST_HEARTBEAT_MS: "1", BUN_OPTIONS: "z" };
  const theirs = { PATH: "/bin", HOLDFAST_HOME: "h", SSH_AUTH_SOCK: "s" };
  expect(withoutOurs({ ...ours, ...theirs })).toEqual(theirs);
  const made = terminalEnvironment({ ...ours, ...theirs, TMUX: "t", COLUMNS: "80", TERM: "dumb" }, "xterm-256color");
  expect(made).toEqual({ ...theirs, TERM: "xterm-256color" });
});
