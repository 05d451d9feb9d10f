import { describe, expect, test } from "bun:test";
import { decideTerminal } from "./decide.ts";
import { applyTerminal } from "./events.ts";
import { effectsOf, type Recipe, type Terminal, type TerminalCommand, type TerminalState } from "./terminal.ts";

const AT = "2026-01-01T00:00:00.000Z";
const RECIPE: Recipe = { argv: ["sh"], cwd: "/tmp", env: { A: "1" }, size: { cols: 80, rows: 24 } };
const CHILD = { pid: 7, startTime: 70, bootId: "boot" };

const STATES: Readonly<Record<TerminalState["kind"], TerminalState>> = {
  starting: { kind: "starting" },
  running: { kind: "running", ...CHILD, holder: 6 },
  ended: { kind: "ended", code: 0, signal: null, at: AT },
  uncertain: { kind: "uncertain", reason: "its holder is gone", child: undefined },
};

function terminal(changes: Partial<Terminal> = {}): Terminal {
  const fixed = { id: "t1", name: "one", lane: "default", recipe: RECIPE, generation: 1, createdAt: AT };
  const restoring = { unset: [], policy: "auto", restored: undefined, restorations: [], rollingBack: false } as const;
  return { ...fixed, ...restoring, state: STATES.running, signal: undefined, removed: false, ...changes };
}

function decide(command: TerminalCommand, ...terminals: readonly Terminal[]) {
  return decideTerminal(new Map(terminals.map((one) => [one.id, one])), command, AT);
}

/** The names of the events, or the code of the refusal. */
function verdict(command: TerminalCommand, ...terminals: readonly Terminal[]): string {
  const decided = decide(command, ...terminals);
  return decided.ok ? decided.value.map(({ event }) => event).join(" ") : `no: ${decided.error.code}`;
}

const COMMANDS: Readonly<Record<string, TerminalCommand>> = {
  "rename to another": { kind: "rename", id: "t1", name: "two" },
  "rename to the same": { kind: "rename", id: "t1", name: "one" },
  "move to another": { kind: "move", id: "t1", lane: "work" },
  "move to the same": { kind: "move", id: "t1", lane: "default" },
  signal: { kind: "signal", id: "t1", signal: "SIGTERM" },
  remove: { kind: "remove", id: "t1" },
  "started, as recorded": { kind: "started", id: "t1", child: CHILD, holder: 6 },
  "started, another": { kind: "started", id: "t1", child: { ...CHILD, startTime: 71 }, holder: 6 },
  signalled: { kind: "signalled", id: "t1" },
  ended: { kind: "ended", id: "t1", code: 3, signal: null },
  lost: { kind: "lost", id: "t1", reason: "gone" },
};

/** Every command in every state: starting, running, ended, uncertain. An empty result is a repeat. */
const EXPECTED: Readonly<Record<string, readonly [string, string, string, string]>> = {
  "rename to another": ["terminal.renamed", "terminal.renamed", "terminal.renamed", "terminal.renamed"],
  "rename to the same": ["", "", "", ""],
  "move to another": ["terminal.moved", "terminal.moved", "terminal.moved", "terminal.moved"],
  "move to the same": ["", "", "", ""],
  signal: ["terminal.signal.requested", "terminal.signal.requested", "no: not-running", "no: not-running"],
  remove: ["no: still-running", "no: still-running", "terminal.removed", "terminal.removed"],
  "started, as recorded": ["terminal.started", "", "", "terminal.started"],
  "started, another": ["terminal.started", "terminal.started", "", "terminal.started"],
  signalled: ["", "", "", ""],
  ended: ["terminal.ended", "terminal.ended", "", "terminal.ended"],
  lost: ["terminal.uncertain", "terminal.uncertain", "", ""],
};

describe("every command in every state", () => {
  test.each(Object.keys(COMMANDS))("%s", (name) => {
    const command = COMMANDS[name] ?? COMMANDS["remove"];
    if (command === undefined) throw new Error(`there is a command ${name}`);
    const [starting = "", running = "", ended = "", uncertain = ""] = EXPECTED[name] ?? [];
    const found = Object.fromEntries(
      Object.entries(STATES).map(([kind, state]) => [kind, verdict(command, terminal({ state }))]),
    );
    expect(found).toEqual({ starting, running, ended, uncertain });
  });

  test("the table has all of them", () => {
    expect(Object.keys(EXPECTED)).toEqual(Object.keys(COMMANDS));
  });

  test("a terminal that was removed or never existed is unknown to every command", () => {
    for (const command of Object.values(COMMANDS)) {
      expect(verdict(command, terminal({ removed: true }))).toBe("no: unknown");
      expect(verdict(command)).toBe("no: unknown");
    }
  });
});

describe("repeats", () => {
  test("an outcome reported twice is one event", () => {
    for (const name of ["started, as recorded", "ended", "lost"]) {
      const command = COMMANDS[name];
      if (command === undefined) throw new Error(`there is a command ${name}`);
      const before = terminal({ state: STATES.starting });
      const first = decide(command, before);
      const after = first.ok ? first.value.reduce<Terminal>(applyTerminal, before) : before;
      expect(first.ok && first.value.length).toBe(1);
      expect(verdict(command, after)).toBe("");
    }
  });

  test("a signal is confirmed once", () => {
    const waiting = terminal({ signal: { name: "SIGTERM" } });
    const signalled = decide({ kind: "signalled", id: "t1" }, waiting);
    expect(signalled).toEqual({ ok: true, value: [{ event: "terminal.signalled", id: "t1", data: {} }] });
    const after = signalled.ok ? signalled.value.reduce<Terminal>(applyTerminal, waiting) : waiting;
    expect(verdict({ kind: "signalled", id: "t1" }, after)).toBe("");
  });
});

