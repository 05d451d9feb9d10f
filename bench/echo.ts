// A real holder with `cat` in its terminal, and how long a key takes to come back.
import { join } from "node:path";
import { writeTerminalSpec } from "../src/home/held/holder-files.ts";
import { HolderClient } from "../src/wire/holder/client.ts";
import { holderStart } from "../src/wire/holder/start.ts";
import { realChildren } from "../src/world/real/children.ts";
import { realSockets } from "../src/world/real/socket.ts";
import { realWorld } from "../src/world/world.ts";
import { until } from "./until.ts";

const ID = "0190b6a0-0000-7000-8000-00000000ec40";
const TOKEN = "0".repeat(64);
const BETWEEN_KEYS_MS = 5;

export class Echo {
  readonly #line: HolderClient;
  #came: (() => void) | undefined;

  private constructor(socket: string) {
    const wish = { token: TOKEN, writer: "bench", from: -1 };
    this.#line = new HolderClient((events) => realSockets().connect(socket, events), wish, {
      output: () => this.#came?.(),
    });
  }

  static async open(home: string): Promise<Echo> {
    const place = { ...realWorld(), home };
    const recipe = { argv: ["cat"], cwd: home, env: { PATH: "/usr/bin:/bin" }, size: { cols: 80, rows: 24 } };
    const tape = { segmentBytes: 4 << 20, maxBytes: 64 << 20 };
    place.disk.makeDirectory(join(home, "run"));
    await writeTerminalSpec(place, { id: ID, generation: 1, recipe, token: TOKEN, tape });
    const entry = join(import.meta.dir, "../src/holder/main.ts");
    realChildren().detached(holderStart(process.execPath, entry, join(home, "terminals", ID)));
    const echo = new Echo(join(home, `run/${ID.slice(0, 16)}.sock`));
    await until("the holder answers", () => echo.#connects());
    return echo;
  }

  async #connects(): Promise<boolean> {
    try {
      return (await this.#line.connect()).ok && this.#line.status?.child != null;
    } catch {
      return false; // It does not listen yet.
    }
  }

  /** Milliseconds from each key to its echo. */
  async times(keys: number): Promise<number[]> {
    const seen: number[] = [];
    for (let key = 0; key < keys; key += 1) {
      const came = new Promise<void>((resolve) => {
        this.#came = resolve;
      });
      const began = performance.now();
      void this.#line.input(Buffer.from("x"));
      await came;
      seen.push(performance.now() - began);
      await Bun.sleep(BETWEEN_KEYS_MS);
    }
    return seen;
  }

  async close(): Promise<void> {
    this.#line.signal("SIGKILL");
    await until("it has ended", async () => !(await this.#line.askStatus()).ok || this.#line.status?.exit != null);
    this.#line.close();
  }
}
