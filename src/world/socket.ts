// Access to unix sockets: streams of bytes with backpressure. A sender sees how much is queued, and a reader may pause.
// K1. A socket's path has at most 107 bytes (the system's limit); a longer one is a Fault, never truncated.
// K2. A listening socket is 0600. The path of a dead process is taken over; one that answers is not (EADDRINUSE).
// K3. Which process has connected is the system's word, not the client's. It is given only while that process lives:
//     later its pid may be another's.

/** The pid of a client. `gone`: it ended, and perhaps another process uses its connection. */
export type Peer = number | "gone";

export interface Connection {
  /** Sends bytes. What the system does not accept now is copied, queued in memory and sent later. */
  send(bytes: Uint8Array): void;
  /** Tries to send what is queued, without calling `drained`: for a sender that keeps the event loop busy. */
  flush(): void;
  /** The number of queued bytes. The caller decides how much is too much. */
  readonly waiting: number;
  /** Stops reading, so that the other side feels the backpressure. */
  pause(): void;
  resume(): void;
  /** Sends what is queued, then closes. */
  end(): void;
  /** Closes now; what is queued is dropped. */
  destroy(): void;
  /** Of an accepted connection (K3); undefined if the system does not tell. */
  peer?(): Peer | undefined;
}

export type ConnectionEvents = {
  bytes(bytes: Uint8Array): void;
  /** Nothing is queued any more. */
  drained?(): void;
  /** Called once, whichever side closed it. */
  closed(): void;
};

export interface Listener {
  /** Whether the path still leads to us: it may have been removed, or taken by a successor. */
  inPlace(): boolean;
  /** Changes the time of the path if it still leads to us: watchers of its directory are notified. */
  touch(): void;
  /**
   * Stops listening; connections continue. The path is removed only if it is still ours: a successor may have taken it.
   */
  close(): void;
}

export interface Sockets {
  /** Asynchronous, because only a connection attempt shows whether an existing path answers (K2). */
  listen(path: string, accept: (connection: Connection) => ConnectionEvents): Promise<Listener>;
  /** Fault ENOENT or ECONNREFUSED if there is no listener. */
  connect(path: string, events: ConnectionEvents): Promise<Connection>;
}
