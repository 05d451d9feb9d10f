// A home on the real disk with real daemons, holders and children; when a test is done, all of them are gone.
// H1. `down` is wanted here, so that a daemon without a watchdog does not start one.
// H2. No sleeps: `until` waits for a fact, and fails with its name.
// H3. Nothing is left running: every process of this home is identified by it (its path or its terminals' markers).
import { afterEach } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { isFault } from "../../src/base/fault.ts";
import type { Result } from "../../src/base/result.ts";
import { readWhole } from "../../src/log/file/file.ts";
import { parseClaim, parseExit } from "../../src/wire/holder/json.ts";
import { RpcClient } from "../../src/wire/rpc/client.ts";
import type { ListedTerminal, Method, Methods, Report, StatusResult } from "../../src/wire/rpc/rpc.ts";
import { identify, type Signal } from "../../src/world/process.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { ENGINE_OPTIONS } from "../../src/world/self.ts";
import { BUN, COUNTING, LITTLE_COMPILING } from "../ours.ts";
import { userConfig } from "../small-home.ts";
import { until } from "../until.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";

export const processes = realProcesses();

type Env = Readonly<Record<string, string>>;

export type Running = { readonly process: Bun.Subprocess; said(): string };

export class DaemonHome {
  readonly path: string;
  readonly #daemons: Running[] = [];
  readonly #clients: RpcClient[] = [];

  constructor(within = tmpdir()) {
    this.path = mkdtempSync(join(within, "hfdm-"));
    mkdirSync(join(this.path, "recovery"), { mode: 0o700 });
    writeFileSync(join(this.path, "recovery/wanted.json"), '{"v":1,"wanted":"down"}\n'); // H1
    userConfig(this.path);
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** The last one that was started. */
  get daemon(): Running {
    const last = this.#daemons.at(-1);
    if (last === undefined) throw new Error("no daemon was started");
    return last;
  }

  /** Starts a daemon without waiting for anything. */
  start(env: Env = {}, root = ROOT): Running {
    const said = this.file(`said-${this.#daemons.length}`);
    const words = [BUN, "--no-env-file", "--no-install", ...COUNTING, join(root, "src/daemon/main.ts"), this.path];
    const engine = { ...ENGINE_OPTIONS, ...LITTLE_COMPILING };
    const given = { PATH, ...engine, HOME: this.path, HOLDFAST_HEARTBEAT_MS: "200", ...env };
    const child = Bun.spawn(words, { cwd: "/", env: given, stdio: ["ignore", "ignore", Bun.file(said)] });
    const running = { process: child, said: () => (existsSync(said) ? readFileSync(said, "utf8") : "") };
    this.#daemons.push(running);
    return running;
  }

  /** Starts a daemon and waits until it is live. */
  async live(env: Env = {}): Promise<Running> {
    const daemon = this.start(env);
    await this.isLive(daemon);
    return daemon;
  }

  async isLive(daemon: Running): Promise<StatusResult> {
    return until(
      `daemon ${daemon.process.pid} is live`,
      async () => {
        if (daemon.process.exitCode !== null)
          throw new Error(`it left with ${daemon.process.exitCode}: ${daemon.said()}`);
        const status = await this.ask("status", {});
        return status?.ok === true &&
          status.value.daemon.pid === daemon.process.pid &&
          status.value.recovery.stage === "LIVE"
          ? status.value
          : undefined;
      },
      () => daemon.said(),
    );
  }

  /** A client of its own; undefined if no daemon answers yet. */
  async client(): Promise<RpcClient | undefined> {
    const token = existsSync(this.file("run/token")) ? readFileSync(this.file("run/token"), "utf8").trim() : "";
    try {
      const dial = (events: { bytes(bytes: Uint8Array): void; closed(): void }) =>
        realSockets().connect(this.file("run/daemon.sock"), events);
      const client = await RpcClient.connect(dial, token, "test");
      if (!client.ok) return undefined;
      this.#clients.push(client.value);
      return client.value;
    } catch (error) {
      if (isFault(error)) return undefined; // Nobody listens yet.
      throw error;
    }
  }

  /** Calls over a connection of its own. */
  async ask<M extends Method>(
    method: M,
    params: Methods[M]["params"],
  ): Promise<Result<Methods[M]["result"]> | undefined> {
    const client = await this.client();
    const answer = await client?.call(method, params);
    client?.close();
    return answer;
  }

  async must<M extends Method>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    const answer = await this.ask(method, params);
    if (answer?.ok === true) return answer.value;
    throw new Error(`${method}: ${answer === undefined ? "nobody answers" : answer.error.message}`);
  }

  /** The parameters of `terminal.new`. */
  wish(name: string, argv: readonly string[]): Methods["terminal.new"]["params"] {
    return { name, lane: "default", argv, cwd: this.path, env: { PATH }, cols: 80, rows: 24 };
  }

  async open(name: string, argv: readonly string[]): Promise<string> {
    return (await this.must("terminal.new", this.wish(name, argv))).id;
  }

