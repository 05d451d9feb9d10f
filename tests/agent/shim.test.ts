// The shim as a real program on pipes, with a real socket whose daemons come and go.
import { afterEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ok } from "../../src/base/result.ts";
import { Bus } from "../../src/daemon/bus.ts";
import { type Handlers, RpcServer } from "../../src/daemon/rpc-server.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { ours } from "../ours.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

function emptyHome(): string {
  const home = mkdtempSync(join(tmpdir(), "hfshim-"));
  ends.push(() => rmSync(home, { recursive: true, force: true }));
  for (const part of ["run", "agents", "agents/a1"]) mkdirSync(join(home, part), { mode: 0o700 });
  writeFileSync(join(home, "agents/a1/token"), "s3cret\n", { mode: 0o600 });
  chmodSync(home, 0o700);
  return home;
}

/** A daemon as far as the shim sees one. */
async function daemon(home: string, handlers: Handlers): Promise<RpcServer> {
  const options = { clock: realClock(), token: "home", version: "1", pid: 1 };
  const others = (token: string) => (token === "a1:s3cret" ? { id: "a1", handlers } : undefined);
  const server = new RpcServer({}, new Bus(), { ...options, others });
  await server.listen(realSockets(), join(home, "run/daemon.sock"));
  ends.push(() => server.close());
  return server;
}

class Agent {
  readonly #process;
  readonly #lines: AsyncGenerator<string>;

  constructor(home: string) {
    const env = { PATH: process.env["PATH"] ?? "", HOLDFAST_HOME: home, HOLDFAST_AGENT: "a1" };
    this.#process = Bun.spawn(ours("src/shim/main.ts"), { env, stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    this.#lines = lines(this.#process.stdout);
    ends.push(() => this.#process.kill("SIGKILL"));
  }

  say(message: object): void {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    this.#process.stdin.flush();
  }

  async hear(): Promise<unknown> {
    const { value } = await this.#lines.next();
    return JSON.parse(String(value));
  }

  async leave(): Promise<number> {
    await this.#process.stdin.end();
    return this.#process.exited;
  }
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const bytes of stream) {
    const parts = (rest + new TextDecoder().decode(bytes)).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

const CALL = { id: 7, method: "tools/call", params: { name: "send_message", arguments: { to: "parent", text: "hi" } } };

test("an agent is greeted and gets its list of tools even without a daemon", async () => {
  const agent = new Agent(emptyHome());
  agent.say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } });
  agent.say({ id: 2, method: "tools/list" });
  expect(await agent.hear()).toMatchObject({ id: 1, result: { serverInfo: { name: "holdfast" } } });
  const { result } = (await agent.hear()) as { result: { tools: { name: string }[] } };
  expect(result.tools.map(({ name }) => name)).toEqual([
    ...[
      "spawn_agent",
      "send_message",
      "broadcast",
      "check_inbox",
      "inspect_agent",
      "list_children",
      "complete",
      "remind_me",
    ],
  ]);
  expect(await agent.leave()).toBe(0);
});

test("a call whose daemon dies before it answers is repeated under its own id, and acknowledged once it was answered", async () => {
  const home = emptyHome();
  const heard: unknown[] = [];
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const first = await daemon(home, {
    "agent.call": async ({ call }) => {
      heard.push(["first", call]);
      ask();
      return new Promise(() => undefined);
    },
  });
  const agent = new Agent(home);
  agent.say(CALL);
  await asked;
  first.close();
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  await daemon(home, {
    "agent.call": async ({ call, tool, args }) => {
      heard.push(["second", call, tool, args]);
      return ok({ ok: true, value: { sent: true } });
    },
    "agent.call-taken": async ({ call }) => {
      heard.push(["taken", call]);
      finish();
      return ok({});
    },
  });
  expect(await agent.hear()).toMatchObject({ id: 7, result: { isError: false, structuredContent: { sent: true } } });
  await done;
  const [, id] = heard[0] as [string, string];
  expect(heard).toEqual([
    ["first", id],
    ["second", id, "send_message", { to: "parent", text: "hi" }],
    ["taken", id],
  ]);
});

test("a refusal is an answer; a daemon that is not live yet is asked again", async () => {
  const home = emptyHome();
  let asked = 0;
  await daemon(home, {
    "agent.call": async () => {
      asked += 1;
      const code = asked === 1 ? "not-live" : "agent.no-such-name";
      return { ok: false, error: { code, message: "There is no agent of that name.", hint: "See list_children." } };
    },
    "agent.call-taken": async () => ok({}),
  });
  const agent = new Agent(home);
  agent.say(CALL);
  const content = [{ type: "text", text: "There is no agent of that name. See list_children." }];
  expect(await agent.hear()).toMatchObject({ id: 7, result: { isError: true, content } });
  expect(asked).toBe(2);
});
