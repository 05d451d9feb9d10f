// A holder between others that are slow, on a clock of the test's own: a program that reads nothing, and a client that
// does not leave.
import { expect, test } from "bun:test";
import { Holder, type HolderWorld } from "../../src/holder/holder.ts";
import { HELLO, type HolderSpec, inputFrame, jsonFrame } from "../../src/wire/holder/protocol.ts";
import type { PtyEvents } from "../../src/world/children.ts";
import type { Connection } from "../../src/world/socket.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { SimProcesses } from "../sim/processes.ts";

const SPEC: HolderSpec = {
  ...{ v: 1, id: "t", generation: 1, mode: "pty", argv: ["cat"], cwd: "/", env: {}, size: { cols: 80, rows: 24 } },
  ...{ token: "a token", socket: "/s", tape: { segmentBytes: 1 << 20, maxBytes: 8 << 20 } },
};
const MAX_INPUT_WAITING = 256 << 10;
const GOODBYE_MS = 3_000;

const nothing = () => undefined;
function absent(): never {
  throw new Error("nothing else is started here");
}

/** A holder with one client; its program has `waiting` bytes of input that it has not read. */
function held() {
  const clock = new SimClock();
  const program = { events: undefined as PtyEvents | undefined, waiting: 0 };
  const pty = (_command: unknown, _size: unknown, events: PtyEvents) => {
    program.events = events;
    const child = { pid: 5, readsKeys: false, write: nothing, resize: nothing, signal: () => true };
    return Object.defineProperty({ ...child, waiting: 0 }, "waiting", { get: () => program.waiting });
  };
  const disk = new SimDisk();
  disk.makeDirectory("/t");
  const world: HolderWorld = {
    ...{ disk, clock, sockets: { listen: absent, connect: absent }, rest: nothing },
    ...{ children: { pty, pipes: absent, detached: absent, told: absent, watched: absent } },
    ...{ processes: new SimProcesses() },
  };
  const holder = new Holder(world, SPEC, "/t");
  const seen: string[] = [];
  const connection: Connection = {
    ...{ send: nothing, flush: nothing, waiting: 0, end: nothing, destroy: nothing },
    ...{ pause: () => void seen.push("paused"), resume: () => void seen.push("resumed") },
  };
  const ended = holder.run(nothing);
  const client = holder.accept(connection);
  client.bytes(jsonFrame(HELLO, { v: 1, token: SPEC.token, writer: "w" }));
  seen.length = 0;
  return { clock, program, client, seen, ended };
}

test("O3 while a program reads no input, the client that types it is not read either", () => {
  const { program, client, seen } = held();
  const type = (number: number) => client.bytes(inputFrame(number, 1, Buffer.from("x")));
  program.waiting = MAX_INPUT_WAITING;
  type(1);
  expect(seen).toEqual([]);
  program.waiting = MAX_INPUT_WAITING + 1;
  type(2);
  expect(seen).toEqual(["paused"]);
  program.events?.drained?.();
  expect(seen).toEqual(["paused", "resumed"]);
});

test("O3 after the end a client that does not leave is waited for three seconds, and no longer", async () => {
  const { clock, program, ended } = held();
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  program.events?.ended({ kind: "exited", code: 0 });
  await clock.settle();
  clock.advance(GOODBYE_MS - 1);
  await clock.settle();
  expect(isOver).toBe(false);
  clock.advance(1);
  await clock.settle();
  expect(isOver).toBe(true);
});
