import { expect, test } from "bun:test";
import type { ReportItem } from "../../core/recovery.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { LostTerminals } from "./lost-terminals.ts";

function set() {
  const terminals = new Map<string, Terminal>();
  const restored: string[] = [];
  const stopping = Promise.withResolvers<void>();
  const noted: string[] = [];
  const batches: string[] = [];
  const lost = new LostTerminals({
    terminal: (id) => terminals.get(id),
    note: (id) => void noted.push(id),
    stopRest: (ids) => {
      batches.push([...ids].join(" "));
      return stopping.promise;
    },
    restore: async (terminal) => {
      restored.push(`${terminal.id} ${terminal.generation}`);
      open(terminal.id, terminal.generation + 1, "starting");
      return { id: terminal.id, fate: "restarted" } as ReportItem;
    },
    report: async () => undefined,
  });
  const open = (id: string, generation: number, kind: Terminal["state"]["kind"]) =>
    void terminals.set(id, { id, generation, state: { kind }, rollingBack: false, removed: false } as Terminal);
  return { lost, open, restored, stopping, noted, batches };
}

const loss = (generation: number) => ({ reason: "its holder is gone", generation });

test("a loss that is found twice is restored once: the second finding is about the generation before", async () => {
  const { lost, open, restored, stopping } = set();
  open("t", 1, "running");
  const first = lost.found("t", loss(1));
  const again = lost.found("t", loss(1));
  stopping.resolve();
  await Promise.all([first, again]);
  expect(restored).toEqual(["t 1"]);
});

test("a terminal that is lost in its next generation is restored again", async () => {
  const { lost, open, restored, stopping } = set();
  stopping.resolve();
  open("t", 1, "running");
  await lost.found("t", loss(1));
  await lost.found("t", loss(2));
  expect(restored).toEqual(["t 1", "t 2"]);
});

test("a loss that is reported when the next generation is already decided says nothing about that one", async () => {
  const { lost, open, restored, stopping, noted } = set();
  stopping.resolve();
  open("t", 2, "starting");
  await lost.found("t", loss(1));
  expect([restored, noted]).toEqual([[], []]);
});

test("LT2 nor does it if the next generation has ended meanwhile: its own end is on record", async () => {
  const { lost, open, noted } = set();
  open("t", 2, "ended");
  await lost.found("t", loss(1));
  expect(noted).toEqual([]);
  await lost.found("t", loss(2));
  expect(noted).toEqual(["t"]);
});

test("LT1 what is lost while a batch is at work waits for the next one, and is in it once", async () => {
  const { lost, open, restored, stopping, batches } = set();
  for (const id of ["a", "b", "c"]) open(id, 1, "running");
  const found = ["a", "b", "c", "b"].map((id) => lost.found(id, loss(1)));
  expect(batches).toEqual(["a"]);
  stopping.resolve();
  await Promise.all(found);
  expect([batches, restored]).toEqual([
    ["a", "b c"],
    ["a 1", "b 1", "c 1"],
  ]);
});
