// The network, through Bun.
import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { Fault } from "../../base/fault.ts";
import type { Destination, Network } from "../network.ts";
import type { Connection, ConnectionEvents } from "../socket.ts";
import { attempt } from "./attempt.ts";
import { RealConnection } from "./connection.ts";
import { HANDLERS, serving } from "./socket.ts";

const LOOPBACK = "127.0.0.1"; // NW3

export function realNetwork(): Network {
  return { resolve, connect, listen, own };
}

async function resolve(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw faultOf(error, "resolve", name);
  }
}

async function connect({ address, port, tls }: Destination, events: ConnectionEvents): Promise<Connection> {
  const opened = Promise.withResolvers<Connection>();
  const ready = (socket: Bun.Socket<RealConnection>) => {
    socket.data.events = events;
    opened.resolve(socket.data);
  };
  const where = `${tls ?? address}:${port}`;
  const failed = (error: unknown) => opened.reject(faultOf(error, "connect", where));
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
  const secure = tls === undefined ? {} : { tls: { serverName: tls, rejectUnauthorized: true } };
  // A failure is also reported to `connectError`.
  void Bun.connect<RealConnection>({ hostname: address, port, ...secure, socket }).catch(failed);
  return opened.promise;
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
