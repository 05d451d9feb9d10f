// PostgreSQL for a benchmark: its own cluster in the run's directory, on a socket there and no port, with default
// settings (fsync and synchronous_commit on). It is Debian's, installed by apt if it is missing and we are root.
import { chmodSync } from "node:fs";
import { type PostgresServer, postgresPrograms, startPostgres } from "../scripts/postgres-server.ts";
import { type CpuTimes, childrenOf, cpuTimesOf } from "./processes.ts";
import type { Bench } from "./scratch.ts";

export class Postgres {
  readonly #server: PostgresServer;
  /** The directory of its socket. */
  readonly place: string;
  readonly url: string;

  /** The reason why it is unavailable; undefined if it is available. */
  static missing(bench: Bench): string | undefined {
    if (postgresPrograms() === undefined) install(bench);
    return postgresPrograms() === undefined ? "there is no PostgreSQL (Debian: apt-get install postgresql)" : undefined;
  }

  static async start(bench: Bench, place: string): Promise<Postgres> {
    chmodSync(bench.directory, 0o711); // As root, it runs as a user who has to find the way to it.
    return new Postgres(await startPostgres(place));
  }

  private constructor(server: PostgresServer) {
    this.#server = server;
    this.place = server.place;
    this.url = `postgresql://postgres@localhost/bench?host=${encodeURIComponent(server.place)}`;
  }

  /** CPU time of its processes so far, by thread. */
  cpu(): CpuTimes {
    return cpuTimesOf([this.#server.pid, ...childrenOf(this.#server.pid)]);
  }

  end(): Promise<void> {
    return this.#server.stop();
  }
}

function install(bench: Bench): void {
  if (process.getuid?.() !== 0 || Bun.which("apt-get") === null) return;
  bench.say("installing PostgreSQL, once (apt-get install postgresql)");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const words of [["update"], ["install", "-y", "--no-install-recommends", "postgresql"]]) {
    Bun.spawnSync(["apt-get", ...words], { env, stdio: ["ignore", "ignore", "inherit"] });
  }
}
