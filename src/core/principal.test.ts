import { expect, test } from "bun:test";
import { type Caller, mayAct, notAllowed, type Relative, RIGHTS, type Role, standingOf } from "./principal.ts";

const AGENT: Role = { kind: "agent", agent: "a".repeat(32) };
const OURS: Role = { kind: "ours" };
const OTHER: Role = { kind: "other" };

/** Each process is older than those below it, unless it says otherwise. */
function table(...rows: readonly (readonly [pid: number, ppid: number, role?: Role, startTime?: number])[]) {
  return new Map<number, Relative>(
    rows.map(([pid, ppid, role = OTHER, startTime = pid]) => [pid, { pid, ppid, startTime, role }]),
  );
}

const standing = (pid: number, processes: ReadonlyMap<number, Relative>) =>
  standingOf(pid, (of) => processes.get(of)).principal;

test("PR1 a process is the operator's if no agent is above it", () => {
  const shells = table([1, 0], [20, 1], [30, 20], [40, 30]);
  expect([40, 1].map((pid) => standing(pid, shells))).toEqual(["operator", "operator"]);
});

test("PR2 a process below an agent's holder is the agent's, however deep", () => {
  const below = table([1, 0], [20, 1], [30, 20, AGENT], [40, 30], [50, 40], [60, 50]);
  expect(standingOf(60, (pid) => below.get(pid))).toEqual({ principal: "agent", agent: "a".repeat(32) });
  expect(standing(30, below)).toBe("agent");
  expect(standing(20, below)).toBe("operator");
});

test("PR2 PR3 a process below an agent CLI is an agent's in a terminal of this home, and nowhere else", () => {
  const cli: Role = { kind: "cli", name: "claude" };
  const terminal: Role = { kind: "terminal" };
  const typed = table([1, 0], [10, 1, terminal], [20, 10], [30, 20, cli], [40, 30]);
  expect(standingOf(40, (pid) => typed.get(pid))).toEqual({ principal: "agent", cli: "claude" });
  expect([30, 20, 10].map((pid) => standing(pid, typed))).toEqual(["agent", "operator", "operator"]);
  const outside = table([1, 0], [20, 1, cli], [30, 20], [40, 30, OURS], [50, 40], [60, 30, terminal], [70, 60]);
  expect([30, 50, 70].map((pid) => standing(pid, outside))).toEqual(["operator", "operator", "operator"]);
  const caller: Caller = { principal: "agent", cli: "claude", pid: 40, exe: null, tty: null };
  expect(mayAct(caller)).toBe(false);
  expect(notAllowed({ caller, did: "x" }).message).toStartWith(
    "This process (40) belongs to claude, which runs in a terminal",
  );
});

test("PR3 what is above the nearest of our own programs does not count", () => {
  const started = table([1, 0], [10, 1, AGENT], [20, 10, OURS], [30, 20], [40, 30, AGENT], [50, 40]);
  expect([30, 20, 50].map((pid) => standing(pid, started))).toEqual(["operator", "operator", "agent"]);
});

test("PR4 a process that is gone is unknown, and unknown ones may only look", () => {
  expect(standing(9, table([1, 0]))).toBe("unknown");
  const caller: Caller = { principal: "unknown", pid: null, exe: null, tty: null };
  expect(mayAct(caller)).toBe(false);
});

test("PR5 a parent that seems younger than its child is another process: the walk begins again", () => {
  let walks = 0;
  const reused = table([1, 0], [50, 30, OTHER, 50], [30, 1, AGENT, 90]);
  const adopted = table([1, 0], [50, 1, OTHER, 50], [30, 1, AGENT, 90]);
  const look = (pid: number) => {
    if (pid === 50) walks += 1;
    return (walks > 1 ? adopted : reused).get(pid);
  };
  expect(standingOf(50, look).principal).toBe("operator");
  expect(walks).toBeGreaterThan(1);
  expect(standing(50, reused)).toBe("unknown"); // It never settles.
});

test("PR5 a parent that ends while we look is looked for again", () => {
  let seen = 0;
  const before = table([1, 0], [10, 1, AGENT], [40, 30, OTHER, 40]); // 30 has just ended.
  const after = table([1, 0], [10, 1, AGENT], [40, 10, OTHER, 40]); // The holder got its child.
  const look = (pid: number) => {
    seen += 1;
    return (seen > 2 ? after : before).get(pid);
  };
  expect(standingOf(40, look).principal).toBe("agent");
});

test("a chain deeper than anyone nests is unknown", () => {
  const deep = table(...Array.from({ length: 2000 }, (_, at) => [at + 1, at] as const));
  expect(standing(2000, deep)).toBe("unknown");
});

test("the refusal names the agent, what it tried, and what to do", () => {
  const caller: Caller = { principal: "agent", agent: "b".repeat(32), pid: 7, exe: "/bin/sh", tty: null };
  const { code, message, hint } = notAllowed({ caller, did: "prompt.answer" });
  expect(code).toBe("not-allowed");
  expect(message).toContain("(7) belongs to the agent bbbbbbbbbbbb");
  expect(message).toContain("prompt.answer");
  expect(hint).toContain("operator");
});

test("only reading methods may be asked by everyone", () => {
  const looking = Object.entries(RIGHTS).flatMap(([method, right]) => (right === "look" ? [method] : []));
  const words =
    /^(?:hello|(?:notify\.)?status|attention|subscribe|search|workflow\.(?:changes|items)|recovery\.(?:report|aside)|.*\.(?:list|find|show|queue|inbox|messages|history|screenAt))$/;
  expect(looking.filter((method) => !words.test(method))).toEqual([]);
});
