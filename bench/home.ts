// A Holdfast of a benchmark's own: a new home below the run's directory, its own configuration, and nothing of the
// user's.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import about from "../package.json" with { type: "json" };
import { BUN_FLAGS } from "../src/base/bun.ts";
import { RpcClient } from "../src/wire/rpc/client.ts";
import type { ListedTerminal, StatusResult } from "../src/wire/rpc/rpc.ts";
import { realSockets } from "../src/world/real/socket.ts";
import { LATE_COMPILERS } from "../src/world/self.ts";
import { killAllOf, killAtOnce, processesOf } from "./processes.ts";
import type { Bench } from "./scratch.ts";
import { until } from "./waiting.ts";

const ROOT = resolve(import.meta.dir, "..");
/** A daemon gives a holder ten seconds for its start; on a busy machine hundreds at once would not make it. */
const AT_ONCE = 10;
const START_MS = 60_000;
/** Agents without checkpoints take minutes. */
const LIVE_MS = 900_000;

export type Words = readonly [string, ...string[]];

/** The environment of every program of a run, ours and the peers'; nothing else of the user's environment. */
export function environment(place: string): Record<string, string> {
  const { PATH = "/usr/bin:/bin" } = process.env;
  return { PATH, HOME: place, SHELL: "/bin/sh", TERM: "xterm-256color", DO_NOT_TRACK: "1" };
}

/**
 * Wall time of a whole command that says little, in milliseconds. Not to /dev/null: Bun takes that for a terminal and
 * asks it more.
 */
