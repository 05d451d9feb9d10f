// A holder in a simulated world: its clock is the test's, and so are its program and its client.
import { Holder, type HolderWorld } from "../../src/holder/holder.ts";
import { HELLO, type HolderSpec, jsonFrame } from "../../src/wire/holder/protocol.ts";
import type { PtyEvents } from "../../src/world/children.ts";
import type { Connection, Peer } from "../../src/world/socket.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { SimProcesses } from "../sim/processes.ts";

const SPEC: HolderSpec = {
  ...{ v: 1, id: "t", generation: 1, mode: "pty", argv: ["cat"], cwd: "/", env: {}, size: { cols: 80, rows: 24 } },
  ...{ token: "a token", socket: "/h/run/s", tape: { segmentBytes: 1 << 20, maxBytes: 8 << 20 } },
};

const nothing = () => undefined;
function absent(): never {
  throw new Error("nothing else is started here");
}

/** Its one client is the process that `peer` returns. Its program has `waiting` bytes of input that it has not read. */
export function held(peer: (processes: SimProcesses, disk: SimDisk) => Peer | undefined = nothing) {
  const [clock, disk, processes] = [new SimClock(), new SimDisk(), new SimProcesses()];
  const program = { events: undefined as PtyEvents | undefined, waiting: 0, acts: [] as string[] };
  const pty = (_command: unknown, _size: unknown, events: PtyEvents) => {
    program.events = events;
    const write = (bytes: Uint8Array) => void program.acts.push(`typed ${Buffer.from(bytes)}`);
    const signal = (name: string) => program.acts.push(name) > 0;
    const child = { pid: 5, readsKeys: false, write, resize: nothing, signal };
    return Object.defineProperty({ ...child, waiting: 0 }, "waiting", { get: () => program.waiting });
  };
  disk.makeDirectory("/t");
  const world: HolderWorld = {
    ...{ disk, clock, sockets: { listen: absent, connect: absent }, rest: nothing },
    ...{ children: { pty, pipes: absent, detached: absent, told: absent, watched: absent } },
    processes,
  };
  const who = peer(processes, disk);
  const holder = new Holder(world, SPEC, "/t");
  const seen: string[] = [];
  const sent: Uint8Array[] = [];
  const connection: Connection = {
    ...{ send: (bytes) => void sent.push(bytes), flush: nothing, waiting: 0, end: nothing, destroy: nothing },
    ...{ pause: () => void seen.push("paused"), resume: () => void seen.push("resumed"), peer: () => who },
  };
  const ended = holder.run({ changed: nothing, begun: nothing, over: nothing });
  const client = holder.accept(connection);
  client.bytes(jsonFrame(HELLO, { v: 1, token: SPEC.token, writer: "w" }));
  seen.length = 0;
  return { clock, program, client, seen, sent, ended };
}
