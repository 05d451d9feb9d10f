// PostgreSQL by a small client of our own (decision 0051): the hosts of a target in their order, until one takes us.
// CL1. With `read-write`, a host that is a standby, or that only reads by its settings, is passed over: after a
//      fail-over the writable one is another.
import type * as nodeCrypto from "node:crypto";
import type { Duplex } from "node:stream";
import { hostText } from "../../../base/postgres-host.ts";
import { ok, type Result, refused } from "../../../base/result.ts";
import type { Postgres, PostgresConnection, PostgresStatement, PostgresTarget } from "../../postgres.ts";
import { systemCode } from "../attempt.ts";
import { Channel, ChannelClosed } from "./channel.ts";
import { RealPostgresConnection } from "./connection.ts";
import { ProtocolError } from "./frames.ts";
import { LoginRefused, logIn } from "./login.ts";
import { type BackendKey, cancelRequest } from "./messages.ts";
import { NoTls, openStream, type Stream } from "./stream.ts";

type Host = PostgresTarget["hosts"][number];

const NONCE_BYTES = 18;
const CHECK = "Check that the server runs, and the hosts and ports of the URL.";
const PRIMARY = "Give the primary, or all hosts of the database: postgres://user@one,two/database";
const TLS = "Turn it on there (ssl = on); on a network that nobody else can read: ?sslmode=disable";
const CERTIFICATE = "Check sslrootcert, and that the certificate of the server has the name in the URL.";
const WRITABLE: PostgresStatement = {
  name: "holdfast.writable",
  text: "select (pg_catalog.pg_is_in_recovery() or pg_catalog.current_setting('transaction_read_only')::bool)::text",
};

export function realPostgres(): Postgres {
  return { connect };
}

async function connect(target: PostgresTarget): Promise<Result<PostgresConnection>> {
  const said: string[] = [];
  let hint = CHECK;
  for (const host of target.hosts) {
    try {
      return ok(await connectTo(host, target));
    } catch (error) {
      said.push(`${hostText(host)}: ${reason(error)}`);
      hint = hintOf(error) ?? hint;
    }
  }
  return refused("postgres-unreachable", `PostgreSQL is not reachable. ${said.join(" ")}`, hint);
}

/** Of an error of the network, the system says which call it was; an error of TLS has a code alone. */
function hintOf(error: unknown): string | undefined {
  if (error instanceof LoginRefused) return error.hint;
  if (error instanceof NoTls) return TLS;
  const isOfTls = error instanceof Error && "code" in error && systemCode(error) === undefined;
  return isOfTls ? CERTIFICATE : undefined;
}

/** What the network, TLS or the server may do to us; any other error is a bug of ours. */
function reason(error: unknown): string {
  if (error instanceof LoginRefused) return error.message;
  if (error instanceof NoTls) return `${error.message}.`;
  if (error instanceof ProtocolError) return `The server sent ${error.message}.`;
  if (error instanceof ChannelClosed) return `${error.message}.`;
  if (error instanceof Error && ("code" in error || systemCode(error) !== undefined)) return `${error.message}.`;
  throw error;
}

async function connectTo(host: Host, target: PostgresTarget): Promise<PostgresConnection> {
  const { connectTimeoutMs } = target;
  const stream = await streamTo(host, target);
  const channel = new Channel(stream.socket);
  try {
    const { trust, binding } = stream;
    const facts = { ...target, password: host.password, trust, binding, nonce };
    const key = await channel.limit(connectTimeoutMs, () => logIn(channel, facts));
    const connection = new RealPostgresConnection(hostText(host), channel, () => cancel(host, target, key));
    if (target.session === "read-write") await mustWrite(connection, connectTimeoutMs);
    return connection;
  } catch (error) {
    channel.close("the login failed");
    throw error;
  }
}

async function streamTo(host: Host, { authority, connectTimeoutMs }: PostgresTarget): Promise<Stream> {
  const late = new ChannelClosed(`no connection within ${connectTimeoutMs / 1_000} s`);
  const sockets: Duplex[] = [];
  const close = (error: Error) => {
    for (const socket of sockets) socket.destroy(error);
  };
  const timer = setTimeout(() => close(late), connectTimeoutMs);
  try {
    return await openStream(host, authority, (socket) => void sockets.push(socket));
  } catch (error) {
    close(late);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** CL1 */
async function mustWrite(connection: PostgresConnection, withinMs: number): Promise<void> {
  const outcome = await connection.run(WRITABLE, [], withinMs);
  if (outcome.kind === "refused") throw new LoginRefused(outcome.message, CHECK);
  if (outcome.kind === "unknown") throw new ChannelClosed(outcome.why);
  if (outcome.rows[0]?.[0] !== "false") throw new LoginRefused("It only reads: a standby, or read-only.", PRIMARY);
}

/** The server answers nothing, whatever comes of it. */
async function cancel(host: Host, target: PostgresTarget, key: BackendKey | undefined): Promise<void> {
  if (key === undefined) return;
  const { socket } = await streamTo(host, target);
  socket.end(cancelRequest(key));
}

/** Base64 has no comma. */
function nonce(): string {
  const library: typeof nodeCrypto = require("node:crypto");
  return library.randomBytes(NONCE_BYTES).toString("base64");
}