export async function commandMs(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const before = performance.now();
  const child = Bun.spawn([...argv], { env: { ...env }, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  const code = await child.exited;
  const ms = performance.now() - before;
  if (code !== 0) throw new Error(`${argv.join(" ")}: exit code ${code}: ${await child.stderr.text()}`);
  return ms;
}

/** As people start it. If the launcher would first install something, it is left out. */
export function launcher(bench: Bench): Words {
  const { root = ROOT } = bench;
  const [lock, mark] = ["package-lock.json", "node_modules/.package-lock.json"].map((path) => join(root, path));
  if (statSync(lock ?? "").mtimeMs <= statSync(mark ?? "").mtimeMs) return [join(root, "holdfast")];
  bench.say(
    "notice: package-lock.json is newer than what is installed; the launcher is not measured, only what it starts",
  );
  return direct(root);
}

export function direct(root = ROOT): Words {
  return [process.execPath, "--config=/dev/null", "--no-env-file", "--no-install", join(root, "src/cli/main.ts")];
}

/** The peer of whole commands: nothing that runs under Bun takes less. */
export const EMPTY = "an empty script, same Bun";

/** An empty script, started as the launcher starts us. */
export function emptyScript(place: string): { readonly words: Words; readonly env: Readonly<Record<string, string>> } {
  const file = join(place, "empty.ts");
  writeFileSync(file, "");
  const flags = BUN_FLAGS.map((flag) => flag.replace("override=/dev/null", `override=${join(ROOT, "tsconfig.json")}`));
  return { words: [process.execPath, ...flags, file], env: { ...environment(place), ...LATE_COMPILERS } };
}

export class Home {
  readonly path: string;
  env: Readonly<Record<string, string>>;
  readonly words: Words;
  readonly #bench: Bench;

  /** Up and live when it resolves. */
  static async start(bench: Bench, name: string, config = "", boot?: string): Promise<Home> {
    const home = new Home(bench, join(bench.directory, name), config);
    if (boot !== undefined) home.isBooted(boot);
    await home.run("up");
    return home;
  }

  private constructor(bench: Bench, path: string, config: string) {
    this.#bench = bench;
    this.path = path;
    this.words = launcher(bench);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const file = join(path, "config.toml");
    writeFileSync(file, config);
    this.env = { ...environment(path), HOLDFAST_HOME: path, HOLDFAST_CONFIG: file };
  }

  /** From now on everything started here lives in this boot. */
  isBooted(boot: string): void {
    this.env = { ...this.env, HOLDFAST_BOOT_ID: boot };
  }

  /** Runs a command to its end; milliseconds. */
  run(...words: readonly string[]): Promise<number> {
    return commandMs([...this.words, ...words], this.env);
  }

  /** A connection to the daemon; undefined if it does not answer (yet). */
  async dial(): Promise<RpcClient | undefined> {
    try {
      const token = (await Bun.file(join(this.path, "run/token")).text()).trim();
      const socket = join(this.path, "run/daemon.sock");
      const client = await RpcClient.connect((events) => realSockets().connect(socket, events), token, about.version);
      return client.ok ? client.value : undefined;
    } catch (error) {
      if (error instanceof Error && "code" in error) return undefined; // Nobody is there.
      throw error;
    }
  }

  async status(): Promise<StatusResult | undefined> {
    const client = await this.dial();
    const status = await client?.call("status", {});
    client?.close();
    return status?.ok === true ? status.value : undefined;
  }

  /** From SIGKILL to the daemon until the status of another one says LIVE. */
  async liveAgainMs(): Promise<number> {
    const { daemon } = await until("the status", START_MS, () => this.status());
    const before = performance.now();
    process.kill(daemon.pid, "SIGKILL");
    await until("LIVE", LIVE_MS, async () => {
      const now = await this.status();
      return now?.recovery.stage === "LIVE" && now.daemon.pid !== daemon.pid ? now : undefined;
    });
    return performance.now() - before;
  }

  /** Without asking their holders, which are measured afterwards and must stay at rest. */
  async terminals(): Promise<readonly ListedTerminal[]> {
    return until("the list of terminals", START_MS, async () => {
      const client = await this.dial();
      const list = await client?.call("terminal.list", { brief: true });
      client?.close();
      return list?.ok === true ? list.value : undefined;
    });
  }

  /** So many terminals more, all of them running when it resolves. */
  async open(count: number, argv: Words): Promise<void> {
    const client = await until("the daemon", START_MS, () => this.dial());
    const wish = { lane: "main", argv, cwd: "/", env: this.env, cols: 80, rows: 24 };
    const { length: before } = await this.terminals();
    for (let made = 0; made < count; ) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - made) }, (_, at) => `t${before + made + at}`);
      const answers = await Promise.all(some.map((name) => client.call("terminal.new", { ...wish, name })));
      for (const answer of answers) if (!answer.ok) throw new Error(answer.error.message);
      made += some.length;
      await this.#running(before + made);
    }
    client.close();
  }

  async #running(count: number): Promise<void> {
    await until(`${count} terminals running`, START_MS, async () => {
      const running = (await this.terminals()).filter(({ state }) => state.kind === "running");
      return running.length === count ? true : undefined;
    });
  }

  /** Its processes by kind: holders by the terminal's directory in their arguments, ours by their entry file. */
  processes(): { readonly holders: readonly number[]; readonly ours: readonly number[] } {
    const found = processesOf(this.path);
    const some = (is: (words: readonly string[]) => boolean) =>
      found.filter(({ words }) => is(words)).map(({ pid }) => pid);
    return {
      holders: some((words) => words.some((word) => word.startsWith(join(this.path, "terminals/")))),
      ours: some((words) => words.some((word) => /\/src\/(?:watchdog|daemon|web)\/main\.ts$/.test(word))),
    };
  }

  /** Everything killed: to end hundreds of programs one by one would take longer than a measurement. */
  cut(): void {
    killAtOnce(this.path);
  }

  /** Everything ended, as the user would end it. */
  async end(): Promise<void> {
    await this.run("down", "--kill");
    const left = processesOf(this.path);
    if (left.length === 0) return;
    this.#bench.say(
      `notice: \`down --kill\` left ${left.map(({ pid, words }) => `${pid} ${words.join(" ")}`).join("; ")}`,
    );
    killAllOf(this.path);
  }
}
