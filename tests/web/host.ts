// A web host in the test's own process, with real HTTP requests and WebSockets, and a daemon that is simulated or
// missing.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startHost } from "../../src/web/host.ts";
import { decodeLine, encodeLine, LineReader } from "../../src/wire/lines.ts";
import type { WebState } from "../../src/wire/page/messages.ts";
import { noticeLine, parseRequest, resultLine, type StatusResult } from "../../src/wire/rpc/rpc.ts";
import { sha256 } from "../../src/world/hash.ts";
import { realCertificates } from "../../src/world/real/certificates.ts";
import { realChildren } from "../../src/world/real/children.ts";
import { realHttp } from "../../src/world/real/http.ts";
import { realMachine } from "../../src/world/real/machine.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { realSelf } from "../../src/world/self.ts";
import type { Connection } from "../../src/world/socket.ts";
import { realWorld } from "../../src/world/world.ts";
import { put } from "../world/places.ts";
import { Tab } from "./tab.ts";

const doors = {
  sockets: realSockets(),
  http: realHttp(),
  children: realChildren(),
  self: realSelf(),
  machine: realMachine(),
  certificates: realCertificates(),
};
export const world = { ...realWorld(), ...doors, fleet: () => undefined };
export const cleanups: (() => unknown)[] = [];

/** For `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const clean of cleanups.splice(0).reverse()) await clean();
}

export function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "holdfast-web-"));
  cleanups.push(() => rmSync(home, { recursive: true }));
  for (const name of ["run", "recovery"]) world.disk.makeDirectory(`${home}/${name}`);
  return home;
}

export const TOKEN = "7".repeat(64);

/** A browser that is signed in, as the daemon stores it. */
export function signedIn(home: string, token = TOKEN): void {
  const at = new Date().toISOString();
  const device = { id: `of ${token}`, name: "a browser", hash: sha256(token), madeAt: at, usedAt: at };
  put(world.disk, `${home}/recovery/devices.json`, JSON.stringify({ v: 1, links: [], devices: [device] }));
}

export async function host(home = newHome(), port = 0, clock = world.clock) {
  const said: string[] = [];
  const started = await startHost({ ...world, clock }, { home, port, say: (words) => said.push(words) });
  cleanups.push(() => started.close());
  signedIn(home);
  const { origin, port: at } = new URL(started.url);
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, { redirect: "manual", headers });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, { method: "POST", body: JSON.stringify(body), headers: { origin, ...headers } });
  const tab = () => Tab.of(origin, TOKEN);
  /** The close of a tab that says this first. */
  const closeAfter = async (first: string | Uint8Array<ArrayBuffer>) => {
    const one = new Tab(origin);
    await one.opened;
    one.raw(first);
    return Promise.race([one.closed, one.sees("welcome").then(() => ({ code: 0, reason: "it is welcome" }))]);
  };
  return { ...started, home, origin, port: Number(at), get, post, tab, closeAfter, said };
}

export const hello = (token: string) => JSON.stringify({ type: "hello", token });

export async function stateIn(tab: Tab): Promise<WebState> {
  const state = await tab.call("web.state");
  if (!state.ok) throw new Error(state.error.message);
  return state.value as WebState;
}

export const STATUS: StatusResult = {
  version: "0.1.0",
  home: "/h",
  watchdog: { pid: 1 },
  daemon: { pid: 2, startedAt: "2026-01-01T00:00:00.000Z" },
  web: { pid: 3, url: null },
  recovery: { stage: "LIVE", attempt: 1, report: null },
  safeMode: { active: false, reason: null },
  counts: { terminals: 1, agents: 0, workflows: 0, prompts: 0 },
};

/** A daemon that answers every method from a table; without an entry it stays silent. */
export async function daemon(home: string, results: Readonly<Record<string, unknown>>) {
  put(world.disk, `${home}/run/token`, "secret\n");
  const seen: string[] = [];
  const take = (connection: Connection, line: string) => {
    const request = parseRequest(decodeLine(line) ?? {});
    if (request === undefined) return;
    const params = Object.keys(request.params).length === 0 ? "" : ` ${JSON.stringify(request.params)}`;
    seen.push(request.method === "hello" ? `hello ${request.params["token"]}` : `${request.method}${params}`);
    const result = results[request.method];
    if (result !== undefined) connection.send(encodeLine(resultLine(request.id, result)));
  };
  const connections = new Set<Connection>();
  const listener = await world.sockets.listen(`${home}/run/daemon.sock`, (connection) => {
    const lines = new LineReader();
    connections.add(connection);
    const bytes = (more: Uint8Array) => {
      for (const line of lines.push(more) ?? []) take(connection, line);
    };
    return { bytes, closed: () => void connections.delete(connection) };
  });
  const end = () => {
    listener.close();
    for (const connection of connections) connection.destroy();
  };
  const publish = (topic: string, data: unknown) => {
    for (const connection of connections) connection.send(encodeLine(noticeLine({ topic, data })));
  };
  cleanups.push(end);
  return { seen, connections, publish, end };
}

export const WELL = { hello: { version: "0.1.0", protocol: 1, pid: 2 }, status: STATUS, subscribe: {} };
