// An adopted session whose log does not fold is set aside and named; the others come up, and terminals are not
// affected.
import { expect, test } from "bun:test";
import { TERMINAL_FOLDING, TerminalStore } from "../../src/daemon/terminal/store.ts";
import { TMUX_FOLDING, TmuxStore } from "../../src/daemon/tmux/store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { NewEntry } from "../../src/log/session/entry.ts";
import { foldNow } from "../daemon/border.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";

const AT = "2026-01-01T00:00:00.000Z";

function entry(id: string, event: string, data: NewEntry["data"]): NewEntry {
  return { session: `tmux/${id}`, ts: AT, event, data };
}

function adopted(id: string): NewEntry {
  const place = { session: "$0", server: { pid: 1, start_time: 1, boot_id: "b" } };
  return entry(id, "tmux.adopted", { socket: "/s", name: `name-${id}`, policy: "auto", at: AT, ...place });
}

test("a session that does not fold is set aside, and nothing is done for it", async () => {
  const disk = new SimDisk();
  const open = () =>
    EventLog.open({ disk, clock: new SimClock(), home: "/h" }, { segmentBytes: 64 << 10, ballastBytes: 0 });
  const writing = await open();
  const ticket = writing.append([
    adopted("a"),
    entry("b", "tmux.named", { name: "x" }), // Never adopted.
    adopted("c"),
    entry("c", "tmux.lost", { reason: "r" }), // Fields are missing.
    adopted("d"),
    entry("d", "tmux.painted", { colour: "red" }), // Of a newer version.
  ]);
  if (ticket.ok) await ticket.value.durable;
  await writing.close();
  const log = await open();
  const performed: string[] = [];
  const onBug = (error: unknown) => {
    throw error;
  };
  const hooks = { publish: () => undefined, perform: ({ id }: { id: string }) => void performed.push(id), onBug };
  const store = new TmuxStore(log, new SimClock(), hooks);
  const items = foldNow(log, store, TMUX_FOLDING).map(({ id, name, fate }) => [id, name, fate]);
  expect(items.sort()).toEqual([
    ["b", "b", "needs you"],
    ["c", "name-c", "needs you"],
  ]);
  const states = [...store.states.values()].map(({ id, state }) => [id, state.kind]);
  expect(states.sort()).toEqual([
    ["a", "kept"],
    ["c", "uncertain"],
    ["d", "kept"],
  ]);
  expect(foldNow(log, new TerminalStore(log, new SimClock(), hooks), TERMINAL_FOLDING)).toEqual([]);
  expect(performed).toEqual([]);
});
