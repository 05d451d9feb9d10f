// Access to other machines: names, TCP and TLS. The streams are those of socket.ts.
// NW1. A connection goes to an address, never to a name: the one that was judged is the one that is used.
// NW2. A TLS connection is returned after the certificate of the other side was checked against its name.
// NW3. We listen on 127.0.0.1 only.
import type { Connection, ConnectionEvents } from "./socket.ts";

export type Destination = {
  readonly address: string;
  readonly port: number;
  /** The name in the certificate; undefined for plain TCP. */
  readonly tls: string | undefined;
};

export interface Network {
  /** The addresses of a name, or of an address. A Fault if there are none. */
  resolve(name: string): Promise<readonly string[]>;
  /** A Fault if the other side cannot be reached within a time of the system, or its certificate is not right. */
  connect(to: Destination, events: ConnectionEvents): Promise<Connection>;
  /** Makes TLS of an open connection, whose events end here (NW2). A Fault if the certificate is not right. */
  secure(connection: Connection, name: string, events: ConnectionEvents): Promise<Connection>;
  /** Returns once it listens (NW3), until the process ends. A Fault if the port is taken. */
  listen(port: number, accept: (connection: Connection) => ConnectionEvents): void;
  /** The addresses of this machine. */
  own(): readonly string[];
}
