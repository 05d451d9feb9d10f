// A TCP proxy in front of PostgreSQL that cuts connections in the middle of an append: before it was passed on, after
// it, or when the answer begins to come. Plain TCP: it looks for the Bind message in what passes.
import type { Socket } from "bun";
import type { SimRandom } from "../sim/random.ts";

const WAYS = ["before", "after", "while it is carried out", "at the answer"] as const;

type Peer = { other: Socket<Peer> | undefined; early: Uint8Array[]; isCutAtAnswer: boolean };

export class CuttingProxy {
  /** How many connections were cut, in each of the ways. */
  readonly cuts = new Map<string, number>();
  readonly #target: number;
  readonly #random: SimRandom;
  readonly #server: Bun.TCPSocketListener<Peer>;
  /** How likely an append meets a cut. */
  rate = 0;

  constructor(target: number, random: SimRandom) {
    this.#target = target;
    this.#random = random;
    this.#server = Bun.listen<Peer>({
      ...{ hostname: "127.0.0.1", port: 0 },
      socket: {
        open: (client) => this.#opened(client),
        data: (client, bytes) => this.#asked(client, new Uint8Array(bytes)),
        close: (client) => void client.data.other?.end(),
        error: () => undefined, // `close` follows.
      },
    });
  }

  get port(): number {
    return this.#server.port;
  }

  get total(): number {
    return [...this.cuts.values()].reduce((sum, count) => sum + count, 0);
  }

  close(): void {
    this.#server.stop(true);
  }

  #opened(client: Socket<Peer>): void {
    client.data = { other: undefined, early: [], isCutAtAnswer: false };
    const connected = Bun.connect<Peer>({
      ...{ hostname: "127.0.0.1", port: this.#target },
      data: { other: client, early: [], isCutAtAnswer: false },
      socket: {
        open: (server) => {
          client.data.other = server;
          for (const bytes of client.data.early.splice(0)) server.write(bytes);
        },
        data: (_, bytes) => {
          if (client.data.isCutAtAnswer) this.#cut(client);
          else client.write(bytes);
        },
        close: () => void client.end(),
        error: () => undefined, // `close` follows.
      },
    });
    connected.catch(() => client.end()); // The server is being started again.
  }

  #asked(client: Socket<Peer>, bytes: Uint8Array): void {
    const { other, early } = client.data;
    if (other === undefined) return void early.push(bytes);
    const isAppend = Buffer.from(bytes).includes("\0holdfast.append\0");
    if (!isAppend || !this.#random.chance(this.rate)) return void other.write(bytes);
    const way = this.#random.pick(WAYS);
    this.cuts.set(way, (this.cuts.get(way) ?? 0) + 1);
    if (way !== "before") other.write(bytes);
    if (way === "at the answer") client.data.isCutAtAnswer = true;
    else if (way === "while it is carried out") setTimeout(() => this.#cut(client), this.#random.fraction() * 2);
    else this.#cut(client);
  }

  #cut(client: Socket<Peer>): void {
    client.data.other?.terminate();
    client.terminate();
  }
}
