// A TCP proxy between two parts, which can hold what one side has sent until it is told to let it go, and delays each
// piece as a long way does. What was sent before its sender died still arrives, as on a real network.
import { createConnection, createServer, type Server, type Socket } from "node:net";

/** `up`: from the one that connects. */
export type Way = "up" | "down";

type Side = { readonly from: Socket; readonly to: Socket; readonly way: Way; held: Buffer[]; isEnded: boolean };

export class HoldingProxy {
  readonly #server: Server;
  readonly #sides = new Set<Side>();
  readonly #delayMs: number;
  #held: Way | undefined;

  private constructor(target: number, delayMs: number) {
    this.#delayMs = delayMs;
    this.#server = createServer((socket) => this.#join(socket, createConnection(target, "127.0.0.1")));
  }

  /** `delayMs`: of each piece, each way. */
  static async start(target: number, delayMs = 0): Promise<HoldingProxy> {
    const proxy = new HoldingProxy(target, delayMs);
    await new Promise<void>((done) => proxy.#server.listen(0, "127.0.0.1", done));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** From now on, nothing passes this way. */
  hold(way: Way): void {
    this.#held = way;
  }

  /** Bytes that wait. */
  get waiting(): number {
    return [...this.#sides].flatMap(({ held }) => held).reduce((sum, { length }) => sum + length, 0);
  }

  release(): void {
    this.#held = undefined;
    for (const side of this.#sides) this.#pass(side);
  }

  close(): void {
    this.#server.close();
    for (const { from } of this.#sides) from.destroy();
  }

  #join(one: Socket, other: Socket): void {
    for (const socket of [one, other]) socket.setNoDelay(true).on("error", () => undefined);
    this.#watch({ from: one, to: other, way: "up", held: [], isEnded: false });
    this.#watch({ from: other, to: one, way: "down", held: [], isEnded: false });
  }

  #watch(side: Side): void {
    this.#sides.add(side);
    side.from.on("data", (bytes: Buffer) =>
      this.#later(() => {
        side.held.push(bytes);
        this.#pass(side);
      }),
    );
    side.from.on("close", () =>
      this.#later(() => {
        side.isEnded = true;
        this.#pass(side);
      }),
    );
  }

  /** In order: timers of one length are. */
  #later(act: () => void): void {
    if (this.#delayMs === 0) act();
    else setTimeout(act, this.#delayMs);
  }

  #pass(side: Side): void {
    if (this.#held === side.way) return;
    for (const bytes of side.held.splice(0)) side.to.write(bytes);
    if (!side.isEnded) return;
    this.#sides.delete(side);
    side.to.destroySoon();
  }
}
