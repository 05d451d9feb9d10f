// Adopted tmux sessions: which command gives which event in which state, and what the evidence proves.
import { describe, expect, test } from "bun:test";
import { decideTmux } from "./decide.ts";
import { applyTmux, type TmuxEvent } from "./events.ts";
import { type Evidence, judgeTmux } from "./judge.ts";
import { findCare, type TmuxCare, type TmuxCommand, type TmuxPlace, tmuxEffectsOf } from "./tmux.ts";

const AT = "2026-01-01T00:00:00.000Z";
const SOON = "2026-01-01T00:09:00.000Z";
const LATER = "2026-01-01T00:11:00.000Z";
const PLACE: TmuxPlace = { server: { pid: 7, startTime: 70, bootId: "boot" }, session: "$1" };
const NEXT: TmuxPlace = { server: { pid: 8, startTime: 80, bootId: "boot" }, session: "$0" };

function care(changes: Partial<TmuxCare> = {}): TmuxCare {
  const state = { kind: "kept", place: PLACE } as const;
  const plain = { id: "c1", socket: "/s", name: "work", policy: "auto", adoptedAt: AT, released: false } as const;
  return { ...plain, state, recreated: undefined, ...changes };
}

const STATES = {
  kept: care(),
  lost: care({ state: { kind: "lost", reason: "r", at: AT, wanted: false } }),
  wanted: care({ state: { kind: "lost", reason: "r", at: AT, wanted: true } }),
  ended: care({ state: { kind: "ended", reason: "r", at: AT } }),
  uncertain: care({ state: { kind: "uncertain", reason: "r" } }),
  released: care({ released: true }),
};

function verdict(command: TmuxCommand, before: TmuxCare, at = LATER): string {
  const decided = decideTmux(new Map([[before.id, before]]), command, at);
  return decided.ok ? decided.value.map(({ event }) => event).join(" ") : `no: ${decided.error.code}`;
}

const COMMANDS: Record<string, readonly [TmuxCommand, ...string[]]> = {
  "adopt again": [
    { kind: "adopt", id: "c1", socket: "/s", name: "work", policy: "auto", place: PLACE },
    ...["", "tmux.adopted", "tmux.adopted", "tmux.adopted", "tmux.adopted", "tmux.adopted"],
  ],
  "adopt as another": [
    { kind: "adopt", id: "c2", socket: "/s", name: "work", policy: "auto", place: PLACE },
    ...["no: adopted", "tmux.adopted", "tmux.adopted", "tmux.adopted", "tmux.adopted", "tmux.adopted"],
  ],
  release: [
    { kind: "release", id: "c1" },
    ...["tmux.released", "tmux.released", "tmux.released", "tmux.released", "tmux.released", "no: unknown"],
  ],
  want: [
    { kind: "want", id: "c1" },
    ...["no: not-lost", "tmux.wanted", "", "tmux.wanted", "no: not-lost", "no: unknown"],
  ],
  named: [
    { kind: "named", id: "c1", name: "new" },
    ...["tmux.named", "tmux.named", "tmux.named", "tmux.named", "", "no: unknown"],
  ],
  lost: [{ kind: "lost", id: "c1", reason: "r", orderly: false }, "tmux.lost", "", "", "", "", "no: unknown"],
  "lost in order": [{ kind: "lost", id: "c1", reason: "r", orderly: true }, "tmux.lost", "", "", "", "", "no: unknown"],
  closed: [{ kind: "closed", id: "c1", reason: "r" }, "tmux.ended", "", "", "", "", "no: unknown"],
  recreated: [
    { kind: "recreated", id: "c1", name: "work", place: NEXT, notes: [] },
    ...["tmux.recreated", "tmux.recreated", "tmux.recreated", "tmux.recreated", "", "no: unknown"],
  ],
};

