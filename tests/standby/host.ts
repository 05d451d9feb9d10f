// A host of a fleet with all its real programs: its own configuration, its home, and the homes that it takes over.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import about from "../../package.json" with { type: "json" };
import { RpcClient } from "../../src/wire/rpc/client.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { ours } from "../ours.ts";
import { powerOff } from "./power.ts";

export const LEASE_S = 3;
const processes = realProcesses();

/** `config`: more of its configuration; `words`: the command line of the CLI, if it is not that of the tests. */
export type HostOptions = {
  readonly config?: string;
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

type Said = { readonly code: number; readonly out: string; readonly err: string };

export class Host {
  readonly name: string;
  readonly home: string;
  readonly homes: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #words: readonly string[];

  constructor(place: string, name: string, settings: Readonly<Record<string, unknown>>, options: HostOptions = {}) {
    this.name = name;
    this.home = join(place, name, "work");
    this.homes = join(place, name, "homes");
    mkdirSync(join(place, name));
    const config = join(place, name, "config.toml");
    const fleet = { host: name, homes: this.homes, lease_s: LEASE_S, ...settings };
    const lines = Object.entries(fleet).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    writeFileSync(config, ["[web]", "enabled = false", "[fleet]", ...lines, options.config ?? ""].join("\n"));
    const { HOLDFAST_HOME: _, ...env } = process.env;
    this.#words = options.words ?? ours("src/cli/main.ts");
    const PATH = `${join(place, name, "bin")}:${env["PATH"]}`;
    const own = { HOLDFAST_CONFIG: config, HOME: join(place, name), PATH };
    this.env = { ...env, ...own, ...options.env } as Record<string, string>;
  }

  /** A program that its commands find instead of the machine's. */
  program(name: string, script: string): void {
    const bin = join(this.homes, "../bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, name), script, { mode: 0o755 });
  }

  /** One of its commands in a window. `shown` is called with each piece of its output. */
  window(shown: (text: string) => void, ...words: string[]): Bun.Subprocess {
    const data = (_: unknown, bytes: Uint8Array) => shown(Buffer.from(bytes).toString());
    const env = { ...this.env, TERM: "xterm-256color" };
    return Bun.spawn([...this.#words, ...words], { env, terminal: { cols: 80, rows: 24, data } });
  }

  async do(...words: string[]): Promise<Said> {
    const child = Bun.spawn([...this.#words, ...words], { env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err] = [await new Response(child.stdout).text(), await new Response(child.stderr).text()];
    return { code: await child.exited, out, err };
  }

  async must(...words: string[]): Promise<string> {
    const said = await this.do(...words);
    if (said.code !== 0) throw new Error(`${words.join(" ")}: ${said.err}\n${this.log()}`);
    return said.out;
  }

  /** A connection to the daemon of one of its homes; undefined if there is none now. */
  async dial(home: string): Promise<RpcClient | undefined> {
    try {
      const token = readFileSync(join(home, "run/token"), "utf8").trim();
      const socket = join(home, "run/daemon.sock");
      const made = await RpcClient.connect((events) => realSockets().connect(socket, events), token, about.version);
      return made.ok ? made.value : undefined;
    } catch (error) {
      if (error instanceof Error && "code" in error) return undefined; // Nobody is there.
      throw error;
    }
  }

  /** Its homes, also those that it has taken over. */
  directories(): string[] {
    const taken = () => readdirSync(this.homes).filter((name) => !name.startsWith("."));
    try {
      return [this.home, ...taken().map((name) => join(this.homes, name))];
    } catch {
      return [this.home];
    }
  }

  log(): string {
    return this.directories()
      .map((home) => {
        try {
          return `${home}:\n${readFileSync(join(home, "run/watchdog.log"), "utf8").slice(-3_000)}`;
        } catch {
          return `${home}: no log`;
        }
      })
      .join("\n");
  }

  /** All that runs for it, by the paths in its words or by its configuration. */
  pids(): number[] {
    const config = this.env["HOLDFAST_CONFIG"] ?? "";
    const isIts = (pid: number) =>
      processes.variable(pid, "HOLDFAST_CONFIG") === config ||
      processes.kin(pid)?.argv.some((word) => this.directories().some((home) => word.startsWith(home))) === true;
    return processes.list().flatMap(({ pid }) => (isIts(pid) ? [pid] : []));
  }

  kill(program: "standby" | "daemon"): void {
    const { pid } = JSON.parse(readFileSync(join(this.home, `run/${program}.lock`), "utf8"));
    process.kill(pid, "SIGKILL");
  }

  /** Everything ends at once, as when a machine loses its power: nothing sees another one end. */
  async die(): Promise<void> {
    await powerOff(() => this.pids());
  }
}
