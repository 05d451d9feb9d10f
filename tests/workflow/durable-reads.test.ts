// What is published about runs that are still being written: nothing.
import { expect, test } from "bun:test";
import type { Step } from "../../src/core/workflow/definition.ts";
import { HOME } from "../sim/machine.ts";
import { SimDaemon } from "./sim-daemon.ts";
import { WorkflowMachine } from "./sim-machine.ts";
import { set, shell } from "./stories.ts";
import { creation } from "./world.ts";

/** A daemon whose disk stalls at `stall`. */
async function begun() {
  const machine = new WorkflowMachine(1);
  machine.disk.plant(`${HOME}/made`, Buffer.from(""));
  const { clock } = machine;
  const until = async (holds: () => boolean) => {
    for (let ms = 0; ms < 60_000 && !holds(); ms += 1) {
      clock.advance(1);
      await clock.settle();
    }
  };
  const lived = async <T>(coming: Promise<T>): Promise<T> => {
    let over = false;
    void coming.finally(() => {
      over = true;
    });
    await until(() => over);
    return coming;
  };
  const daemon = await lived(SimDaemon.begin(machine, machine.born()));
  const create = (id: string, step: Step) =>
    daemon.submit(creation({ name: "flow", flow: { mode: "standard", steps: [step] } }, {}, { id, cwd: `/w/${id}` }));
  const stall = () => {
    const sync = Promise.withResolvers<void>();
    machine.disk.gate = ({ path }) => (path.endsWith(".wal") ? sync.promise : Promise.resolve());
    return sync.resolve;
  };
  await lived(create("r1", set("a", { x: "1" })));
  return { machine, daemon, create, until, lived, stall };
}

test("WH3 a run is shown only as far as it is durable: a decision appears in no answer before its sync completes", async () => {
  const { machine, daemon, create, lived, stall } = await begun();
  const { handlers } = daemon.part;
  const shown = async () => [
    await handlers["workflow.list"]?.({}),
    (await handlers["workflow.show"]?.({ id: "r2", from: 0 }))?.ok,
  ];
  const goOn = stall();
  const made = create("r2", set("a", { x: "1" }));
  await machine.clock.settle();
  expect(daemon.run("r2")?.id).toBe("r2");
  expect(await shown()).toMatchObject([{ value: [{ id: "r1" }] }, false]);
  goOn();
  await lived(made);
  expect(await shown()).toMatchObject([{ value: [{ id: "r1" }, { id: "r2" }] }, true]);
});

test("U6 a round during the write of a run starts nothing for it", async () => {
  const { machine, daemon, create, until, lived, stall } = await begun();
  const goOn = stall();
  const made = create("r2", shell("a"));
  let ms = 0;
  await until(() => ++ms > 5_000);
  expect(daemon.run("r2")?.id).toBe("r2");
  expect(machine.marks).toEqual([]);
  goOn();
  await lived(made);
  await until(() => machine.marks.length > 0);
  expect(machine.marks.map(({ attempt }) => attempt)).toEqual(["r2.1"]);
});
