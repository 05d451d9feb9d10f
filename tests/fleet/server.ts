// A PostgreSQL of the tests: started once for a file, with TLS, users for every way to log in, and its data in a
// directory of its own.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresServer, postgresPrograms, startPostgres } from "../../scripts/postgres-server.ts";
import { Database } from "../../src/fleet/database.ts";
import { postgresTarget } from "../../src/fleet/target.ts";
import type { PostgresConnection } from "../../src/world/postgres.ts";
import { realCertificates } from "../../src/world/real/certificates.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realPostgres } from "../../src/world/real/postgres/client.ts";

export const HAS_POSTGRES = postgresPrograms() !== undefined;
const HOUR = 3_600_000;
const ACCESS = [
  "hostssl all by_md5 all md5",
  "hostssl all by_text all password",
  "host all by_trust,reader all trust",
  "host all all all scram-sha-256",
];

export type TestServer = {
  readonly server: PostgresServer;
  readonly port: number;
  /** A file with its authority, and one with another. */
  readonly authority: string;
  readonly other: string;
  /** As its superuser, over its socket. */
  readonly url: string;
  stop(): Promise<void>;
};

export async function startTestServer(): Promise<TestServer> {
  const place = mkdtempSync(join(tmpdir(), "holdfast-pg-"));
  chmodSync(place, 0o755);
  const [authority, other] = [join(place, "authority.pem"), join(place, "other.pem")];
  const { certificates, certificate, key } = await identity();
  await Bun.write(authority, certificates[0] ?? "");
  await Bun.write(other, certificates[1] ?? "");
  const port = freePort();
  const server = await startPostgres(join(place, "pg"), {
    settings: { listen_addresses: "127.0.0.1", port: `${port}`, ssl: "on" },
    access: ACCESS,
    files: { "server.crt": certificate, "server.key": key },
  });
  const stop = async () => {
    await server.stop();
    rmSync(place, { recursive: true, force: true });
  };
  const url = `postgres://postgres@/postgres?host=${encodeURIComponent(server.place)}&port=${port}`;
  return { server, port, authority, other, url, stop };
}

async function identity() {
  const made = realCertificates();
  const life = { notBefore: Date.now() - HOUR, notAfter: Date.now() + HOUR };
  const [authority, other] = [await made.newAuthority("ours", life), await made.newAuthority("theirs", life)];
  const { key, request } = await made.newRequest();
  const issue = { ...life, serial: "02", name: "localhost", hosts: ["localhost", "127.0.0.1"] };
  const certificate = (await made.issue(authority, request, issue)) ?? "";
  return { certificates: [authority.certificate, other.certificate], certificate, key };
}

export function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = server;
  server.stop(true);
  return port;
}

export function targetOf(url: string) {
  const target = postgresTarget(url, { disk: realDisk(), environment: { HOME: "/nonexistent" } });
  if (!target.ok) throw new Error(target.error.message);
  return target.value;
}

export function databaseAt(url: string, callMs?: number): Database {
  return new Database({ postgres: realPostgres(), target: targetOf(url), clock: realClock() }, callMs);
}

/** A connection of the operator, for what the tests do to the server. */
export class Operator {
  readonly #connection: PostgresConnection;
  #statements = 0;

  private constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  static async at(url: string): Promise<Operator> {
    const made = await realPostgres().connect(targetOf(`${url}&application_name=operator`));
    if (!made.ok) throw new Error(made.error.message);
    return new Operator(made.value);
  }

  /** The first column. */
  async sql(text: string): Promise<(string | null)[]> {
    this.#statements += 1;
    const outcome = await this.#connection.run({ name: `s${this.#statements}`, text }, [], 30_000);
    if (outcome.kind !== "done") throw new Error(Bun.inspect(outcome));
    return outcome.rows.map(([value]) => (typeof value === "string" ? value : null));
  }

  close(): void {
    this.#connection.close();
  }
}
