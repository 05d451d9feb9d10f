// What clients are shown of runs while the disk is still at it.
import { expect, test } from "bun:test";
import type { Definition } from "../../src/core/workflow/definition.ts";
import { workflowHandlers } from "../../src/daemon/workflows/handlers.ts";
import { HOME } from "../sim/machine.ts";
import { SimDaemon } from "./sim-daemon.ts";
import { WorkflowMachine } from "./sim-machine.ts";
import { creation } from "./world.ts";

const FLOW: Definition = {
  name: "flow",
  flow: { mode: "standard", steps: [{ id: "a", work: { kind: "set", values: { x: "1" } } }] },
};

test("WH3 a run is shown as it is durable: what is only decided is in no answer before its sync is over", async () => {
  const machine = new WorkflowMachine(1);
  machine.disk.plant(`${HOME}/made`, Buffer.from(""));
  const { clock } = machine;
  const lived = async <T>(coming: Promise<T>): Promise<T> => {
    let over = false;
    void coming.finally(() => {
      over = true;
    });
    for (; !over; clock.advance(1)) await clock.settle();
    return coming;
  };
  const daemon = await lived(SimDaemon.begin(machine, machine.born()));
  const part = () => daemon.part;
  const environment = { allow: [], deny: [] };
  const handlers = workflowHandlers({ disk: machine.disk, home: HOME, environment, live: part, parts: part });
  const shown = async () => [
    await handlers["workflow.list"]?.({}),
    (await handlers["workflow.show"]?.({ id: "r2", from: 0 }))?.ok,
  ];
  const create = (id: string) => daemon.submit(creation(FLOW, {}, { id, cwd: `/w/${id}` }));
  await lived(create("r1"));
  const sync = Promise.withResolvers<void>();
  machine.disk.gate = () => sync.promise;
  const made = create("r2");
  await clock.settle();
  expect(daemon.run("r2")?.id).toBe("r2");
  expect(await shown()).toMatchObject([{ value: [{ id: "r1" }] }, false]);
  sync.resolve();
  await lived(made);
  expect(await shown()).toMatchObject([{ value: [{ id: "r1" }, { id: "r2" }] }, true]);
});
