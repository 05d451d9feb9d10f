// A PostgreSQL server of our own, for tests and benchmarks: Debian's, or the one on the PATH. It refuses to run as
// root, so then it runs as the user nobody. Its data and its socket are in the directory that is given.
import { chownSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const DEBIAN = "/usr/lib/postgresql";
const NOBODY = 65_534;
const START_MS = 60_000;
const LOOK_MS = 20;
const READY = 0;

export type ServerOptions = {
  /** Settings in the words of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Lines for the front of pg_hba.conf. */
  readonly access?: readonly string[];
  /** Written to the data directory, readable by the server alone. */
  readonly files?: Readonly<Record<string, string>>;
};

export type PostgresServer = {
  /** The directory of its socket. */
  readonly place: string;
  readonly pid: number;
  stop(): Promise<void>;
};

/** The directory of its programs; undefined if there is no PostgreSQL. */
export function postgresPrograms(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const newest = versions
    .filter((version) => existsSync(join(DEBIAN, version, "bin/initdb")))
    .toSorted((a, b) => Number(a) - Number(b))
    .at(-1);
  if (newest !== undefined) return join(DEBIAN, newest, "bin");
  const path = Bun.which("initdb");
  return path === null ? undefined : dirname(realpathSync(path));
}

/** `place`: a new directory; everyone must be able to enter those above it. Settings are the server's own defaults. */
export async function startPostgres(place: string, options: ServerOptions = {}): Promise<PostgresServer> {
  const bin = postgresPrograms() ?? "";
  const data = join(place, "data");
  mkdirSync(place, { recursive: true, mode: 0o755 });
  own(place);
  run(place, [join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N", "--locale=C"]);
  for (const [name, text] of Object.entries(options.files ?? {})) {
    writeFileSync(join(data, name), text, { mode: 0o600 });
    own(join(data, name));
  }
  const access = [...(options.access ?? []), "local all all trust"];
  writeFileSync(join(data, "pg_hba.conf"), `${access.join("\n")}\n`);
  const settings = { listen_addresses: "", unix_socket_directories: place, ...options.settings };
  const words = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const argv = [...asNobody(), join(bin, "postgres"), "-D", data, ...words];
  const child = Bun.spawn(argv, { cwd: place, env: environment(), stdio: ["ignore", "ignore", "ignore"] });
  await ready([join(bin, "pg_isready"), "-q", "-h", place, "-p", options.settings?.["port"] ?? "5432"], child);
  const stop = async () => {
    child.kill("SIGINT"); // Its fast shutdown.
    await child.exited;
  };
  return { place, pid: child.pid, stop };
}

async function ready(look: string[], child: Bun.Subprocess): Promise<void> {
  const start = performance.now();
  while (Bun.spawnSync(look, { env: environment() }).exitCode !== READY) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended with exit code ${child.exitCode}`);
    if (performance.now() - start > START_MS) throw new Error("PostgreSQL does not answer");
    await Bun.sleep(LOOK_MS);
  }
}

function run(place: string, argv: readonly string[]): void {
  const stdio: ["ignore", "ignore", "pipe"] = ["ignore", "ignore", "pipe"];
  const done = Bun.spawnSync([...asNobody(), ...argv], { cwd: place, env: environment(), stdio });
  if (done.exitCode !== 0) throw new Error(`${argv[0]}: ${done.stderr}`);
}

function environment(): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" };
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function own(path: string): void {
  if (isRoot()) chownSync(path, NOBODY, NOBODY);
}

export function asNobody(): string[] {
  return isRoot() ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
}
