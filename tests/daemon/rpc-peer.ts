// A daemon's RPC server on a socket of its own, and two clients: a well-behaved one, and one that sends arbitrary
// bytes.
import { afterEach } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ok } from "../../src/base/result.ts";
import { Bus } from "../../src/daemon/bus.ts";
import { type Handlers, RpcServer, type ServerOptions } from "../../src/daemon/rpc-server.ts";
import { encodeLine } from "../../src/wire/lines.ts";
import { RpcClient } from "../../src/wire/rpc/client.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import type { Connection } from "../../src/world/socket.ts";
import { SimClock } from "../sim/clock.ts";
import { until } from "../until.ts";

export const sockets = realSockets();
export const TOKEN = "a".repeat(64);
export const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

export async function serve(handlers: Handlers = {}, others?: ServerOptions["others"]) {
  const directory = mkdtempSync(join(tmpdir(), "hfdm-"));
  const path = join(directory, "s");
  const bus = new Bus();
  const done: string[] = [];
  const all: Handlers = {
    status: async () => {
      done.push("status");
      return ok({ version: "1" });
    },
    ...handlers,
  };
  const clock = new SimClock();
  const said: string[] = [];
  const say = (words: string) => void said.push(words);
  const options = { clock, token: TOKEN, version: "1.2.3", pid: 42, say, ...(others && { others }) };
  const server = new RpcServer(all, bus, options);
  await server.listen(sockets, path);
  closers.push(
    () => rmSync(directory, { recursive: true, force: true }),
    () => server.close(),
  );
  return { server, bus, path, done, clock, said };
}

/** A client that sends arbitrary bytes. */
export class Raw {
  heard = "";
  closed = false;
  #connection: Connection | undefined;

  static async to(path: string): Promise<Raw> {
    const raw = new Raw();
    raw.#connection = await sockets.connect(path, {
      bytes: (bytes) => {
        raw.heard += Buffer.from(bytes).toString();
      },
      closed: () => {
        raw.closed = true;
      },
    });
    closers.push(() => raw.#connection?.destroy());
    return raw;
  }

  say(...messages: readonly unknown[]): void {
    const parts = messages.map((message) => (typeof message === "string" ? Buffer.from(message) : encodeLine(message)));
    this.send(Buffer.concat(parts));
  }

  send(bytes: Uint8Array): void {
    this.#connection?.send(bytes);
  }

  pause(): void {
    this.#connection?.pause();
  }

  resume(): void {
    this.#connection?.resume();
  }

  answers(): unknown[] {
    return this.heard.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));
  }

  ends(): Promise<boolean> {
    return until(
      "the connection is closed",
      () => this.closed,
      () => this.closed,
    );
  }
}

export const hello = (changes: object = {}) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "hello",
  params: { token: TOKEN, version: "1", protocol: 1, ...changes },
});
export const ask = (id: number, method = "status", params: unknown = {}) => ({ jsonrpc: "2.0", id, method, params });

export async function client(path: string): Promise<RpcClient> {
  const made = await RpcClient.connect((events) => sockets.connect(path, events), TOKEN, "1");
  if (!made.ok) throw new Error(made.error.message);
  closers.push(() => made.value.close());
  return made.value;
}
