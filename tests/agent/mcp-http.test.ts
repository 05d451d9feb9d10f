// The tools of agents over MCP on loopback HTTP, in a real daemon.
import { expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { request } from "node:http";
import { until } from "../until.ts";
import { type AgentHome, agentHomes } from "./agent-home.ts";

const home = agentHomes();

type Answer = { readonly status: number; readonly session: string | undefined; readonly body: string };
type Asking = { readonly token?: string; readonly headers?: Record<string, string>; readonly method?: string };

/** Uses node:http, because fetch does not allow another Host header. */
function post(url: string, body: unknown, { token, headers = {}, method = "POST" }: Asking = {}): Promise<Answer> {
  const given = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers };
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: { "content-type": "application/json", ...given } }, (answer) => {
      let text = "";
      answer.on("data", (bytes) => (text += String(bytes)));
      const session = String(answer.headers["mcp-session-id"] ?? "") || undefined;
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, session, body: text }));
    });
    asked.on("error", reject);
    asked.end(typeof body === "string" ? body : JSON.stringify(body));
  });
}

async function urlOf(place: AgentHome): Promise<string> {
  await until(
    "it listens",
    () => existsSync(place.file("run/mcp.json")),
    () => `${place.file("run/mcp.json")} exists: ${existsSync(place.file("run/mcp.json"))}`,
  );
  return String(JSON.parse(place.text("run/mcp.json")).url);
}

/** An agent that has had a turn, and so has a token. */
async function withToken(place: AgentHome): Promise<{ readonly id: string; readonly token: string }> {
  const id = await place.agent("alpha");
  await place.say(id, ">> say hello");
  await place.rests(id, 1);
  return { id, token: `${id}:${place.text(`agents/${id}/token`).trim()}` };
}

/** At the address of the last daemon. */
async function answers(url: string, token: string): Promise<boolean> {
  return post(url, { jsonrpc: "2.0", id: 9, method: "ping" }, { token }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

const INITIALIZE = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-06-18" } };
const spawn = (id: number, name: string) => {
  const params = { name: "spawn_agent", arguments: { name, instructions: ">> say child" } };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
};

test("a daemon without agents does not listen; the first agent opens the port, and only its owner can read the address", async () => {
  const place = home();
  await place.live();
  expect(existsSync(place.file("run/mcp.json"))).toBe(false);
  await place.agent("alpha");
  await urlOf(place);
  expect(statSync(place.file("run/mcp.json")).mode & 0o777).toBe(0o600);
});

test("a call repeated in a session under its id is executed once, even if the daemon was killed in between", async () => {
  const place = home();
  const first = await place.live();
  const { token } = await withToken(place);
  const { status, session, body } = await post(await urlOf(place), INITIALIZE, { token });
  expect([status, JSON.parse(body)]).toMatchObject([200, { result: { serverInfo: { name: "holdfast" } } }]);
  const headers = { "mcp-session-id": session ?? "" };
  const one = await post(await urlOf(place), spawn(1, "worker"), { token, headers });
  expect(JSON.parse(one.body)).toMatchObject({ id: 1, result: { isError: false } });
  const before = await urlOf(place);
  await place.kill(first);
  await place.live();
  await until(
    "it listens again",
    () => answers(before, token),
    () => answers(before, token),
  );
  expect(await urlOf(place)).toBe(before);
  const again = await post(await urlOf(place), spawn(1, "worker"), { token, headers });
  expect(again.body).toBe(one.body);
  const other = await post(await urlOf(place), spawn(2, "worker"), { token, headers });
  expect(JSON.parse(other.body)).toMatchObject({ id: 2, result: { isError: true } });
});

const check = (id: number) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "check_inbox" } });
const textsIn = ({ body }: Answer): string[] =>
  JSON.parse(body).result.structuredContent.messages.map(({ text }: { text: string }) => text);

test("AG-3(b,c) what check_inbox returned is delivered with the caller's next request; if the daemon dies before, it is returned again", async () => {
  const place = home();
  const first = await place.live();
  const { id, token } = await withToken(place);
  const url = await urlOf(place);
  const headers = { "mcp-session-id": "s1" };
  const asked = (number: number) => post(url, check(number), { token, headers });
  await place.say(id, `>> wait ${place.file("go")}`); // It is busy: new messages wait in its inbox.
  const isEmpty = async () => (await place.must("agent.inbox", { id })).length === 0;
  await until(
    "it works",
    async () => (await place.shown(id)).turnStartedAt !== null && (await isEmpty()),
    async () => [(await place.shown(id)).turnStartedAt, await isEmpty()],
  );
  await place.say(id, "one");
  expect([textsIn(await asked(1)), textsIn(await asked(1))]).toEqual([["one"], ["one"]]);
  expect(await place.must("agent.inbox", { id })).toHaveLength(1); // Its arrival is not known yet.
  expect(textsIn(await asked(2))).toEqual([]);
  expect(await place.must("agent.inbox", { id })).toEqual([]);
  await place.say(id, "two");
  expect(textsIn(await asked(3))).toEqual(["two"]);
  await place.kill(first);
  await place.live();
  await until(
    "it listens again",
    () => answers(url, token),
    () => answers(url, token),
  );
  expect(textsIn(await asked(4))).toEqual(["two"]);
  expect(textsIn(await asked(3))).toEqual(["two"]); // From the log.
  expect(await place.must("agent.inbox", { id })).toEqual([]); // The previous request was the receipt.
  await place.say(id, "three");
  expect(textsIn(await asked(5))).toEqual(["three"]);
  await Bun.write(place.file("go"), "");
  await place.rests(id, 2); // Its process said something, and no other turn began.
});

test("strangers are refused: no token, another's token, a browser, another host name, an endless body", async () => {
  const place = home();
  await place.live();
  const { id, token } = await withToken(place);
  const url = await urlOf(place);
  expect((await post(url, INITIALIZE)).status).toBe(401);
  expect((await post(url, INITIALIZE, { token: `${id}:${"0".repeat(64)}` })).status).toBe(401);
  expect((await post(url, INITIALIZE, { token, headers: { origin: "http://evil.example" } })).status).toBe(403);
  expect((await post(url, INITIALIZE, { token, headers: { host: "evil.example" } })).status).toBe(403);
  expect((await post(url, "x".repeat(2 << 20), { token })).status).toBe(413);
  expect((await post(url, "", { token, method: "GET" })).status).toBe(405);
  expect((await post(url, "", { token, method: "DELETE" })).status).toBe(204);
  expect((await post(`${url}/more`, INITIALIZE, { token })).status).toBe(404);
  const notice = { jsonrpc: "2.0", method: "notifications/initialized" };
  expect(await post(url, notice, { token })).toMatchObject({ status: 202, body: "" });
});
