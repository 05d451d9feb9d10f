// The stream to one PostgreSQL server: TCP or a unix socket, with TLS if it is asked for.
// ST1. TLS is asked for before anything else is sent. After the server's yes, one byte, TLS begins; whatever came with
//      that byte was put there by somebody else, and would be taken for the server's words (CVE-2021-23222).
// ST2. If the server has no TLS, there is no connection: nothing goes on in plain text that was to be encrypted.
// ST3. Loading TLS takes time, and most programs have no database: it is loaded with the first connection.
import type * as nodeCrypto from "node:crypto";
import type * as net from "node:net";
import type { Duplex } from "node:stream";
import type * as tls from "node:tls";
import { isLoopback, type PostgresHost, socketPath } from "../../../base/postgres-host.ts";
import { ChannelClosed } from "./channel.ts";
import { ProtocolError } from "./frames.ts";
import { ASK_TLS } from "./messages.ts";
import type { Binding } from "./scram.ts";

/** ST3 */
const netLibrary = (): typeof net => require("node:net");
const tlsLibrary = (): typeof tls => require("node:tls");
const crypto = (): typeof nodeCrypto => require("node:crypto");

/** How far the other side is known. `local`: on this machine. `chain`: somebody whom the authority knows. */
export type Trust = "none" | "local" | "chain" | "name";

export type Stream = { readonly socket: Duplex; readonly trust: Trust; readonly binding: Binding };

const KEEPALIVE_MS = 10_000;
const UNBOUND: Binding = { kind: "none" };
const TRUST_BY_TLS = { require: "none", "verify-ca": "chain", "verify-full": "name" } as const;

/** ST2 */
export class NoTls extends Error {
  override readonly name = "NoTls";
}

/** Rejects if there is none; when to stop waiting is the caller's decision, by `began`. */
export async function openStream(
  host: PostgresHost,
  authority: string | undefined,
  began: (socket: Duplex) => void,
): Promise<Stream> {
  const { connect } = netLibrary();
  const socket = host.kind === "unix" ? connect({ path: socketPath(host) }) : connect(host.port, host.host);
  began(socket);
  await once(socket, "connect");
  if (host.kind === "unix") return { socket, trust: "local", binding: UNBOUND };
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEPALIVE_MS);
  if (host.tls === "disable") return { socket, trust: isLoopback(host.host) ? "local" : "none", binding: UNBOUND };
  await agreeOnTls(socket);
  const names = netLibrary().isIP(host.host) === 0 && { servername: host.host }; // TLS has no name for an address.
  const ca = authority === undefined ? {} : { ca: authority };
  const verified = { require: { rejectUnauthorized: false }, "verify-ca": { checkServerIdentity: () => undefined } };
  const how = host.tls === "verify-full" ? {} : verified[host.tls];
  const secured = tlsLibrary().connect({ ...{ socket, host: host.host, ...names }, ...ca, ...how });
  began(secured);
  await once(secured, "secureConnect");
  return { socket: secured, trust: TRUST_BY_TLS[host.tls], binding: bindingOf(secured.getPeerCertificate().raw) };
}

/** ST1 */
async function agreeOnTls(socket: net.Socket): Promise<void> {
  socket.write(ASK_TLS);
  const answer = await once<Uint8Array>(socket, "data");
  socket.pause();
  const said = String.fromCharCode(answer[0] ?? 0);
  if (said !== "S") throw new NoTls("The server has no TLS, which was to be used"); // ST2
  if (answer.length > 1) throw new ProtocolError("more than its answer before TLS began");
}

/** Rejects if the socket fails or closes before. */
function once<T>(socket: Duplex, event: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new ChannelClosed("the connection was closed"));
    socket.once("error", reject);
    socket.once("close", closed);
    socket.once(event, (value: T) => {
      socket.off("error", reject);
      socket.off("close", closed);
      socket.on("error", () => undefined); // `close` follows.
      resolve(value);
    });
  });
}

/** The hash that RFC 5929 uses, by the algorithm of the certificate's signature. Others have none: Ed25519, PSS. */
const HASHES: Readonly<Record<string, string>> = {
  "2a864886f70d010104": "sha256",
  "2a864886f70d010105": "sha256",
  "2a864886f70d01010b": "sha256",
  "2a864886f70d01010c": "sha384",
  "2a864886f70d01010d": "sha512",
  "2a8648ce3d0401": "sha256",
  "2a8648ce3d040302": "sha256",
  "2a8648ce3d040303": "sha384",
  "2a8648ce3d040304": "sha512",
};

function bindingOf(certificate: Uint8Array | undefined): Binding {
  const hash = certificate === undefined ? undefined : HASHES[signatureAlgorithm(certificate)];
  if (certificate === undefined || hash === undefined) return UNBOUND;
  return { kind: "bound", hash: crypto().createHash(hash).update(certificate).digest() };
}

/** In hex. A certificate is a sequence of what is signed, the algorithm (a sequence that begins with its id), and the
 *  signature. */
function signatureAlgorithm(certificate: Uint8Array): string {
  const [whole] = element(certificate, 0);
  const [, signed] = element(certificate, whole);
  const [algorithm] = element(certificate, signed);
  const [start, end] = element(certificate, algorithm);
  return Buffer.from(certificate.subarray(start, end)).toString("hex");
}

/** Where the content of the DER element at `at` starts and ends. */
function element(bytes: Uint8Array, at: number): [start: number, end: number] {
  const short = bytes[at + 1] ?? 0;
  if (short < 0x80) return [at + 2, at + 2 + short];
  const count = short & 0x7f;
  const length = bytes.subarray(at + 2, at + 2 + count).reduce((sum, byte) => sum * 256 + byte, 0);
  return [at + 2 + count, at + 2 + count + length];
}