describe("decided", () => {
  test.each(Object.keys(COMMANDS))("%s", (name) => {
    const [command, ...expected] = COMMANDS[name] ?? [];
    if (command === undefined) throw new Error(`there is a command ${name}`);
    expect(Object.values(STATES).map((before) => verdict(command, before))).toEqual(expected);
  });

  test("a server that ends in order shortly after its session was recreated was meant to; a killed one never", () => {
    const back = care({ recreated: { at: AT, notes: [] } });
    const lost = (orderly: boolean): TmuxCommand => ({ kind: "lost", id: "c1", reason: "r", orderly });
    expect(verdict(lost(true), back, SOON)).toBe("tmux.ended");
    expect(verdict(lost(true), back, LATER)).toBe("tmux.lost");
    expect(verdict(lost(false), back, SOON)).toBe("tmux.lost");
  });

  test("a lost session is recreated automatically only if the policy says so", () => {
    for (const policy of ["auto", "ask", "never"] as const) {
      const before = care({ policy });
      const decided = decideTmux(
        new Map([["c1", before]]),
        { kind: "lost", id: "c1", reason: "r", orderly: false },
        AT,
      );
      const after = decided.ok ? decided.value.reduce<TmuxCare>(applyTmux, before) : before;
      expect(tmuxEffectsOf(after)).toEqual(policy === "auto" ? [{ kind: "recreate", id: "c1" }] : []);
      const wanted = applyTmux(after, { event: "tmux.wanted", id: "c1", data: { at: AT } });
      expect(tmuxEffectsOf(wanted)).toEqual([{ kind: "recreate", id: "c1" }]);
      expect(tmuxEffectsOf({ ...wanted, released: true })).toEqual([]);
    }
  });

  test("another policy is another adoption of the same session", () => {
    const again: TmuxCommand = { kind: "adopt", id: "c1", socket: "/s", name: "work", policy: "ask", place: PLACE };
    expect(verdict(again, care())).toBe("tmux.adopted");
  });
});

test("an event before the adoption throws; a later adoption keeps the time of the first one", () => {
  expect(() => applyTmux(undefined, { event: "tmux.released", id: "c1", data: { at: AT } })).toThrow("never adopted");
  const stored = { session: "$1", server: { pid: 7, start_time: 70, boot_id: "boot" } };
  const adopted: TmuxEvent = {
    event: "tmux.adopted",
    id: "c1",
    data: { socket: "/s", name: "work", policy: "auto", at: LATER, ...stored },
  };
  expect(applyTmux(undefined, adopted)).toEqual(care({ adoptedAt: LATER }));
  expect(applyTmux(STATES.ended, adopted)).toEqual(care());
});

describe("found by a person", () => {
  const other = care({ id: "c2", state: STATES.ended.state });
  const key = (text: string, ...cares: TmuxCare[]) => {
    const found = findCare(cares, text);
    return found.ok ? found.value.id : found.error.code;
  };

  test("by name, id or a prefix of an id; existing sessions before lost ones", () => {
    expect(key("work", care(), other)).toBe("c1");
    expect(key("c2", care(), other)).toBe("c2");
    expect(key("c", care({ name: "x" }), care({ id: "d1" }))).toBe("c1");
    expect(key("work", care(), care({ id: "c3" }))).toBe("ambiguous");
    expect(key("work", care({ released: true }))).toBe("unknown");
    expect(key("", care())).toBe("unknown");
  });
});

describe("judged", () => {
  const seen = { session: "$1", name: "work", mark: "" };
  const answered = (server = PLACE.server, ...sessions: (typeof seen)[]) => ({ server, sessions });
  const judge = (evidence: Partial<Evidence>) =>
    judgeTmux(care(), { answer: undefined, alive: true, orderly: false, ...evidence }).kind;

  test("exists: by its number on its own server, or by our mark on any", () => {
    expect(judge({ answer: answered(PLACE.server, seen) })).toBe("there");
    expect(judge({ answer: answered(NEXT.server, seen), alive: false })).toBe("lost");
    expect(judge({ answer: answered(NEXT.server, { ...seen, mark: "c1" }), alive: false })).toBe("there");
    expect(judge({ answer: answered(NEXT.server, { ...seen, mark: "c2" }), alive: false })).toBe("lost");
  });

  test("lost only if its process is gone, closed only if its own server does not know it", () => {
    expect(judge({ alive: false })).toBe("lost");
    expect(judge({})).toBe("unknown");
    expect(judge({ answer: answered(PLACE.server) })).toBe("closed");
    expect(judge({ answer: answered(NEXT.server) })).toBe("unknown");
    expect(judgeTmux(care(), { answer: undefined, alive: false, orderly: true })).toMatchObject({ orderly: true });
  });
});
