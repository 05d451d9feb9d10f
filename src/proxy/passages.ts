// The connections of one sandbox, at most so many at a time.
import { answerHead } from "../wire/proxy/head.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";
import { Passage, type PassagePorts } from "./passage.ts";

/** The program of an agent has a few at a time, and its tools perhaps dozens. */
const MAX_CONNECTIONS = 256;

export class Passages {
  readonly #ports: PassagePorts;
  readonly #passages = new Set<Passage>();

  constructor(ports: Omit<PassagePorts, "closed">) {
    this.#ports = { ...ports, closed: (passage) => this.#passages.delete(passage) };
  }

  accept(connection: Connection): ConnectionEvents {
    if (this.#passages.size >= MAX_CONNECTIONS) return refuse(connection);
    const passage = new Passage(this.#ports, connection);
    this.#passages.add(passage);
    return passage;
  }

  /** Closes what nobody uses. */
  look(): void {
    for (const passage of this.#passages) passage.look();
  }
}

function refuse(connection: Connection): ConnectionEvents {
  connection.send(Buffer.from(answerHead("503 Service Unavailable", "There are too many connections.")));
  connection.end();
  return { bytes: () => undefined, closed: () => undefined };
}
