// What is published about runs that are still being written: nothing.
import { expect, test } from "bun:test";
import type { Step } from "../../src/core/workflow/definition.ts";
import { idOf } from "../sim/holdfast/script.ts";
import { Stalled } from "../sim/holdfast/stalled.ts";
import { fileOf } from "./file-of.ts";
import { set, shell } from "./stories.ts";

const [FIRST, SECOND] = [idOf(1), idOf(2)];

function create({ machine, client }: Stalled, id: string, step: Step) {
  const path = `/w/${id}.yml`;
  machine.disk.plant(path, Buffer.from(fileOf({ name: "flow", flow: { mode: "standard", steps: [step] } })));
  return client.ask("workflow.run", { id, path, cwd: "/w", texts: {}, values: {}, env: {} });
}

/** A daemon with one run that is over, so that its syncs are known to be slow. */
async function begun(): Promise<Stalled> {
  const stalled = await Stalled.begin();
  await stalled.lived(create(stalled, FIRST, set("a", { x: "1" })));
  return stalled;
}

test("WH3 a run is shown only as far as it is durable: a decision appears in no answer before its sync completes", async () => {
  const stalled = await begun();
  const { other } = stalled;
  const shown = async () => [
    (await stalled.lived(other.ask("workflow.list", {}))).map(({ id }) => id),
    (await stalled.lived(other.call("workflow.show", { id: SECOND, from: 0 }))).ok,
  ];
  const { made, goOn } = await stalled.stallAt(() => create(stalled, SECOND, set("a", { x: "1" })));
  expect(await shown()).toEqual([[FIRST], false]);
  goOn();
  await stalled.lived(made);
  expect(await shown()).toEqual([[FIRST, SECOND], true]);
});

test("U6 a round during the write of a run starts nothing for it", async () => {
  const stalled = await begun();
  const { marks } = stalled.machine.witness;
  const { made, goOn } = await stalled.stallAt(() => create(stalled, SECOND, shell("a")));
  await stalled.pass(5_000);
  expect(marks).toEqual([]);
  goOn();
  await stalled.lived(made);
  await stalled.until(() => marks.length > 0);
  expect(marks.map(({ attempt }) => attempt)).toEqual([`${SECOND}.1`]);
});
