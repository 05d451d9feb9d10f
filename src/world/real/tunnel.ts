// Tunnels by reverse HTTP/2 over node:tls: the side that dialled serves, the side that accepted requests.
// RT1. ALPN names HTTP/2: Bun's session refuses a TLS socket without it.
// RT2. To enrol, only the hash of the authority is known. Then TLS verifies nothing, and we do it before HTTP/2 begins:
//      the last certificate of the chain has that hash, and has signed the server's.
// RT3. A stream's errors end the stream; those of the session or the socket end the tunnel, once.
// RT4. A client waits for its turn before TLS begins: handshakes are what many clients at once cost.
// RT5. Bun takes 30 ms to load HTTP/2 and TLS, and most homes have no tunnel: they are loaded with the first one.
import type * as http2 from "node:http2";
import type * as net from "node:net";
import type { Duplex } from "node:stream";
import type * as tls from "node:tls";
import { Fault } from "../../base/fault.ts";
import { sha256 } from "../hash.ts";
import type {
  AcceptedTunnel,
  DialEvents,
  DialOptions,
  PeerCertificate,
  Tunnel,
  TunnelEnd,
  TunnelIdentity,
  TunnelListener,
  TunnelListenOptions,
  TunnelPeer,
  TunnelStream,
  TunnelStreamEvents,
  Tunnels,
} from "../tunnel.ts";
import { systemCode } from "./attempt.ts";
import { certificateIn } from "./certificates.ts";

/** RT5 */
const http2Library = (): typeof http2 => require("node:http2");
const netLibrary = (): typeof net => require("node:net");
const tlsLibrary = (): typeof tls => require("node:tls");
/** RT1 */
const ALPN = ["h2"];
/** TU4. Each browser has one stream; a stream's window is what a terminal may be ahead of its reader. */
const SETTINGS: http2.Settings = {
  maxConcurrentStreams: 1_000,
  initialWindowSize: 256 << 10,
  maxHeaderListSize: 8 << 10,
  enablePush: false,
};
const SESSION = { maxSessionMemory: 200, settings: SETTINGS };
/** How long TLS may take. */
const HANDSHAKE_MS = 20_000;
const SERVER = { isServer: true, ALPNProtocols: ALPN, requestCert: true, rejectUnauthorized: false };
/** TU4. Beyond it, the one that has taken longest has to leave. */
const MAX_HANDSHAKES = 256;

export function realTunnels(): Tunnels {
  return { dial, listen };
}

function dial({ host, port, authority, identity }: DialOptions, events: DialEvents): Tunnel {
  const trust = "pem" in authority ? { ca: authority.pem } : { rejectUnauthorized: false };
  const key = identity && { key: identity.key, cert: identity.certificate };
  const named = netLibrary().isIP(host) === 0 && { servername: host }; // TLS has no server name for an address.
  const socket = tlsLibrary().connect({ ...{ host, port, ALPNProtocols: ALPN }, ...named, ...trust, ...key });
  const server = http2Library().createServer(SESSION);
  const end = onceClosed(
    (why) => events.closed(why),
    () => socket.destroy(),
  );
  socket.setNoDelay(true);
  socket.setTimeout(HANDSHAKE_MS, () => end({ code: "ETIMEDOUT", message: "The other side does not answer." }));
  socket.once("connect", () => events.connected());
  socket.once("secureConnect", () => {
    socket.setTimeout(0);
    const trusted = authorityOf(socket, host, authority);
    if (trusted === undefined) return end(NOT_PINNED); // RT2
    events.secured(trusted);
    server.emit("connection", socket);
  });
  server.on("stream", (stream: http2.ServerHttp2Stream, headers) => serve(stream, headers[":path"] ?? "", events));
  server.on("sessionError", (error) => end(endOf(error)));
  watch(socket, end);
  return { close: () => end(CLOSED) };
}

const CLOSED: TunnelEnd = { code: "CLOSED", message: "We have closed it." };
const LOST: TunnelEnd = { code: "LOST", message: "The connection was lost." };
const NOT_PINNED: TunnelEnd = {
  code: "AUTHORITY",
  message: "The relay's authority is not the one that the token names.",
};

/** Closes the socket and reports it, once (RT3). */
function onceClosed(closed: (end: TunnelEnd) => void, destroy: () => void): (end: TunnelEnd) => void {
  let isOver = false;
  return (end) => {
    if (isOver) return;
    isOver = true;
    destroy();
    closed(end);
  };
}

function watch(socket: tls.TLSSocket, end: (end: TunnelEnd) => void): void {
  socket.on("error", (error) => end(endOf(error)));
  socket.once("close", () => end(LOST));
}

function endOf(error: Error): TunnelEnd {
  const code = "code" in error && typeof error.code === "string" ? error.code : "ERROR";
  return { code, message: error.message };
}

/** The authority's certificate as PEM; undefined if it is not the pinned one (RT2). */
function authorityOf(socket: tls.TLSSocket, host: string, authority: DialOptions["authority"]): string | undefined {
  if ("pem" in authority) return authority.pem;
  const own = socket.getPeerCertificate(true);
  let root = own;
  while (root.issuerCertificate !== undefined && root.issuerCertificate !== root) root = root.issuerCertificate;
  if (root.raw === undefined || sha256(root.raw) !== authority.hash) return undefined;
  const [server, signer] = [certificateIn(own.raw), certificateIn(root.raw)];
  const isNamed = (netLibrary().isIP(host) === 0 ? server.checkHost(host) : server.checkIP(host)) !== undefined;
  return isNamed && server.verify(signer.publicKey) ? signer.toString() : undefined;
}