describe("creating", () => {
  const create = (changes: Partial<Recipe> = {}, name = "new", lane = "default"): TerminalCommand => ({
    kind: "create",
    id: "t2",
    name,
    lane,
    recipe: { ...RECIPE, ...changes },
  });

  test("gives one event with everything a later start needs", () => {
    const data = { name: "new", lane: "default", ...RECIPE, generation: 1, at: AT };
    expect(decide(create())).toEqual({ ok: true, value: [{ event: "terminal.created", id: "t2", data }] });
  });

  test("a name is taken while a terminal has it, and free again once the terminal is removed", () => {
    expect(verdict(create({}, "one"), terminal())).toBe("no: name-taken");
    expect(verdict(create({}, "one"), terminal({ state: STATES.ended }))).toBe("no: name-taken");
    expect(verdict(create({}, "one"), terminal({ removed: true }))).toBe("terminal.created");
    expect(verdict({ kind: "rename", id: "t1", name: "two" }, terminal(), terminal({ id: "t2", name: "two" }))).toBe(
      "no: name-taken",
    );
  });

  test("an ended terminal gives its name back to one that replaces it; no other does", () => {
    const create2 = (replaces: string, name = "one") => ({ ...create({}, name), replaces });
    const over = terminal({ state: STATES.ended });
    expect(verdict(create2("t1"), over)).toBe("terminal.removed terminal.created");
    expect(verdict(create2("t1"), terminal({ state: STATES.ended, removed: true }))).toBe("terminal.created");
    expect(verdict(create2("t1", "new"), over)).toBe("terminal.created"); // It has another name.
    expect(verdict(create2("t9"), over)).toBe("no: name-taken");
    for (const kind of ["starting", "running", "uncertain"] as const)
      expect(verdict(create2("t1"), terminal({ state: STATES[kind] }))).toBe("no: name-taken");
  });

  test.each(["", " ", "-x", ".x", "a b", "a/b", "ä", "a\n", "x".repeat(65)])(
    "%j is neither a name nor a lane",
    (bad) => {
      expect(verdict(create({}, bad))).toBe("no: bad-name");
      expect(verdict(create({}, "new", bad))).toBe("no: bad-name");
      expect(verdict({ kind: "rename", id: "t1", name: bad }, terminal())).toBe("no: bad-name");
      expect(verdict({ kind: "move", id: "t1", lane: bad }, terminal())).toBe("no: bad-name");
    },
  );

  test.each(["a", "A.b-c_1", "0", "x".repeat(64)])("%j is a name", (good) => {
    expect(verdict(create({}, good))).toBe("terminal.created");
  });

  test.each<[string, Partial<Recipe>, string]>([
    ["without a command", { argv: [] }, "bad-command"],
    ["with an empty program", { argv: ["", "x"] }, "bad-command"],
    ["with a NUL in a word", { argv: ["sh", "a\0b"] }, "bad-command"],
    ["with a NUL in a variable", { env: { A: "a\0b" } }, "bad-command"],
    ["in a relative directory", { cwd: "tmp" }, "bad-directory"],
    ["without columns", { size: { cols: 0, rows: 24 } }, "bad-size"],
    ["with half a row", { size: { cols: 80, rows: 0.5 } }, "bad-size"],
    ["larger than the system counts", { size: { cols: 65_536, rows: 24 } }, "bad-size"],
    ["without a size", { size: { cols: Number.NaN, rows: 24 } }, "bad-size"],
  ])("%s is refused while the client can still be told", (_, changes, code) => {
    expect(verdict(create(changes))).toBe(`no: ${code}`);
  });

  test.each(["TERM", "SIG", "sigterm", "SIGTERM; rm", "", "15"])("%j is not a signal", (signal) => {
    expect(verdict({ kind: "signal", id: "t1", signal }, terminal())).toBe("no: bad-signal");
  });
});

describe("effects are derived from the state", () => {
  test("everything without an outcome is to be done, and nothing else", () => {
    const signal = { name: "SIGINT" };
    expect(effectsOf(terminal({ state: STATES.starting }))).toEqual([{ kind: "start", id: "t1" }]);
    expect(effectsOf(terminal({ state: STATES.starting, signal }))).toEqual([{ kind: "start", id: "t1" }]);
    expect(effectsOf(terminal())).toEqual([]);
    expect(effectsOf(terminal({ signal }))).toEqual([{ kind: "signal", id: "t1", signal: "SIGINT" }]);
    expect(effectsOf(terminal({ state: STATES.ended }))).toEqual([]);
    expect(effectsOf(terminal({ state: STATES.uncertain, signal }))).toEqual([]);
    expect(effectsOf(terminal({ state: STATES.ended, removed: true }))).toEqual([{ kind: "discard", id: "t1" }]);
  });

  test("a signal for a starting terminal waits for its start", () => {
    const starting = terminal({ state: STATES.starting });
    const events = [
      { event: "terminal.signal.requested", id: "t1", data: { signal: "SIGHUP" } },
      {
        event: "terminal.started",
        id: "t1",
        data: { pid: 7, start_time: 70, boot_id: "boot", holder: 6, generation: 1 },
      },
    ] as const;
    const running = events.reduce<Terminal>(applyTerminal, starting);
    expect(effectsOf(running)).toEqual([{ kind: "signal", id: "t1", signal: "SIGHUP" }]);
  });
});
