// A relay of a benchmark's own, on loopback: `holdfast relay serve`, with its home below the run's directory.
import { join } from "node:path";
import { encodeLine, LineReader } from "../src/wire/lines.ts";
import {
  DESK_SOCKET,
  type DeskMethod,
  type DeskRequest,
  type DeskResults,
  MAX_DESK_ANSWER,
  readAnswer,
} from "../src/wire/relay/desk.ts";
import { realSockets } from "../src/world/real/socket.ts";
import { environment, launcher } from "./home.ts";
import { freePort } from "./ports.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { until } from "./waiting.ts";

const START_MS = 60_000;

export class BenchRelay {
  readonly port = freePort();
  readonly #home: string;
  readonly #web = freePort();
  readonly #bench: Bench;
  #child: Bun.Subprocess | undefined;

  private constructor(bench: Bench) {
    this.#bench = bench;
    this.#home = makePlace(bench, "relay");
  }

  static async start(bench: Bench): Promise<BenchRelay> {
    const relay = new BenchRelay(bench);
    await relay.serve();
    return relay;
  }

  /** Always on the same ports: homes find the next one. */
  async serve(): Promise<void> {
    const where = ["--listen", `127.0.0.1:${this.port}`, "--http", `127.0.0.1:${this.#web}`];
    const names = ["--home", this.#home, "--domain", `relay.localhost:${this.#web}`, "--host", "localhost"];
    const argv = [...launcher(this.#bench), "relay", "serve", ...names, ...where];
    const env = environment(join(this.#bench.directory, "relay"));
    this.#child = Bun.spawn(argv, { env, cwd: "/", stdio: ["ignore", "ignore", "ignore"] });
    await until("the relay", START_MS, () => this.ask({ method: "status" }));
  }

  /** Undefined while it does not answer. */
  async ask<M extends DeskMethod>(request: DeskRequest & { readonly method: M }): Promise<DeskResults[M] | undefined> {
    const reader = new LineReader(MAX_DESK_ANSWER);
    const answered = Promise.withResolvers<string>();
    try {
      const connection = await realSockets().connect(join(this.#home, DESK_SOCKET), {
        bytes: (bytes) => answered.resolve(reader.push(bytes)?.[0] ?? ""),
        closed: () => answered.resolve(""),
      });
      connection.send(encodeLine(request));
      const answer = readAnswer<M>(request.method, await answered.promise);
      connection.destroy();
      return answer?.ok === true ? answer.value : undefined;
    } catch (error) {
      if (error instanceof Error && "code" in error) return undefined; // Nobody is there.
      throw error;
    }
  }

  async status(): Promise<DeskResults["status"]> {
    return until("the relay's status", START_MS, () => this.ask({ method: "status" }));
  }

  async token(): Promise<string> {
    const made = await this.ask({ method: "token", name: null, lifeMs: 3_600_000 });
    if (made === undefined) throw new Error("the relay makes no token");
    return made.token;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const { pid } = await this.status();
    process.kill(pid, "SIGKILL");
    await this.#child?.exited;
  }
}
