// Orphans: a holder that claims and starts its program while the next daemon looks for them; and how they are stopped.
import { expect, test } from "bun:test";
import { decideTerminal } from "../../src/core/terminal/decide.ts";
import { applyTerminal } from "../../src/core/terminal/events.ts";
import { stopOrphans } from "../../src/daemon/held/orphan-stop.ts";
import { claim } from "../../src/holder/records.ts";
import { HOME_ID, homeId } from "../../src/home/held/home-id.ts";
import type { Processes } from "../../src/world/process.ts";
import type { SimProcesses } from "../sim/processes.ts";
import { simWorld } from "../sim/world.ts";

const HOME = "/h";
const ID = "0123456789ab4def8123456789abcdef";
const DIRECTORY = `${HOME}/terminals/${ID}`;

/** The methods are on its class: a spread would lose them. */
function changed(sim: SimProcesses, changes: Partial<Processes>): Processes {
  return Object.assign(Object.create(sim), changes);
}

/** A home with one terminal, and the directory of its holder. */
function madeTerminal() {
  const place = { ...simWorld(1), home: HOME };
  const recipe = { argv: ["sh"], cwd: "/", env: {}, size: { cols: 40, rows: 12 } };
  const made = decideTerminal(new Map(), { kind: "create", id: ID, name: "one", lane: "main", recipe }, "now");
  if (!made.ok || made.value[0] === undefined) throw new Error("it was created");
  const terminal = applyTerminal(undefined, made.value[0]);
  for (const path of [HOME, `${HOME}/terminals`, DIRECTORY]) place.disk.makeDirectory(path);
  return { place, terminal, variables: { HOLDFAST_TERMINAL: ID, [HOME_ID]: homeId(place.disk, HOME) ?? "" } };
}

test("a program whose holder claims at the very moment of the search is not an orphan", async () => {
  const { place, terminal, variables } = madeTerminal();
  const sim = place.processes;
  const holder = sim.spawn();
  // The claim is written to a temporary file first, so that it appears in one step, as for any observer.
  await claim({ ...place, directory: DIRECTORY, processes: changed(sim, { pid: holder.pid }) }, 1);
  place.disk.rename(`${DIRECTORY}/claim.json`, `${DIRECTORY}/made`);
  const list = () => {
    place.disk.rename(`${DIRECTORY}/made`, `${DIRECTORY}/claim.json`);
    sim.spawn(undefined, { ppid: holder.pid, variables });
    return sim.list();
  };
  expect(await stopOrphans({ ...place, processes: changed(sim, { list }) }, [terminal])).toEqual([]);
  expect(sim.signals).toEqual([]);
});

test("an orphan is asked to end before it is killed, and has two seconds for it", async () => {
  const { place, terminal, variables } = madeTerminal();
  const { processes, clock } = place;
  const { pid } = processes.spawn(undefined, { variables });
  const sent: string[] = [];
  const kill: Processes["kill"] = (_, signal) => {
    sent.push(`${signal} after ${clock.elapsed()} ms`); // It ignores all of them.
    return true;
  };
  const began = clock.elapsed();
  const stopping = stopOrphans({ ...place, processes: changed(processes, { kill }) }, [terminal]);
  await clock.settle();
  for (let at = 0; at < 2000; at += 20) {
    clock.advance(20);
    await clock.settle();
  }
  expect(await stopping).toMatchObject([{ what: "process", reason: expect.stringContaining(`process ${pid}`) }]);
  expect(sent).toEqual([`SIGHUP after ${began} ms`, `SIGTERM after ${began} ms`, `SIGKILL after ${began + 2000} ms`]);
});
