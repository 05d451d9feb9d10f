// A holder that its dead daemon had just started claims and starts its program while the next daemon looks for orphans.
import { expect, test } from "bun:test";
import { stopOrphans } from "../../src/daemon/held/orphan-stop.ts";
import { claim } from "../../src/holder/records.ts";
import type { Processes } from "../../src/world/process.ts";
import { SimDisk } from "../sim/disk.ts";
import type { SimProcesses } from "../sim/processes.ts";
import { Boot, DIRECTORY, ID } from "./sim-boot.ts";

/** Its methods are its class's: a spread would lose them. */
function changed(sim: SimProcesses, changes: Partial<Processes>): Processes {
  return Object.assign(Object.create(sim), changes);
}

test("DESIGN §6 a program whose holder claims at the very moment of the look is nobody's orphan", async () => {
  const boot = await Boot.open(new SimDisk(), 0);
  await boot.create();
  const { place, terminal } = boot;
  if (terminal === undefined) throw new Error("it was created");
  for (const path of ["/h/terminals", DIRECTORY]) place.disk.makeDirectory(path);
  const sim = place.processes;
  const holder = sim.spawn();
  // The claim is written beside its place first: making it is then one step, as it is for whoever looks.
  await claim({ ...place, directory: DIRECTORY, processes: changed(sim, { pid: holder.pid }) }, 1);
  place.disk.rename(`${DIRECTORY}/claim.json`, `${DIRECTORY}/made`);
  const list = () => {
    place.disk.rename(`${DIRECTORY}/made`, `${DIRECTORY}/claim.json`);
    sim.spawn(undefined, { ppid: holder.pid, variables: { HOLDFAST_TERMINAL: ID } });
    return sim.list();
  };
  expect(await stopOrphans({ ...place, processes: changed(sim, { list }) }, [terminal])).toEqual([]);
  expect(sim.signals).toEqual([]);
});
