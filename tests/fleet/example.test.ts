// examples/fleet without containers: its scripts and settings make a primary and a synchronous standby with the
// PostgreSQL of this machine, and two hosts set up a fleet on them by the commands of its page. Only addresses and
// paths are others.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT, readText } from "../../scripts/files.ts";
import { asNobody, type PostgresServer, postgresPrograms, startPostgres } from "../../scripts/postgres-server.ts";
import { cli, removeHomes } from "../cli/homes.ts";
import { until } from "../until.ts";
import { freePort, HAS_POSTGRES } from "./server.ts";

const PASSWORDS = { OWNER_PASSWORD: "o'wner", HOST_PASSWORD: 'h"ost', REPLICATION_PASSWORD: "standby" };
const BIN = postgresPrograms() ?? "";
const FILES = join(ROOT, "examples/fleet");

let place: string;
let ports: { primary: number; standby: number };
let primary: PostgresServer;
let standby: Bun.Subprocess | undefined;

/** As the user that the servers run as. */
function start(words: readonly string[], env: Record<string, string>): Bun.Subprocess {
  const argv = [...asNobody(), ...words];
  const all = { PATH: `${BIN}:/usr/bin:/bin`, LC_ALL: "C", ...env };
  return Bun.spawn(argv, { cwd: place, env: all, stdio: ["ignore", "ignore", Bun.file(join(place, "log"))] });
}

async function run(words: readonly string[], env: Record<string, string>): Promise<void> {
  expect({ words, code: await start(words, env).exited }).toEqual({ words, code: 0 });
}

/** What a service of compose.yml gives its server, with our paths. */
function settingsOf(service: string): Record<string, string> {
  const words: string[] = parse(readText("examples/fleet/compose.yml")).services[service].command.slice(1);
  const pairs = words.map((word) => /^--([^=]+)=(.*)$/.exec(word)?.slice(1) ?? []);
  return Object.fromEntries(pairs.map(([name = "", value = ""]) => [name.replaceAll("-", "_"), ourPath(value)]));
}

function ourPath(path: string): string {
  return path.replace(/^\/(?:etc\/holdfast|tls)\//, `${place}/files/`);
}

async function psql(words: string): Promise<string> {
  const argv = [
    join(BIN, "psql"),
    "-AtX",
    "-h",
    primary.place,
    "-p",
    `${ports.primary}`,
    "-U",
    "postgres",
    "-c",
    words,
  ];
  const child = Bun.spawn(argv, { stdio: ["ignore", "pipe", "inherit"] });
  return (await child.stdout.text()).trim();
}

/** A command of the page, typed on a host. */
async function typed(host: string, command: string): Promise<string> {
  const home = join(place, host);
  const env = {
    HOME: home,
    HOLDFAST_HOME: join(home, "home"),
    HOLDFAST_CONFIG: join(home, ".config/holdfast/config.toml"),
  };
  const ours = command
    .replaceAll("'", "")
    .replaceAll("db.example.org:5432", `localhost:${ports.primary}`)
    .replaceAll("db.example.org:5433", `localhost:${ports.standby}`)
    .replaceAll("/etc/holdfast/", `${place}/files/`);
  const { code, out, err } = await cli(ours.split(" ").slice(1), env);
  expect({ command, code, err }).toEqual({ command, code: 0, err: expect.any(String) });
  return out;
}

function commandOf(beginning: string): string {
  const line = readText("examples/fleet/README.md")
    .split("\n")
    .find((each) => each.startsWith(beginning));
  return line ?? `the page has no ${beginning}`;
}

describe.skipIf(!HAS_POSTGRES)("examples/fleet (needs postgresql)", () => {
  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), "hf-example-"));
    chmodSync(place, 0o711);
    const files = join(place, "files");
    cpSync(FILES, files, { recursive: true });
    const made = { PATH: "/usr/bin:/bin", TLS_NAMES: "primary standby localhost db.example.org" };
    const tls = Bun.spawn(["sh", join(files, "make-tls.sh"), files], {
      env: made,
      stdio: ["ignore", "inherit", "inherit"],
    });
    expect(await tls.exited).toBe(0);
    if (asNobody().length > 0) Bun.spawnSync(["chown", "65534", files, join(files, "server.key")]);
    ports = { primary: freePort(), standby: freePort() };
    const own = { listen_addresses: "localhost", port: `${ports.primary}` };
    primary = await startPostgres(join(place, "primary"), { settings: { ...settingsOf("primary"), ...own } });
    await run(["sh", join(files, "primary.sh")], { ...PASSWORDS, PGHOST: primary.place, PGPORT: own.port });
    await psql("select pg_reload_conf()"); // The image starts the server anew after its scripts.
    const data = join(place, "standby/data");
    mkdirSync(join(place, "standby"), { mode: 0o777 });
    chmodSync(join(place, "standby"), 0o777);
    const words = Object.entries({
      ...settingsOf("standby"),
      ...{ ...own, port: `${ports.standby}`, unix_socket_directories: join(place, "standby") },
    }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    standby = start(["sh", join(files, "standby.sh"), "postgres", ...words], {
      ...{ PGDATA: data, PGPASSWORD: PASSWORDS.REPLICATION_PASSWORD },
      PRIMARY: `host=localhost port=${ports.primary} sslmode=verify-full sslrootcert=${files}/authority.crt`,
    });
  }, 120_000);

  afterAll(async () => {
    standby?.kill("SIGINT");
    await standby?.exited;
    await primary?.stop();
    removeHomes();
    rmSync(place, { recursive: true, force: true });
  });

  test("two hosts set up a fleet whose commits wait for the standby, which they find when it is promoted", async () => {
    const state = () => psql("select sync_state from pg_stat_replication");
    const seen = async () => [await state(), await Bun.file(join(place, "log")).text()];
    await until("the standby is synchronous", async () => (await state()) === "sync", seen);
    for (const host of ["one", "two"]) {
      mkdirSync(join(place, host, ".config/holdfast"), { recursive: true });
      copyFileSync(join(FILES, `${host}.toml`), join(place, host, ".config/holdfast/config.toml"));
      const logins = [["holdfast_host", PASSWORDS.HOST_PASSWORD]];
      if (host === "one") logins.push(["holdfast_owner", PASSWORDS.OWNER_PASSWORD]);
      const lines = logins.map(([user, password]) => `localhost:*:holdfast:${user}:${password}\n`);
      writeFileSync(join(place, host, ".pgpass"), lines.join(""), { mode: 0o600 });
    }
    await typed("one", commandOf("holdfast fleet init"));
    copyFileSync(join(place, "one/.config/holdfast/fleet.key"), join(place, "two/.config/holdfast/fleet.key"));
    await typed("two", commandOf("holdfast fleet join"));
    expect(await typed("two", "holdfast fleet ls --json")).toBe("[]\n");
    expect(await psql("show synchronous_standby_names")).toBe("FIRST 1 (standby)");
    process.kill(primary.pid, "SIGQUIT"); // It is gone, at once.
    await run([join(BIN, "pg_ctl"), "promote", "-D", join(place, "standby/data")], {});
    expect(await typed("two", "holdfast fleet ls --json")).toBe("[]\n");
    expect(readdirSync(join(place, "standby/data"))).not.toContain("standby.signal");
  }, 120_000);
});
