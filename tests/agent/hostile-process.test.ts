// Hostile output, requests, frames and files in a real home: the daemon lives, the next one is LIVE, and a terminal and
// an agent beside them go on as before. What is tried in great numbers is in tests/sim/fuzz/hostile.
import { afterAll, afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { readSpec, terminalFiles } from "../../src/home/held/holder-files.ts";
import { encodeFrame } from "../../src/wire/holder/frames.ts";
import { HELLO, jsonFrame, PROTOCOL, SIZE_SHAPE } from "../../src/wire/holder/protocol.ts";
import { PARAMS } from "../../src/wire/rpc/params.ts";
import { RPC_PROTOCOL } from "../../src/wire/rpc/rpc.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { Attacker } from "../sim/fuzz/hostile/attacks.ts";
import { exampleOf } from "../sim/fuzz/hostile/example.ts";
import { OUTPUTS } from "../sim/fuzz/hostile/file-seeds.ts";
import { harm } from "../sim/fuzz/hostile/harm.ts";
import { ACP, CLAUDE, MCP, type Message, SCRIPTED } from "../sim/fuzz/hostile/seeds.ts";
import { amount, seeded } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { Runs } from "../workflow/runs.ts";
import { type AgentHome, agentHomes } from "./agent-home.ts";
import { OpenAiMock } from "./openai-mock.ts";

const newHome = agentHomes();
const mocks: OpenAiMock[] = [];
afterEach(() => {
  for (const mock of mocks.splice(0)) mock.close();
});

const DEEP = "[".repeat(100_000) + "]".repeat(100_000);
const LINES = amount(20, 400);
const REQUESTS = amount(6, 200);
const FILES = amount(4, 12);
const PROVIDERS: readonly (readonly [string, readonly Message[]])[] = [
  ...[["claude", CLAUDE] as const, ["acp", ACP] as const, ["scripted", SCRIPTED] as const],
];

let inputs = 0;
afterAll(() => console.log(`hostile inputs: ${inputs}`));

/** Lines in a file of the home. */
function plant(place: AgentHome, name: string, lines: readonly Uint8Array[]): string {
  writeFileSync(place.file(name), Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")])));
  inputs += lines.length;
  return place.file(name);
}

/** Sends bytes to a socket, and waits until the other side has closed it, or has read everything. */
async function sendTo(path: string, pieces: readonly Uint8Array[]): Promise<void> {
  const closed = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    unix: path,
    socket: { data: () => undefined, close: () => closed.resolve(), error: () => closed.resolve() },
  });
  for (const piece of pieces) socket.write(piece);
  socket.end();
  await closed.promise;
  inputs += 1;
}

