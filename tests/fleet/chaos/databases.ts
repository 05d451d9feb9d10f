// Two PostgreSQL servers, each on a node of its own: a primary, and a standby that it waits for. After a promotion the
// old primary is made anew as the standby of the new one.
// DA1. Only a standby that the primary was waiting for is promoted, as whoever operates such a pair does it.
// DA2. What the old primary still did, or does, is thrown away with its disk.
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { postgresPrograms } from "../../../scripts/postgres-server.ts";
import { until } from "../../until.ts";
import { type Node, run, signalIfThere } from "./machines.ts";

const NOBODY = 65_534;
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
const ENV = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" };
const ACCESS = [
  "local all all trust",
  "host all holdfast all scram-sha-256",
  "host replication postgres all trust",
  "",
];
/** Small: its disk is memory. */
const SETTINGS = {
  ...{ listen_addresses: "*", wal_level: "replica", max_wal_senders: "4", hot_standby: "on" },
  ...{ shared_buffers: "16MB", min_wal_size: "32MB", max_wal_size: "64MB", max_connections: "100" },
  ...{ wal_keep_size: "64MB", wal_receiver_timeout: "5s", wal_sender_timeout: "5s" },
};
export const PASSWORD = "chaos";
const PROGRAMS = postgresPrograms() ?? "";

/** `both`: for a while the old one is a primary too, and its waits for the standby are cancelled. */
export type FailOver = "killed" | "cut off" | "both";
const CANCELS = 10;
const CANCEL_MS = 50;

class Server {
  readonly node: Node;
  readonly place: string;
  #child: Bun.Subprocess | undefined;

  constructor(node: Node, place: string) {
    this.node = node;
    this.place = join(place, node.name);
    mkdirSync(this.place);
    run("mount", "-t", "tmpfs", "-o", "size=640m,mode=0755", "tmpfs", this.place);
    chownSync(this.place, NOBODY, NOBODY);
  }

  get data(): string {
    return join(this.place, "data");
  }

  program(name: string, ...words: string[]): string[] {
    return this.node.within(...AS_NOBODY, join(PROGRAMS, name), ...words);
  }

  initialise(): void {
    const words = [
      "-D",
      this.data,
      "-U",
      "postgres",
      "-A",
      "trust",
      "-E",
      "UTF8",
      "-N",
      "--locale=C",
      "--wal-segsize=1",
    ];
    run(...this.program("initdb", ...words));
    writeFileSync(join(this.data, "pg_hba.conf"), ACCESS.join("\n"));
  }

  copy(from: Node): void {
    rmSync(this.data, { recursive: true, force: true });
    const source = `host=${from.address} user=postgres application_name=${this.node.name} connect_timeout=5`;
    run(...this.program("pg_basebackup", "-D", this.data, "-d", source, "-R", "-c", "fast", "-N", "-X", "stream"));
  }

  start(): void {
    const settings = { ...SETTINGS, unix_socket_directories: this.place };
    const words = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const argv = this.program("postgres", "-D", this.data, ...words);
    this.#child = Bun.spawn(argv, { cwd: this.place, env: ENV, stdio: ["ignore", "ignore", "ignore"] });
  }

  /** With all its processes. */
  pids(): number[] {
    const { pid } = this.#child ?? {};
    if (pid === undefined) return [];
    const below = existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8") : "";
    return [pid, ...below.split(" ").filter(Boolean).map(Number)];
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    for (const pid of this.pids()) signalIfThere(pid, signal);
  }

  async kill(): Promise<void> {
    for (const pid of this.pids()) signalIfThere(pid, "SIGKILL");
    await this.#child?.exited;
    this.#child = undefined;
  }

  /** Over its socket. Throws if it refuses. */
  async sql(text: string, withinMs = 60_000): Promise<string[]> {
    const words = [
      "-h",
      this.place,
      "-U",
      "postgres",
      "-d",
      "postgres",
      "-X",
      "-A",
      "-t",
      "-v",
      "ON_ERROR_STOP=1",
      "-c",
    ];
    const argv = this.program("psql", ...words, text);
    const child = Bun.spawn(argv, { env: ENV, stdio: ["ignore", "pipe", "pipe"], timeout: withinMs });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(`${text}: ${err}`);
    return out.split("\n").filter(Boolean);
  }

  async answers(): Promise<void> {
    await until(
      `${this.node.name} answers`,
      () => this.sql("select 1").catch(() => false as const),
      () => this.place,
      120_000,
    );
  }
}

export class Databases {
  readonly #servers: readonly [Server, Server];
  #first: 0 | 1 = 0;
  promotions = 0;
  cancelled = 0;

  constructor(nodes: readonly [Node, Node], place: string) {
    this.#servers = [new Server(nodes[0], place), new Server(nodes[1], place)];
  }

  get primary(): Server {
    return this.#servers[this.#first];
  }

  get standby(): Server {
    return this.#servers[this.#first === 0 ? 1 : 0];
  }

  async start(): Promise<void> {
    this.primary.initialise();
    this.primary.start();
    await this.primary.answers();
    await this.primary.sql(`create role holdfast login password '${PASSWORD}'`);
    await this.primary.sql("grant create on database postgres to holdfast");
    await this.primary.sql("alter system set synchronous_standby_names = '*'");
    await this.primary.sql("select pg_reload_conf()");
    await this.#renewStandby();
  }

  /** DA1. `way`: how the old one goes. */
  async failOver(way: FailOver): Promise<void> {
    await this.isSynchronous();
    const [old, next] = [this.primary, this.standby];
    if (way === "killed") await old.kill();
    else if (way === "cut off") old.node.unplug();
    else old.node.ignore(next.node);
    if (way === "both") await this.cancelWaits(CANCELS);
    await next.sql("select pg_promote(true, 60)");
    this.#first = this.#first === 0 ? 1 : 0;
    this.promotions += 1;
    if (way === "both") await this.cancelWaits(CANCELS, old);
    await old.kill(); // DA2
    old.node.plug();
    old.node.heed();
    await this.#renewStandby();
  }

  /** The standby hears nothing; whoever waits for it is told that it is enough, with a warning, so many times. */
  async cancelWaits(times: number, server = this.primary): Promise<void> {
    const cancel = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'";
    for (let time = 0; time < times; time++) {
      this.cancelled += (await server.sql(cancel)).length;
      await Bun.sleep(CANCEL_MS);
    }
  }

  async isSynchronous(): Promise<void> {
    const state = () => this.primary.sql("select sync_state from pg_stat_replication");
    await until("the standby is synchronous", async () => (await state()).includes("sync"), state, 120_000);
  }

  async #renewStandby(): Promise<void> {
    const { primary, standby } = this;
    standby.copy(primary.node);
    standby.start();
    await standby.answers();
    await this.isSynchronous();
  }

  remove(): void {
    for (const { place } of this.#servers) run("umount", "-l", place);
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.signal("SIGCONT");
      await server.kill();
    }
  }
}
