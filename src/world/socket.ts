// The door to unix sockets. Streams of bytes with their own pressure: whoever sends is told what waits, whoever reads may pause.
// K1. A socket's path is at most 107 bytes (the system's limit); longer ones are a Fault, never cut.
// K2. A listening socket is 0600. A path left behind by a dead process is taken over; one that answers is not (EADDRINUSE).

export interface Connection {
  /** Hands bytes over; what the system does not take now is copied, waits in memory and goes out by itself. */
  send(bytes: Uint8Array): void;
  /** Tries to hand over what waits, without telling `drained`: for a sender that keeps the loop from turning. */
  flush(): void;
  /** Bytes that wait. The sender decides how much is too much. */
  readonly waiting: number;
  /** Stops and goes on reading, so that the other side feels the pressure. */
  pause(): void;
  resume(): void;
  /** Sends what waits, then closes. */
  end(): void;
  /** Closes now; what waits is dropped. */
  destroy(): void;
}

export type ConnectionEvents = {
  bytes(bytes: Uint8Array): void;
  /** Nothing waits any more. */
  drained?(): void;
  /** Once, whoever closed it. */
  closed(): void;
};

export interface Listener {
  /** Whether the path still leads to us: somebody may have removed it, or a successor taken it. */
  inPlace(): boolean;
  /** Changes the time of the path, where it still leads to us: whoever watches its directory is told. */
  touch(): void;
  /** Stops listening; connections go on. The path is removed only if it is still ours: a successor may have taken it. */
  close(): void;
}

export interface Sockets {
  /** A promise, because whether a path that exists answers is only known by knocking (K2). */
  listen(path: string, accept: (connection: Connection) => ConnectionEvents): Promise<Listener>;
  /** Fault ENOENT or ECONNREFUSED where nobody listens. */
  connect(path: string, events: ConnectionEvents): Promise<Connection>;
}
