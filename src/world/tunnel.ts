// Tunnels: one connection over mutual TLS with many streams. The home dials and serves; the relay accepts and opens
// streams to it (reverse HTTP/2), so that a home needs no open port.
// TU1. Each stream has its own flow control: one that is not read stops its sender, and no other stream.
// TU2. The dialling side verifies the other one: by the given authority and its name, or, to enrol, by the hash of the
//      authority that the token pins. It sends nothing before.
// TU3. The accepting side verifies nothing by itself: it reports what the client's certificate is, and why TLS does not
//      trust it. So the client can be told the reason. The owner decides, and closes. What it does check is who has
//      signed the certificate: of one that has expired, TLS reports only that, whoever signed it.
// TU4. Everything that arrives is limited: streams, headers, what is kept in memory, and the time and number of clients
//      that have not finished TLS.

export interface TunnelStream {
  /** Sends bytes. Returns false if no more should be sent before `drained`. */
  send(bytes: Uint8Array): boolean;
  /** Stops reading, so that the other side feels the backpressure (TU1). */
  pause(): void;
  resume(): void;
  /** Sends what is queued, then closes this side. */
  end(): void;
  /** Closes now, both ways. */
  destroy(): void;
}

export type TunnelStreamEvents = {
  bytes(bytes: Uint8Array): void;
  drained(): void;
  /** Called once, whichever side closed it. */
  closed(): void;
};

/** Key and certificate, as PEM. */
export type TunnelIdentity = { readonly key: string; readonly certificate: string };

export type DialOptions = {
  readonly host: string;
  readonly port: number;
  /** TU2. The authority as PEM, or the SHA-256 of its certificate in hex. */
  readonly authority: { readonly pem: string } | { readonly hash: string };
  /** Absent while there is none: only enrolling is possible then. */
  readonly identity?: TunnelIdentity;
};

/** Why a tunnel closed, or was never made. `code`: of the system or of TLS, for people and for the log. */
export type TunnelEnd = { readonly code: string; readonly message: string };

export type DialEvents = {
  /** TCP is connected; TLS follows. */
  connected(): void;
  /** TU2. The other side is who it should be. `authority`: its certificate as PEM. */
  secured(authority: string): void;
  /** The other side has opened a stream. */
  stream(path: string, stream: TunnelStream): TunnelStreamEvents;
  /** Called once. */
  closed(end: TunnelEnd): void;
};

export interface Tunnel {
  /** Closes it and all its streams. */
  close(): void;
}

/** What TLS says of a client that has connected (TU3). */
export type TunnelPeer = {
  readonly address: string;
  /** Why TLS does not trust its certificate, for example CERT_HAS_EXPIRED; null if it does. */
  readonly problem: string | null;
  /** Whether the authority has signed the certificate, in its time or not (TU3). */
  readonly isOurs: boolean;
  readonly certificate: PeerCertificate | null;
};

export type PeerCertificate = {
  /** Lower-case hex without leading zeros. */
  readonly serial: string;
  /** The common name of its subject. */
  readonly name: string;
  /** Times in milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
};

export interface AcceptedTunnel extends Tunnel {
  /** Opens a stream to the home; `events.closed` follows at once if the tunnel is gone. */
  open(path: string, events: TunnelStreamEvents): TunnelStream;
}

export type TunnelListenOptions = TunnelIdentity & {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The authority as PEM. */
  readonly authority: string;
  /** Whether a connection from this address may begin TLS at all. */
  greets?(address: string): boolean;
  /** How long a client may take until TLS is there (TU4). */
  readonly handshakeMs?: number;
  /** Waits for its turn: the owner paces handshakes. */
  admit?(): Promise<void>;
};

export interface TunnelListener {
  readonly port: number;
  /** The server's certificate from now on; connections stay. */
  renew(identity: TunnelIdentity): void;
  close(): void;
}

export interface Tunnels {
  dial(options: DialOptions, events: DialEvents): Tunnel;
  /** Fault EADDRINUSE if the port is taken. `accept` returns what is called once when the tunnel is gone. */
  listen(
    options: TunnelListenOptions,
    accept: (peer: TunnelPeer, tunnel: AcceptedTunnel) => (end: TunnelEnd) => void,
  ): Promise<TunnelListener>;
}
