// Claims about session.json, the record of an agent's session: before the first send, and after a crash.
import { expect, test } from "bun:test";
import { AGENT } from "../sim/holdfast/machine.ts";
import { idOf } from "../sim/holdfast/script.ts";
import { Stalled } from "../sim/holdfast/stalled.ts";
import { HOME } from "../sim/machine.ts";

const NOTHING = { parent: null, model: null, systemPrompt: "", env: {}, flags: [], permissionMode: null };

test("EL-4(a) the record is durable before anything is sent: while the disk does not take it, nothing starts", async () => {
  const stalled = await Stalled.begin();
  const { machine, client } = stalled;
  const id = idOf(1);
  const path = `${HOME}/agents/${id}/session.json`;
  const sync = Promise.withResolvers<void>();
  machine.disk.gate = (call) => (call.path.startsWith(path) ? sync.promise : Promise.resolve());
  await stalled.lived(
    client.ask("agent.new", {
      ...{ ...NOTHING, id, name: "one", cwd: "/u", settings: {} },
      ...{ instructions: ">> note one", provider: "scripted", command: [AGENT] },
    }),
  );
  await stalled.pass(3_000);
  expect([machine.witness.notes, machine.disk.stat(path)]).toEqual([[], undefined]);
  sync.resolve();
  await stalled.until(() => machine.witness.notes.length === 1);
  expect(machine.disk.stat(path)?.kind).toBe("file");
});
