// A connection to the daemon of a home, for every program that is its client.
// DL1. Dialling never starts anything and never waits long: a daemon that hangs counts as not running.

import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Result } from "../base/result.ts";
import { readWhole } from "../log/file/file.ts";
import { RpcClient } from "../wire/rpc/client.ts";
import { VERSION } from "../wire/version.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Sockets } from "../world/socket.ts";
import { within } from "../world/wait.ts";
import { DAEMON_SOCKET, TOKEN } from "./layout.ts";

/** A healthy daemon answers within a millisecond. */
export const HELLO_MS = 3_000;
/** As long as a person waits before wondering. */
const ANSWER_MS = 10_000;

export type DialWorld = { readonly disk: Disk; readonly sockets: Sockets; readonly clock: Clock };

/** Returns undefined if no daemon answers, and a refusal if it does not accept us (another version, for example). */
export async function dial(
  { disk, sockets, clock }: DialWorld,
  home: string,
  patienceMs: number = HELLO_MS,
  first?: (client: RpcClient) => void,
): Promise<Result<RpcClient | undefined>> {
  const token = readWhole(disk, joinPath(home, TOKEN));
  if (token === undefined) return ok(undefined);
  const path = joinPath(home, DAEMON_SOCKET);
  const connect = RpcClient.connect(
    (events) => sockets.connect(path, events),
    new TextDecoder().decode(token).trim(),
    VERSION,
    { ms: ANSWER_MS, after: (ms, fn) => clock.after(ms, fn), first },
  );
  try {
    const client = await within(clock, patienceMs, connect); // DL1
    return client === undefined || isRetryable(client) ? ok(undefined) : client;
  } catch (error) {
    // ECONNRESET: it died with us in its queue.
    if (isFault(error, "ENOENT", "ECONNREFUSED", "ECONNRESET")) return ok(undefined);
    throw error;
  }
}

/**
 * Dials and asks in one round trip (Q3 of wire/rpc/client.ts). The caller closes the client; the answer may be that the
 * daemon is gone.
 */
export async function dialAsking<T>(
  world: DialWorld,
  home: string,
  patienceMs: number,
  question: (client: RpcClient) => Promise<T>,
): Promise<Result<{ readonly client: RpcClient; readonly answer: T } | undefined>> {
  let asked: Promise<T> | undefined;
  const line = await dial(world, home, patienceMs, (client) => {
    asked = question(client);
  });
  if (!line.ok) return line;
  return ok(line.value && asked && { client: line.value, answer: await asked });
}

/** The daemon is shutting down, or has just made a new token. */
function isRetryable(client: Result<RpcClient>): boolean {
  return !client.ok && ["daemon.gone", "daemon.silent", "rpc.token"].includes(client.error.code);
}
