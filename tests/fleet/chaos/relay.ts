// A TCP relay between a host and a database that can turn deaf: connections stay, and nothing is passed on, or only the
// questions. What it did not pass on then is lost, and so is the connection afterwards.
import { connect, createServer, type Server, type Socket } from "node:net";

export type Hearing = "all" | "nothing" | "questions only";

export class Relay {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #hearing: Hearing = "all";

  constructor(from: { readonly address: string; readonly port: number }, to: { readonly address: string }) {
    this.port = from.port;
    this.#server = createServer((client) => this.#opened(client, connect({ host: to.address, port: 5432 })));
    this.#server.listen(from.port, from.address);
  }

  set hearing(hearing: Hearing) {
    const wasDeaf = this.#hearing !== "all";
    this.#hearing = hearing;
    if (!wasDeaf || hearing !== "all") return;
    for (const pair of this.#pairs) for (const end of pair) end.destroy(); // Parts of what they said are missing.
  }

  #opened(client: Socket, server: Socket): void {
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    for (const [end, other, what] of [
      [client, server, "question"],
      [server, client, "answer"],
    ] as const) {
      end.on("data", (bytes) => {
        if (this.#hearing === "all" || (this.#hearing === "questions only" && what === "question")) other.write(bytes);
      });
      end.on("error", () => other.destroy());
      end.on("close", () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
  }

  close(): void {
    this.#server.close();
    for (const pair of this.#pairs) for (const end of pair) end.destroy();
  }
}
