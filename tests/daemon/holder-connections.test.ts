// Connections to a real holder: opened, closed, and reopened when there is something to send.
import { afterEach, expect, test } from "bun:test";
import { HolderConnections, plainConnection } from "../../src/daemon/held/holder-connections.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import type { Connection } from "../../src/world/socket.ts";
import { realWorld } from "../../src/world/world.ts";
import { endAll, newTerminal, startHolder } from "../holder/terminal.ts";
import { simWorld } from "../sim/world.ts";
import { until } from "../until.ts";

afterEach(endAll);

const ID = "one";

/** Connected once its holder is there, and then disconnected. */
async function resting(argv: readonly string[]) {
  const made = newTerminal(argv);
  const holder = startHolder(made);
  const told: string[] = [];
  const lines = new HolderConnections(
    { ...realWorld(), sockets: realSockets() },
    {
      spec: () => made.spec,
      open: (_, peer) => plainConnection(peer),
      ended: () => told.push("ended"),
      lost: () => told.push("lost"),
    },
  );
  await until(
    "there is a line",
    async () => (await lines.connect(ID)) !== undefined,
    async () => await lines.connect(ID),
  );
  lines.rest(0);
  return { lines, holder, told };
}

test("a connection in use stays open; an unused one is closed, and its holder is known to be well", async () => {
  const { lines, told } = await resting(["cat"]);
  expect([lines.has(ID), lines.rests(ID), lines.signal(ID, "SIGTERM")]).toEqual([false, true, false]);
  expect(await lines.status(ID)).toMatchObject({ clients: 1 });
  for (const _ of [1, 2, 3]) {
    lines.rest(1);
    expect([lines.has(ID), lines.rests(ID)]).toEqual([true, false]);
    await lines.status(ID);
  }
  lines.rest(1);
  lines.rest(1);
  expect([lines.has(ID), told]).toEqual([false, []]);
});

test("a status request leaves it at rest; concurrent callers share one connection", async () => {
  const { lines } = await resting(["cat"]);
  expect(await lines.glance(ID)).toMatchObject({ clients: 1 });
  expect([lines.has(ID), lines.rests(ID)]).toEqual([false, true]);
  const all = await Promise.all([lines.status(ID), lines.reach(ID), lines.status(ID)]);
  expect(all).toMatchObject([{ clients: 1 }, true, { clients: 1 }]);
  expect(await lines.glance(ID)).toMatchObject({ clients: 1 });
  expect(lines.has(ID)).toBe(true);
});

test("a signal is sent over a connection opened for it, which then reports the end", async () => {
  const { lines, told } = await resting(["cat"]);
  expect(await lines.reach(ID)).toBe(true);
  expect(lines.signal(ID, "SIGTERM")).toBe(true);
  await until(
    "the end is reported",
    () => told.includes("ended"),
    () => told,
  );
});

test("a holder killed at rest is no longer known, and answers nothing", async () => {
  const { lines, holder, told } = await resting(["cat"]);
  holder.kill("SIGKILL");
  await holder.exited;
  expect([lines.rests(ID), await lines.status(ID), await lines.reach(ID), told]).toEqual([false, undefined, false, []]);
});

test("L2 a connection established after it was given up is closed, and none is opened after close", async () => {
  const world = simWorld(1);
  const { promise, resolve } = Promise.withResolvers<Connection>();
  const dials: string[] = [];
  const connect = (path: string) => {
    dials.push(path);
    return promise;
  };
  const never = () => Promise.reject(new Error("nobody listens here"));
  const { spec } = newTerminal(["cat"]);
  const ports = { spec: () => spec, ended: () => undefined, lost: () => undefined };
  const connections = new HolderConnections(
    { ...world, sockets: { connect, listen: never } },
    { ...ports, open: (_, peer) => plainConnection(peer) },
  );
  const asked = connections.connect(ID);
  await world.clock.settle();
  world.clock.advance(5_000);
  expect(await asked).toBeUndefined();
  let cut = false;
  const nothing = () => undefined;
  const destroy = () => {
    cut = true;
  };
  resolve({ waiting: 0, send: nothing, flush: nothing, pause: nothing, resume: nothing, end: nothing, destroy });
  await world.clock.settle();
  expect(cut).toBe(true);
  connections.close();
  expect([await connections.connect(ID), dials]).toEqual([undefined, [spec.socket]]);
});
