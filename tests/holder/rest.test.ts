// When a holder gives its memory back, on a clock of the test's own: how much that is depends on the day.
import { expect, test } from "bun:test";
import { Holder, type HolderWorld } from "../../src/holder/holder.ts";
import { HELLO, type HolderSpec, jsonFrame } from "../../src/wire/holder/protocol.ts";
import type { PtyEvents } from "../../src/world/children.ts";
import type { Connection } from "../../src/world/socket.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { SimProcesses } from "../sim/processes.ts";

const SPEC: HolderSpec = {
  ...{ v: 1, id: "t", generation: 1, mode: "pty", argv: ["cat"], cwd: "/", env: {}, size: { cols: 80, rows: 24 } },
  ...{ token: "a token", socket: "/s", tape: { segmentBytes: 1 << 20, maxBytes: 8 << 20 } },
};

const nothing = () => undefined;
const DEAF: Connection = {
  ...{ send: nothing, flush: nothing, waiting: 0, pause: nothing, resume: nothing, end: nothing, destroy: nothing },
};

function absent(): never {
  throw new Error("nobody here starts such a thing");
}

/** A holder whose program prints what the test decides. */
function held() {
  const clock = new SimClock();
  const rests: number[] = [];
  const heard: PtyEvents[] = [];
  const pty = (_command: unknown, _size: unknown, events: PtyEvents) => {
    heard.push(events);
    return { pid: 5, readsKeys: false, waiting: 0, write: nothing, resize: nothing, signal: () => true };
  };
  const world: HolderWorld = {
    ...{ disk: new SimDisk(), clock, sockets: { listen: absent, connect: absent } },
    ...{ children: { pty, pipes: absent, detached: absent, told: absent, watched: absent } },
    ...{ processes: new SimProcesses(), rest: () => void rests.push(clock.elapsed()) },
  };
  return { clock, rests, heard, holder: new Holder(world, SPEC, "/t") };
}

test("a holder gives its memory back once it has been idle for a while: after its start, a word of its program, a visit", () => {
  const { clock, rests, heard, holder } = held();
  const began = clock.elapsed();
  void holder.run({ changed: nothing, begun: nothing, over: nothing });
  clock.advance(20_000);
  heard[0]?.output(Buffer.from("a word"));
  clock.advance(20_000);
  const visit = holder.accept(DEAF);
  visit.bytes(jsonFrame(HELLO, { v: 1, token: SPEC.token, writer: "w" }));
  visit.closed();
  clock.advance(20_000);
  expect(rests.map((at) => at - began)).toEqual([15_000, 35_000, 55_000]);
});
