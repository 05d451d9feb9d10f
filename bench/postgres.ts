// PostgreSQL for a peer: its own cluster in the run's directory, on a socket there and no port, with default settings
// (fsync and synchronous_commit on). It is Debian's, installed by apt if it is missing and we are root; it refuses to
// run as root, so then it runs as the user nobody.
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { environment } from "./home.ts";
import type { Bench } from "./scratch.ts";
import { until } from "./waiting.ts";

const DEBIAN = "/usr/lib/postgresql";
const NOBODY = 65_534;
const START_MS = 60_000;

export class Postgres {
  readonly #child: Bun.Subprocess;
  readonly url: string;

  /** The reason why it is unavailable; undefined if it is available. */
  static missing(bench: Bench): string | undefined {
    if (programs() === undefined) install(bench);
    return programs() === undefined ? "there is no PostgreSQL (Debian: apt-get install postgresql)" : undefined;
  }

  static async start(bench: Bench, place: string): Promise<Postgres> {
    mkdirSync(place, { recursive: true, mode: 0o755 });
    if (isRoot()) {
      chmodSync(bench.directory, 0o711); // Nobody has to find its way to it.
      chownSync(place, NOBODY, NOBODY);
    }
    const bin = programs() ?? "";
    const data = join(place, "data");
    const env = environment(place);
    const made = [...asNobody(), join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"];
    const done = Bun.spawnSync([...made, "--locale=C"], { cwd: place, env, stdio: ["ignore", "ignore", "pipe"] });
    if (done.exitCode !== 0) throw new Error(`initdb: ${done.stderr}`);
    const words = [...asNobody(), join(bin, "postgres"), "-D", data, "-k", place, "-c", "listen_addresses="];
    const child = Bun.spawn(words, { cwd: place, env, stdio: ["ignore", "ignore", "ignore"] });
    const isReady = [join(bin, "pg_isready"), "-q", "-h", place];
    await until("PostgreSQL", START_MS, () => (Bun.spawnSync(isReady, { env }).exitCode === 0 ? true : undefined));
    return new Postgres(child, place);
  }

  private constructor(child: Bun.Subprocess, place: string) {
    this.#child = child;
    this.url = `postgresql://postgres@localhost/bench?host=${encodeURIComponent(place)}`;
  }

  /** SIGINT is its fast shutdown. */
  async end(): Promise<void> {
    this.#child.kill("SIGINT");
    await this.#child.exited;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function asNobody(): string[] {
  return isRoot() ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
}

/** Where Debian has the newest one's, or wherever the PATH says. */
function programs(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const newest = versions
    .filter((version) => existsSync(join(DEBIAN, version, "bin/initdb")))
    .toSorted((a, b) => Number(a) - Number(b))
    .at(-1);
  if (newest !== undefined) return join(DEBIAN, newest, "bin");
  const path = Bun.which("initdb");
  return path === null ? undefined : dirname(realpathSync(path));
}

function install(bench: Bench): void {
  if (!isRoot() || Bun.which("apt-get") === null) return;
  bench.say("installing PostgreSQL for the peer DBOS, once (apt-get install postgresql)");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const words of [["update"], ["install", "-y", "--no-install-recommends", "postgresql"]]) {
    Bun.spawnSync(["apt-get", ...words], { env, stdio: ["ignore", "ignore", "inherit"] });
  }
}
