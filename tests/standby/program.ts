// The real standby program of a home, started and killed by tests.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ours } from "../ours.ts";

export type FleetSettings = Readonly<Record<string, string | number | readonly string[]>>;

export class StandbyProgram {
  readonly home: string;
  readonly #config: string;
  #child: Bun.Subprocess<"ignore", "ignore", "pipe"> | undefined;
  said = "";

  constructor(home: string, settings: FleetSettings) {
    this.home = home;
    this.#config = join(home, "config.toml");
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    writeFileSync(this.#config, ["[fleet]", ...lines, ""].join("\n"));
  }

  start(): void {
    const env = { ...process.env, HOLDFAST_CONFIG: this.#config, HOLDFAST_HEARTBEAT_MS: "500" };
    this.#child = Bun.spawn(ours("src/standby/main.ts", this.home), { env, stdio: ["ignore", "ignore", "pipe"] });
    void this.#listen(this.#child.stderr);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async kill(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<number | null> {
    this.#child?.kill(signal);
    await this.#child?.exited;
    return this.#child?.exitCode ?? null;
  }

  /** Its exit code, when it has ended by itself. */
  async ended(): Promise<number | null> {
    await this.#child?.exited;
    return this.#child?.exitCode ?? null;
  }

  status(): Record<string, unknown> | undefined {
    try {
      return JSON.parse(readFileSync(join(this.home, "run/standby.json"), "utf8"));
    } catch {
      return undefined; // Not yet.
    }
  }

  async #listen(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const bytes of stream) this.said += Buffer.from(bytes).toString();
  }
}
