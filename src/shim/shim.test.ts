// The shim with a daemon that the test plays: what is sent in which order, and what happens when it goes away.
import { expect, test } from "bun:test";
import { decodeLine, encodeLine, LineReader } from "../wire/lines.ts";
import { TOOLS } from "../wire/provider/tools.ts";
import { parseRequest, resultLine } from "../wire/rpc/rpc.ts";
import { Shim } from "./shim.ts";

class Site {
  readonly done: string[] = [];
  token: string | undefined = "s1";
  /** The pipe of the agent accepts a line when this resolves. */
  accepting: Promise<void> = Promise.resolve();
  /** Whether the daemon dies of the next call instead of answering it. */
  dies = false;

  readonly shim = new Shim(
    {
      dial: async (events) => {
        const lines = new LineReader();
        const send = (bytes: Uint8Array) => {
          for (const line of lines.push(bytes) ?? []) this.#take(line, events);
        };
        return { send, end: () => undefined };
      },
      token: () => this.token,
      after: (_, retry) => {
        this.done.push("wait");
        queueMicrotask(retry);
        return () => undefined;
      },
      chance: () => 0,
      write: async (line) => {
        await this.accepting;
        this.done.push(`answer ${decodeLine(line)?.["id"]}`);
      },
    },
    { version: "1", tools: TOOLS, name: "n" },
  );

  #take(line: string, events: { bytes(bytes: Uint8Array): void; closed(): void }): void {
    const request = parseRequest(decodeLine(line) ?? {});
    if (request === undefined) return;
    const { id, method, params } = request;
    this.done.push(`${method} ${params["token"] ?? params["call"]}`);
    const isOver = method === "agent.call" && this.dies;
    if (isOver) this.dies = false;
    const result = method === "agent.call" ? { ok: true, result: {} } : {};
    queueMicrotask(() => (isOver ? events.closed() : events.bytes(encodeLine(resultLine(id, result)))));
  }

  async call(id: number): Promise<void> {
    const params = { name: "list_children", arguments: {} };
    await this.shim.take(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }));
  }
}

test("SH2 an answer counts as taken only after the agent's pipe has accepted it", async () => {
  const site = new Site();
  const { promise, resolve } = Promise.withResolvers<void>();
  site.accepting = promise;
  const called = site.call(7);
  await new Promise((turn) => setImmediate(turn));
  expect(site.done).toEqual(["hello s1", "agent.call n.7"]);
  resolve();
  await called;
  expect(site.done.slice(2)).toEqual(["answer 7", "agent.call-taken n.7"]);
});

test("SH1 after a daemon has gone, the same call goes to the next one over a new connection, with the present token", async () => {
  const site = new Site();
  site.dies = true;
  const called = site.call(7);
  site.token = "s2"; // The first line was made with the old one.
  await called;
  const again = ["wait", "hello s2", "agent.call n.7", "answer 7", "agent.call-taken n.7"];
  expect(site.done).toEqual(["hello s1", "agent.call n.7", ...again]);
});

test("SH3 greetings and the list of tools need no daemon", async () => {
  const site = new Site();
  for (const [id, method] of ["initialize", "tools/list", "ping"].entries())
    await site.shim.take(JSON.stringify({ jsonrpc: "2.0", id, method, params: {} }));
  expect(site.done).toEqual(["answer 0", "answer 1", "answer 2"]);
});
