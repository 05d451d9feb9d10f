// Unix sockets, through Bun.
// RS1. We bind under a private name and then link it to the path: so a path is never visible before it is 0600 and
//      listening, only one of two racing programs gets a free path, and Bun, which on close unlinks what it has bound,
//      never unlinks a successor's socket.
// RS2. The inode decides whether a path is ours.
import { linkSync, lstatSync, lutimesSync, renameSync, unlinkSync } from "node:fs";
import { Fault, isFault } from "../../base/fault.ts";
import type { Connection, ConnectionEvents, Listener, Sockets } from "../socket.ts";
import { asFault, attempt, unless } from "./attempt.ts";
import { RealConnection } from "./connection.ts";

type Accept = (connection: Connection) => ConnectionEvents;

/** K1: `sun_path` has 108 bytes, one of them for the NUL. */
const MAX_PATH = 107;
const TOO_LONG = "The path of a socket is limited to 107 bytes. Choose a shorter HOLDFAST_HOME.";
const OWNER_ONLY = 0o177;

let bound = 0;

export function realSockets(): Sockets {
  return { listen, connect };
}

async function listen(path: string, accept: Accept): Promise<Listener> {
  bound += 1;
  const own = `${path.slice(0, path.lastIndexOf("/") + 1)}.${process.pid.toString(36)}-${bound.toString(36)}`;
  mustFit(path);
  mustFit(own);
  const server = bind(own, accept);
  try {
    const inode = attempt("listen", own, () => lstatSync(own).ino);
    await name(own, path);
    return listenerOn(server, path, inode);
  } catch (error) {
    server.stop();
    throw error;
  }
}

function bind(own: string, accept: Accept) {
  // A leftover of a dead process that had our pid.
  unless(["ENOENT"], undefined, () => attempt("unlink", own, () => unlinkSync(own)));
  const before = process.umask(OWNER_ONLY); // K2
  try {
    return attempt("listen", own, () => Bun.listen<RealConnection>({ unix: own, socket: serving(accept) }));
  } finally {
    process.umask(before);
  }
}

/** RS1. A path without a listener is replaced in one step. */
async function name(own: string, path: string): Promise<void> {
  const free = unless(["EEXIST"], false, () => attempt("listen", path, () => linkSync(own, path) ?? true));
  if (free) return attempt("listen", path, () => unlinkSync(own));
  if (await answers(path)) throw new Fault({ code: "EADDRINUSE", operation: "listen", path }); // K2
  return attempt("listen", path, () => renameSync(own, path));
}

async function answers(path: string): Promise<boolean> {
  try {
    (await connect(path, { bytes: () => undefined, closed: () => undefined })).destroy();
    return true;
  } catch (error) {
    if (isFault(error, "ECONNREFUSED", "ENOENT")) return false;
    throw error;
  }
}

function listenerOn(server: { stop(): void }, path: string, inode: number): Listener {
  let open = true;
  // RS2
  const inPlace = () => unless(["ENOENT"], false, () => attempt("stat", path, () => lstatSync(path).ino === inode));
  const touch = () => {
    const now = Date.now() / 1000;
    if (inPlace()) unless(["ENOENT"], undefined, () => attempt("touch", path, () => lutimesSync(path, now, now)));
  };
  const close = () => {
    if (!open) return;
    open = false;
    if (inPlace()) unless(["ENOENT"], undefined, () => attempt("unlink", path, () => unlinkSync(path)));
    server.stop();
  };
  return { inPlace, touch, close };
}

async function connect(path: string, events: ConnectionEvents): Promise<Connection> {
  mustFit(path);
  const opened = Promise.withResolvers<Connection>();
  const open = (socket: Bun.Socket<RealConnection>) => {
    socket.data = new RealConnection(socket);
    socket.data.events = events;
    opened.resolve(socket.data);
  };
  try {
    await Bun.connect<RealConnection>({ unix: path, socket: { ...HANDLERS, open } });
  } catch (error) {
    throw asFault(error, "connect", path);
  }
  return opened.promise;
}

/** The handlers of a listening socket, of either family. */
export function serving(accept: Accept) {
  const open = (socket: Bun.Socket<RealConnection>) => {
    socket.data = new RealConnection(socket);
    socket.data.events = accept(socket.data);
  };
  return { ...HANDLERS, open };
}

/** The handlers of any open connection. */
export const HANDLERS = {
  data: (socket: Bun.Socket<RealConnection>, bytes: Uint8Array) => socket.data.events?.bytes(bytes),
  drain: (socket: Bun.Socket<RealConnection>) => socket.data.drain(),
  // A refused connection is closed without ever having been opened.
  close: (socket: Bun.Socket<RealConnection | undefined>) => socket.data?.close(),
  // After any error `close` follows, which is enough.
  error: () => undefined,
};

function mustFit(path: string): void {
  if (Buffer.byteLength(path) <= MAX_PATH) return;
  throw new Fault({ code: "ENAMETOOLONG", operation: "listen", path, hint: TOO_LONG }); // K1
}
