import { expect, test } from "bun:test";
import type { ReportItem } from "../../core/recovery.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { LostTerminals } from "./lost-terminals.ts";

function set() {
  const terminals = new Map<string, Terminal>();
  const restored: string[] = [];
  const stopping = Promise.withResolvers<void>();
  const noted: string[] = [];
  const lost = new LostTerminals({
    terminal: (id) => terminals.get(id),
    note: (id) => void noted.push(id),
    stopRest: () => stopping.promise,
    restore: async (terminal) => {
      restored.push(`${terminal.id} ${terminal.generation}`);
      open(terminal.id, terminal.generation + 1, "starting");
      return { id: terminal.id, fate: "restarted" } as ReportItem;
    },
    report: async () => undefined,
  });
  const open = (id: string, generation: number, kind: "running" | "starting") =>
    void terminals.set(id, { id, generation, state: { kind }, rollingBack: false, removed: false } as Terminal);
  return { lost, open, restored, stopping, noted };
}

test("a loss that is found twice is restored once: the second finding is about the generation before", async () => {
  const { lost, open, restored, stopping } = set();
  open("t", 1, "running");
  const first = lost.found("t", "its holder is gone");
  const again = lost.found("t", "its holder is gone");
  stopping.resolve();
  await Promise.all([first, again]);
  expect(restored).toEqual(["t 1"]);
});

test("a terminal that is lost in its next generation is restored again", async () => {
  const { lost, open, restored, stopping } = set();
  stopping.resolve();
  open("t", 1, "running");
  await lost.found("t", "its holder is gone");
  await lost.found("t", "its holder is gone");
  expect(restored).toEqual(["t 1", "t 2"]);
});
