// `node host.mjs <sockets> <port>`: a service on Restate's SDK, and its caller. It is registered if the server does not
// know it yet; the server passes the work of a killed host to the next one by itself.
import { request } from "node:http";
import { join } from "node:path";
import * as restate from "@restatedev/restate-sdk";
import { serve, step } from "../host.mjs";

const [sockets, port] = process.argv.slice(2);

const workflow = restate.workflow({
  name: "workflow",
  handlers: {
    run: async (ctx, { steps, command }) => {
      for (let number = 0; number < steps; number += 1) {
        await ctx.run(`step-${number}`, () => step(ctx.key, number, command));
      }
    },
  },
});
// Its log would be mixed with our messages.
await restate.serve({ services: [workflow], port: Number(port), logger: () => undefined });
await post("admin.sock", "/deployments", { uri: `http://127.0.0.1:${port}` });

await serve({
  async run({ ids, steps, command }) {
    await Promise.all(ids.map((id) => post("ingress.sock", `/workflow/${id}/run`, { steps, command })));
  },
  async resume() {
    return undefined;
  },
});

function post(socket, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const call = request({ socketPath: join(sockets, socket), path, method: "POST", headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part) => {
        text += part;
      });
      answer.on("error", reject);
      answer.on("end", () => (answer.statusCode < 300 ? resolve() : reject(new Error(`${path}: ${text}`))));
    });
    call.on("error", reject);
    call.end(JSON.stringify(body));
  });
}
