import { expect, test } from "bun:test";
import { cells, changesOf, machine, toMermaid, unreachable } from "./machine.ts";

type Light = "red" | "green" | "burnt-out";
type Sign = "timer" | "failure";

const light = machine<Light, Sign>({
  name: "Light",
  initial: "red",
  table: {
    red: { timer: "green", failure: "burnt-out" },
    green: { timer: "red" },
    "burnt-out": {},
  },
});

test("M1 a table with a missing row, or with a cell that leads to an unknown state, does not compile", () => {
  // @ts-expect-error the row of "burnt-out" is missing
  machine<Light, Sign>({ name: "x", initial: "red", table: { red: {}, green: {} } });
  // @ts-expect-error "blue" is not a state
  machine<Light, Sign>({ name: "x", initial: "red", table: { red: { timer: "blue" }, green: {}, "burnt-out": {} } });
  // @ts-expect-error "blue" is not a state to begin with
  machine({ name: "x", initial: "blue", table: { red: {}, green: {} } });
  expect(light.states).toEqual(["red", "green", "burnt-out"]);
  expect(light.events).toEqual(["timer", "failure"]);
});

test("a legal event gives the next state", () => {
  expect(light.next("red", "timer")).toEqual({ ok: true, value: "green" });
});

test("M2 an illegal event is refused with the state, the event and the legal events", () => {
  const refusal = light.next("green", "failure");
  expect(refusal).toEqual({
    ok: false,
    error: {
      code: "illegal-transition",
      message: 'Light: "failure" is illegal in green.',
      hint: 'Legal in green: "timer" (to red).',
    },
  });
  const final = light.next("burnt-out", "timer");
  expect(final.ok ? "" : final.error.hint).toBe("Nothing is legal in burnt-out: it is final.");
});

test("cells lists every state with every event, and next agrees with each", () => {
  const all = cells(light);
  expect(all).toHaveLength(6);
  for (const { state, event, next } of all) {
    const result = light.next(state, event);
    expect(result.ok ? result.value : undefined).toBe(next);
  }
});

test("a state that nothing leads to is reported", () => {
  expect(unreachable(light)).toEqual([]);
  const island = machine({ name: "x", initial: "a", table: { a: { go: "b" }, b: { go: "a" }, c: { go: "a" } } });
  expect(unreachable(island)).toEqual(["c"]);
});

test("M3 the diagram has the initial state, every cell, and the end of each final state", () => {
  expect(toMermaid(light)).toBe(
    [
      "stateDiagram-v2",
      "    [*] --> red",
      '    state "burnt-out" as burnt_out',
      "    red --> green: timer",
      "    red --> burnt_out: failure",
      "    green --> red: timer",
      "    burnt_out --> [*]",
      "",
    ].join("\n"),
  );
});

test("changesOf: by one event, or by several through states that are only passed", () => {
  const walk = machine<"a" | "b" | "c" | "d", "go" | "skip">({
    name: "walk",
    initial: "a",
    table: { a: { go: "b" }, b: { go: "c" }, c: { go: "d", skip: "a" }, d: {} },
  });
  const states = ["a", "b", "c", "d"] as const;
  const legal = (may: (from: "a" | "b" | "c" | "d", to: "a" | "b" | "c" | "d") => boolean) =>
    states.map((from) => states.filter((to) => may(from, to)).join(""));
  expect(legal(changesOf(walk))).toEqual(["ab", "bc", "acd", "d"]);
  expect(legal(changesOf(walk, ["b"]))).toEqual(["abc", "bc", "acd", "d"]);
  expect(legal(changesOf(walk, ["b", "c"]))).toEqual(["abcd", "abcd", "acd", "d"]);
});