async function attackDaemon(place: AgentHome, attacker: Attacker): Promise<void> {
  const token = place.text("run/token").trim();
  const params = { token, version: "1", protocol: RPC_PROTOCOL };
  const hello = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "hello", params })}\n`);
  for (let request = 0; request < REQUESTS; request += 1) {
    const [method, shape] = attacker.oneOf(Object.entries(PARAMS));
    const line = attacker.line({ jsonrpc: "2.0", id: 2, method, params: exampleOf(shape) });
    await sendTo(place.file("run/daemon.sock"), [hello, line, Buffer.from("\n")]);
  }
}

async function attackHolder(place: AgentHome, attacker: Attacker, id: string): Promise<void> {
  const spec = readSpec(terminalFiles(realDisk(), place.path, id));
  for (const token of [spec?.token ?? "", "another"]) {
    const hello = jsonFrame(HELLO, { v: PROTOCOL, token, writer: "w" });
    const frame = encodeFrame(attacker.oneOf([1, 2, 3, 5, 6, 99]), attacker.line(exampleOf(SIZE_SHAPE)));
    await sendTo(spec?.socket ?? "", [hello, attacker.bytes(frame)]);
  }
}

/** Returns the answer's status and text. */
async function post(place: AgentHome, token: string, body: string | Uint8Array): Promise<readonly [number, string]> {
  const { url } = JSON.parse(place.text("run/mcp.json"));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: Buffer.from(body) });
  inputs += 1;
  return [answer.status, await answer.text()];
}

async function attackMcp(place: AgentHome, attacker: Attacker, agent: string): Promise<void> {
  const token = `${agent}:${place.text(`agents/${agent}/token`).trim()}`;
  const deep = (fields: string) => `{"jsonrpc":"2.0","method":"tools/call",${fields}}`;
  const call = (args: string) => deep(`"id":1,"params":{"name":"remind_me","arguments":${args}}`);
  const ping = `{"jsonrpc":"2.0","method":"ping","id":${DEEP}}`;
  for (const body of [ping, deep(`"id":${DEEP},"params":{"name":"check_inbox"}`), call(DEEP)])
    expect(await post(place, token, body)).toEqual([200, expect.stringContaining('"code":-32700')]);
  for (let left = REQUESTS; left > 0; left -= 1) await post(place, token, attacker.line(attacker.oneOf(MCP)));
}

/** Somebody else in a home with hostile ones: a terminal, and an agent. */
class Bystander {
  readonly #place: AgentHome;
  readonly agent: string;
  readonly #terminal: string;
  readonly #pid: number;
  #turns = 0;

  private constructor(place: AgentHome, agent: string, terminal: string, pid: number) {
    this.#place = place;
    this.agent = agent;
    this.#terminal = terminal;
    this.#pid = pid;
  }

  static async in(place: AgentHome): Promise<Bystander> {
    const terminal = await place.open("calm", ["cat"]);
    const { pid } = await place.is(terminal, "running");
    return new Bystander(place, await place.agent("good"), terminal, pid);
  }

  async goesOn(): Promise<void> {
    const place = this.#place;
    expect((await place.must("status", {})).recovery.stage).toBe("LIVE");
    expect((await place.is(this.#terminal, "running")).pid).toBe(this.#pid);
    await place.say(this.agent, ">> say hello");
    this.#turns += 1;
    await place.rests(this.agent, this.#turns);
  }
}

/** An agent of each provider that prints hostile lines. */
async function hostileAgents(place: AgentHome, attacker: Attacker): Promise<string[]> {
  const ids: string[] = [];
  for (const [provider, seeds] of PROVIDERS) {
    const lines = Array.from({ length: LINES }, () => attacker.line(attacker.oneOf(seeds)));
    const command = ["sh", "-c", `read first; cat ${plant(place, `${provider}.txt`, lines)}; cat >> ${provider}.heard`];
    ids.push(await place.agent(provider, { provider, command, instructions: "go" }));
  }
  return ids;
}

/** A step that prints what is captured as JSON; its run ends in some way. */
async function hostileRun(place: AgentHome, attacker: Attacker): Promise<string> {
  const runs = new Runs(place);
  const output = plant(place, "output.txt", [attacker.line(attacker.oneOf(OUTPUTS))]);
  const run = await runs.begin(`steps:\n  - shell: cat ${output}\n    capture: { x: json }\n`);
  const isOver = async () => ["done", "failed"].includes((await runs.show(run)).state);
  await until("the run is over", isOver, () => runs.show(run));
  return run;
}

/** A model that calls with deep arguments, and answers when it is asked again. */
async function deepCalls(place: AgentHome, mock: OpenAiMock, id: string, turn: number): Promise<void> {
  const call = { kind: "call", id: "c1", tool: "remind_me", args: {}, text: `{"text":${DEEP}}` } as const;
  mock.will(call, { kind: "text", text: `fine ${turn}` });
  await place.say(id, "go on");
  await place.rests(id, turn);
  expect((await place.shown(id)).lastText).toBe(`fine ${turn}`);
  inputs += 1;
}

test("hostile output, calls, requests, frames and files: the daemon lives, the next is LIVE, the others are as before", async () => {
  const attacker = new Attacker(seeded(702));
  const [place, mock] = [newHome(), new OpenAiMock()];
  mocks.push(mock);
  const provider = `[provider.mock]\nkind = "openai"\nmodel = "tiny"\nbase_url = "${mock.url}"\n`;
  // A hostile agent may create one below it, and so on (MAX_DEPTH). With fewer slots, ours would be suspended for them.
  writeFileSync(place.file("config.toml"), `${provider}[agents]\nsandbox = false\nslots = 64\n`);
  const env = { HOLDFAST_CONFIG: place.file("config.toml") };
  const first = await place.live(env);
  const victim = await place.open("victim", ["cat"]);
  const other = await Bystander.in(place);
  await other.goesOn();
  const model = await place.agent("model", { provider: "mock", command: [] });
  const bad = await hostileAgents(place, attacker);
  const run = await hostileRun(place, attacker);
  await deepCalls(place, mock, model, 1);
  await attackDaemon(place, attacker);
  await attackHolder(place, attacker, victim);
  await attackMcp(place, attacker, other.agent);
  await other.goesOn();
  expect(first.process.exitCode).toBeNull();
  await place.kill(first);
  const second = await place.live(env);
  await other.goesOn();
  await deepCalls(place, mock, model, 2);
  expect(await place.stop(second)).toBe(0);
  const files = place.files();
  const write = (path: string, bytes: Uint8Array) => writeFileSync(place.file(path), bytes);
  const home = { all: () => [...files.keys()], read: (path: string) => files.get(path), write };
  inputs += harm(home, attacker, [...bad, run, victim], FILES);
  const third = await place.live(env);
  await other.goesOn();
  for (const id of [...bad, model]) {
    const ended = await place.ask("agent.terminate", { id, reason: "" });
    if (ended?.ok !== true) expect(["unknown", "log.frozen"]).toContain(ended?.error.code ?? "nobody answers");
  }
  await place.kill(third);
  await place.live(env);
  await other.goesOn();
});
