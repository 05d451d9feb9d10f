// pm2 as a peer: a package of its own in bench/peers/pm2, so that nobody who does not compare has to install it.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandMs, environment } from "./home.ts";
import type { Bench } from "./scratch.ts";

const PACKAGE = join(import.meta.dir, "peers/pm2");
/** npm writes this file last, so a broken-off installation does not have it. */
const DONE = join(PACKAGE, "node_modules/.package-lock.json");
const PROGRAM = join(PACKAGE, "node_modules/pm2/bin/pm2");

export class Pm2 {
  readonly #node: string;
  readonly #place: string;
  readonly #env: Readonly<Record<string, string>>;

  /** Undefined where it cannot be had; says why. */
  static find(bench: Bench, name: string): Pm2 | undefined {
    const node = Bun.which("node");
    const trouble = node === null ? "there is no node on the PATH" : installed(bench);
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

/** What kept it from being installed; undefined where it is there. */
function installed(bench: Bench): string | undefined {
  if (existsSync(DONE)) return undefined;
  const npm = Bun.which("npm");
  if (npm === null) return "pm2 is not installed and there is no npm on the PATH";
  bench.say("installing the peer pm2, once (npm ci in bench/peers/pm2)");
  const done = Bun.spawnSync([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: PACKAGE,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return done.exitCode === 0 ? undefined : `npm ci in bench/peers/pm2 failed with exit code ${done.exitCode}`;
}