function serve(stream: http2.ServerHttp2Stream, path: string, events: DialEvents): void {
  stream.respond({ ":status": 200 });
  listenTo(stream, events.stream(path, streamOf(stream)));
}

function streamOf(stream: http2.Http2Stream): TunnelStream {
  return {
    send: (bytes) => !stream.destroyed && !stream.writableEnded && stream.write(bytes.slice()),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    end: () => void stream.end(),
    destroy: () => stream.close(http2Library().constants.NGHTTP2_CANCEL),
  };
}

function listenTo(stream: http2.Http2Stream, events: TunnelStreamEvents): void {
  stream.on("data", (bytes: Buffer) => events.bytes(bytes));
  stream.on("drain", () => events.drained());
  stream.on("end", () => stream.end());
  stream.on("error", () => undefined); // RT3: `close` follows.
  stream.once("close", () => events.closed());
}

async function listen(
  options: TunnelListenOptions,
  accept: (peer: TunnelPeer, tunnel: AcceptedTunnel) => (end: TunnelEnd) => void,
): Promise<TunnelListener> {
  const { host, port, authority } = options;
  let context = contextOf(options, authority);
  const handshakes = new Handshakes(options.handshakeMs ?? HANDSHAKE_MS);
  const greet = async (socket: net.Socket) => {
    socket.on("error", () => undefined); // `close` follows.
    if (options.greets?.(socket.remoteAddress ?? "") === false) return void socket.destroy();
    await options.admit?.(); // RT4
    if (socket.destroyed) return;
    handshakes.began(socket);
    const secured = new (tlsLibrary().TLSSocket)(socket, { ...SERVER, secureContext: context });
    secured.on("error", () => undefined); // Before it is secure, it was never a tunnel.
    secured.once("secure", () => {
      handshakes.ended(socket);
      accepted(secured, authority, accept);
    });
  };
  const server = netLibrary().createServer({ pauseOnConnect: true }, (socket) => void greet(socket));
  await listening(server, host, port);
  return {
    port: (server.address() as net.AddressInfo).port,
    renew: (identity) => {
      context = contextOf(identity, authority);
    },
    close: () => server.close(),
  };
}

/** TU4. The clients that have not finished TLS. Bun's own `handshakeTimeout` has no effect. */
class Handshakes {
  readonly #ms: number;
  /** In the order in which they came. */
  readonly #waiting = new Map<Duplex, NodeJS.Timeout>();

  constructor(ms: number) {
    this.#ms = ms;
  }

  began(socket: Duplex): void {
    this.#waiting.set(
      socket,
      setTimeout(() => socket.destroy(), this.#ms),
    );
    socket.once("close", () => this.ended(socket));
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MAX_HANDSHAKES) oldest?.destroy();
  }

  ended(socket: Duplex): void {
    clearTimeout(this.#waiting.get(socket));
    this.#waiting.delete(socket);
  }
}

/** The authority is sent along: a client that knows only its hash has to see it (RT2). */
function contextOf({ key, certificate }: TunnelIdentity, authority: string): tls.SecureContext {
  return tlsLibrary().createSecureContext({ key, cert: `${certificate}\n${authority}`, ca: authority });
}

function listening(server: net.Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new Fault({ code: systemCode(error) ?? "EADDRINUSE", operation: "listen", path: `${host}:${port}` }, error),
      ),
    );
    server.listen(port, host, () => resolve());
  });
}

function accepted(
  socket: tls.TLSSocket,
  authority: string,
  accept: (peer: TunnelPeer, tunnel: AcceptedTunnel) => (end: TunnelEnd) => void,
): void {
  let ended: TunnelEnd | undefined;
  let report = (end: TunnelEnd): void => {
    ended = end;
  };
  const end = onceClosed(
    (why) => report(why),
    () => socket.destroy(),
  );
  watch(socket, end);
  socket.setNoDelay(true);
  const session = http2Library().connect("https://home", { ...SESSION, createConnection: () => socket });
  session.on("error", (error) => end(endOf(error)));
  session.on("goaway", () => end(LOST));
  const open: AcceptedTunnel["open"] = (path, events) => {
    const stream = session.request({ ":method": "POST", ":path": path }, { endStream: false });
    listenTo(stream, events);
    return streamOf(stream);
  };
  report = accept(peerOf(socket, authority), { open, close: () => end(CLOSED) });
  if (ended !== undefined) report(ended);
}

function peerOf(socket: tls.TLSSocket, authority: string): TunnelPeer {
  const { authorized, authorizationError } = socket;
  const problem = authorized ? null : String(authorizationError ?? "UNABLE_TO_GET_ISSUER_CERT");
  const given = socket.getPeerCertificate();
  const isOurs = given?.raw !== undefined && isSignedBy(given.raw, authority);
  return { address: socket.remoteAddress ?? "", problem, isOurs, certificate: certificateOf(given) };
}

/** TU3 */
function isSignedBy(raw: Uint8Array, authority: string): boolean {
  return certificateIn(raw).verify(certificateIn(authority).publicKey);
}

function certificateOf(given: tls.PeerCertificate | undefined): PeerCertificate | null {
  if (given?.serialNumber === undefined) return null;
  const { serialNumber, subject, valid_from, valid_to } = given;
  const serial = serialNumber.toLowerCase().replace(/^0+(?=.)/, "");
  const name = Array.isArray(subject.CN) ? (subject.CN[0] ?? "") : (subject.CN ?? "");
  return { serial, name, notBefore: Date.parse(valid_from), notAfter: Date.parse(valid_to) };
}
