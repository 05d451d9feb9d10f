// pm2 as a peer, with its own daemon in the run's directory.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandMs, environment } from "./home.ts";
import { missing, peerPath } from "./peer-package.ts";
import type { Bench } from "./scratch.ts";

const PROGRAM = peerPath("pm2", "node_modules/pm2/bin/pm2");

export class Pm2 {
  readonly #node: string;
  readonly #place: string;
  readonly #env: Readonly<Record<string, string>>;

  /** Undefined if it is unavailable; prints the reason. */
  static find(bench: Bench, name: string): Pm2 | undefined {
    const node = Bun.which("node");
    const trouble = missing(bench, { name: "pm2" });
    if (node !== null && trouble === undefined) return new Pm2(bench, node);
    bench.say(`skipped, because ${trouble}: ${name}`);
    return undefined;
  }

  private constructor(bench: Bench, node: string) {
    this.#node = node;
    this.#place = join(bench.directory, "pm2");
    mkdirSync(this.#place, { recursive: true });
    this.#env = { ...environment(this.#place), PM2_HOME: this.#place, PM2_DISABLE_VERSION_CHECK: "1" };
  }

  run(...words: readonly string[]): Promise<number> {
    return commandMs([this.#node, PROGRAM, ...words], this.#env);
  }

  /** The process that restarts the others. */
  get pid(): number {
    return Number(readFileSync(join(this.#place, "pm2.pid"), "utf8"));
  }

  async end(): Promise<void> {
    await this.run("kill");
  }
}