  async listed(id: string): Promise<ListedTerminal> {
    const found = (await this.must("terminal.list", {})).find((terminal) => terminal.id === id);
    if (found === undefined) throw new Error(`there is no terminal ${id}`);
    return found;
  }

  /** Waits until a terminal has the given state. */
  is<K extends ListedTerminal["state"]["kind"]>(id: string, kind: K) {
    return until(
      `${id} is ${kind}`,
      async () => {
        const { state } = await this.listed(id);
        return state.kind === kind ? (state as Extract<ListedTerminal["state"], { kind: K }>) : undefined;
      },
      () => this.listed(id),
    );
  }

  async report(): Promise<Report> {
    const report = await this.must("recovery.report", { name: null });
    if (report === null) throw new Error("there is no report");
    return report;
  }

  claim(id: string) {
    const path = this.file(`terminals/${id}/claim.json`);
    const bytes = readWhole(realDisk(), path); // A running daemon may move it between a check and a read.
    return bytes === undefined ? undefined : parseClaim(bytes);
  }

  exit(id: string) {
    const bytes = readWhole(realDisk(), this.file(`terminals/${id}/exit.json`));
    return bytes === undefined ? undefined : parseExit(bytes);
  }

  /** Empty if the file does not exist. */
  text(name: string): string {
    return Buffer.from(readWhole(realDisk(), this.file(name)) ?? []).toString("utf8");
  }

  /**
   * All files, as paths within the home, with their bytes. If a running daemon replaces one meanwhile, all are read
   * again.
   */
  files(): Map<string, Buffer> {
    const all = readdirSync(this.path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const found = new Map<string, Buffer>();
    for (const { parentPath, name } of all) {
      const bytes = readWhole(realDisk(), join(parentPath, name));
      if (bytes === undefined) return this.files();
      found.set(relative(this.path, join(parentPath, name)), Buffer.from(bytes));
    }
    return found;
  }

  /** The arguments of a process, each followed by a NUL. */
  commandOf(pid: number): string {
    return readProc(pid, "cmdline");
  }

  async kill(daemon: Running): Promise<void> {
    daemon.process.kill("SIGKILL");
    await daemon.process.exited;
  }

  async stop(daemon: Running): Promise<number> {
    daemon.process.kill("SIGTERM");
    return daemon.process.exited;
  }

  /** H3 */
  ours(): number[] {
    const ids = new Set(existsSync(this.file("terminals")) ? readdirSync(this.file("terminals")) : []);
    for (const run of this.runs()) ids.add(run);
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((pid) => {
        const marker = /(?:^|\0)HOLDFAST_TERMINAL=([^\0]*)/.exec(readProc(pid, "environ"))?.[1];
        const byMarker = marker !== undefined && ids.has(marker.split(".")[0] ?? "") && isOfHome(pid, this.path);
        return byMarker || readProc(pid, "cmdline").includes(`${this.path}`);
      })
      .map(Number);
  }

  /** The ids of the workflow runs of this home. */
  runs(): string[] {
    const state = this.file("state");
    // A running daemon creates them one after the other.
    const names = (path: string) => (existsSync(path) ? readdirSync(path) : []);
    return names(state).flatMap((repo) => names(join(state, repo, "sessions")));
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    for (const { process: daemon } of this.#daemons) daemon.kill("SIGKILL");
    await Promise.all(this.#daemons.map(({ process: daemon }) => daemon.exited));
    await until(
      "no process of this home is left",
      () => {
        const left = this.ours();
        for (const pid of left) killIfThere(pid);
        return left.length === 0;
      },
      () => this.ours(),
    );
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A copied home has the same ids. Programs of older versions do not carry that of their home. */
export function isOfHome(pid: number | string, home: string): boolean {
  const id = /(?:^|\0)HOLDFAST_HOME_ID=([^\0]*)/.exec(readProc(pid, "environ"))?.[1];
  return id === undefined || id === realDisk().stat(home)?.id;
}

export function readProc(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch (error) {
    if (error instanceof Error) return ""; // It has ended meanwhile.
    throw error;
  }
}

/**
 * It may exit by itself at any moment, even between the check and the signal: a shell does when its terminal hangs up.
 */
export function killIfThere(pid: number, signal: Signal = "SIGKILL"): void {
  const who = identify(processes, pid);
  if (who !== undefined) processes.kill(who, signal);
}

/** It has released everything, including its locks, whether or not its exit code was collected. */
export function isGone(pid: number): boolean {
  return processes.startTime(pid) === undefined;
}

/** Called once by a test file; returns a function that creates homes. */
export function daemonHomes(): (within?: string) => DaemonHome {
  const homes: DaemonHome[] = [];
  afterEach(async () => {
    for (const home of homes.splice(0)) await home.close();
  });
  return (within) => {
    const home = new DaemonHome(within);
    homes.push(home);
    return home;
  };
}
