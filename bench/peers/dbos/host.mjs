// `node host.mjs <postgres url>`: an application on DBOS Transact. What a killed one left is taken up by `launch` itself.
import { DBOS } from "@dbos-inc/dbos-sdk";
import { serve, step } from "../host.mjs";

const [url] = process.argv.slice(2);
DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, logLevel: "error", runAdminServer: false });

const workflow = DBOS.registerWorkflow(
  async (id, steps, command) => {
    for (let number = 0; number < steps; number += 1) {
      await DBOS.runStep(() => step(id, number, command), { name: `step-${number}` });
    }
  },
  { name: "workflow" },
);
await DBOS.launch();

await serve({
  async run({ ids, steps, command }) {
    const start = (id) => DBOS.startWorkflow(workflow, { workflowID: id })(id, steps, command);
    const handles = await Promise.all(ids.map(start));
    await Promise.all(handles.map((handle) => handle.getResult()));
  },
  async resume() {
    return undefined;
  },
});
