// The network, through Bun.
import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { assert } from "../../base/assert.ts";
import { Fault } from "../../base/fault.ts";
import type { Destination, Network } from "../network.ts";
import type { Connection, ConnectionEvents } from "../socket.ts";
import { attempt } from "./attempt.ts";
import { RealConnection } from "./connection.ts";
import { HANDLERS, serving } from "./socket.ts";

const LOOPBACK = "127.0.0.1"; // NW3

export function realNetwork(): Network {
  return { resolve, connect, secure, listen, own };
}

async function resolve(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw faultOf(error, "resolve", name);
  }
}

async function connect({ address, port, tls }: Destination, events: ConnectionEvents): Promise<Connection> {
  const { opened, failed, socket } = opening(`${tls ?? address}:${port}`, tls, events);
  const secure = tls === undefined ? {} : { tls: certified(tls) };
  // A failure is also reported to `connectError`.
  void Bun.connect<RealConnection>({ hostname: address, port, ...secure, socket }).catch(failed);
  return opened;
}

async function secure(connection: Connection, name: string, events: ConnectionEvents): Promise<Connection> {
  assert(connection instanceof RealConnection, "connections of this network are ours");
  const { opened, socket } = opening(name, name, events);
  connection.upgrade({ tls: certified(name), socket });
  return opened;
}

/** The handlers of a connection that is being opened, with or without TLS. */
function opening(where: string, tls: string | undefined, events: ConnectionEvents) {
  const { promise: opened, resolve, reject } = Promise.withResolvers<Connection>();
  const ready = (socket: Bun.Socket<RealConnection>) => {
    socket.data.events = events;
    resolve(socket.data);
  };
  const failed = (error: unknown) => reject(faultOf(error, "connect", where));
  const socket = {
    ...HANDLERS,
    open: (socket: Bun.Socket<RealConnection>) => {
      socket.data = new RealConnection(socket);
      if (tls === undefined) ready(socket);
    },
    handshake: (socket: Bun.Socket<RealConnection>, isTrusted: boolean, error: Error | null) => {
      if (isTrusted && error === null) return ready(socket); // NW2
      failed(error);
      socket.terminate();
    },
    close: (socket: Bun.Socket<RealConnection | undefined>) => {
      failed(undefined); // Without effect once it was opened.
      socket.data?.close();
    },
    connectError: (_: unknown, error: Error) => failed(error),
  };
  return { opened, failed, socket };
}

/** NW2 */
function certified(name: string): Bun.TLSOptions {
  return { serverName: name, rejectUnauthorized: true };
}

function listen(port: number, accept: (connection: Connection) => ConnectionEvents): void {
  attempt("listen", `${LOOPBACK}:${port}`, () =>
    Bun.listen<RealConnection>({ hostname: LOOPBACK, port, socket: serving(accept) }),
  );
}

function own(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address));
}

/** Errors of many kinds, which all mean that the other side was not reached. */
function faultOf(error: unknown, operation: string, path: string): Fault {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "ECONNRESET";
  return new Fault({ code, operation, path, hint: "Check the name, the port, and the network." }, error);
}
