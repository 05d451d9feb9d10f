// The engine's rounds, in the whole daemon on a disk that stalls: they must not keep any agent from being started.
import { expect, test } from "bun:test";
import { AGENT } from "../sim/holdfast/machine.ts";
import { idOf } from "../sim/holdfast/script.ts";
import { Stalled } from "../sim/holdfast/stalled.ts";

const NOTHING = { parent: null, model: null, systemPrompt: "", env: {}, flags: [], permissionMode: null };
const ROUND_MS = 5_000;

test("an agent whose creation is being written during a round is started like any other, and not before", async () => {
  const stalled = await Stalled.begin();
  const { machine, client } = stalled;
  const { notes } = machine.witness;
  const create = (number: number, note: string) =>
    client.ask("agent.new", {
      ...{ ...NOTHING, id: idOf(number), name: note, cwd: "/u", settings: {} },
      ...{ instructions: `>> note ${note}`, provider: "scripted", command: [AGENT] },
    });
  await stalled.lived(create(1, "one"));
  await stalled.until(() => notes.length === 1);
  const { made, goOn } = await stalled.stallAt(() => create(2, "two"));
  await stalled.pass(2 * ROUND_MS);
  expect(notes).toEqual(["one"]);
  goOn();
  await stalled.lived(made);
  const before = machine.clock.elapsed();
  await stalled.until(() => notes.length === 2);
  expect(notes).toEqual(["one", "two"]);
  expect(machine.clock.elapsed() - before).toBeLessThan(ROUND_MS);
});

test("PR-2(b) an operator who inspects an agent has been heard from: its prompt waits seven days from then", async () => {
  const stalled = await Stalled.begin();
  const { client } = stalled;
  const id = idOf(1);
  await stalled.lived(
    client.ask("agent.new", {
      ...{ ...NOTHING, id, name: "asks", cwd: "/u", settings: {} },
      ...{ instructions: ">> ask Bash x", provider: "scripted", command: [AGENT] },
    }),
  );
  const deadline = async () => (await stalled.lived(client.ask("prompt.list", {})))[0]?.deadline;
  let first: string | undefined;
  for (let tries = 0; tries < 20 && first === undefined; tries += 1) {
    await stalled.pass(500);
    first = await deadline();
  }
  expect(first).toBeString();
  await stalled.pass(59_000);
  await stalled.pass(59_000);
  await stalled.lived(client.ask("agent.list", {}));
  expect(await deadline()).toBe(first); // A list is about no agent in particular.
  await stalled.lived(client.ask("agent.show", { id }));
  await stalled.pass(100);
  expect(Date.parse((await deadline()) ?? "") - Date.parse(first ?? "")).toBeGreaterThan(118_000);
});
