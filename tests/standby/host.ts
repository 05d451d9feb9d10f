// A host of a fleet with all its programs, as a directory on this machine.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { realProcesses } from "../../src/world/real/process.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";

const LEASE_S = 3;
const processes = realProcesses();

type Said = { readonly code: number; readonly out: string; readonly err: string };

export class Host {
  readonly name: string;
  readonly home: string;
  readonly homes: string;
  readonly #env: Record<string, string>;

  constructor(place: string, name: string, settings: Readonly<Record<string, unknown>>) {
    this.name = name;
    this.home = join(place, name, "work");
    this.homes = join(place, name, "homes");
    mkdirSync(join(place, name));
    const config = join(place, name, "config.toml");
    const fleet = { host: name, homes: this.homes, lease_s: LEASE_S, ...settings };
    const lines = Object.entries(fleet).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    writeFileSync(config, ["[web]", "enabled = false", "[fleet]", ...lines, ""].join("\n"));
    const { HOLDFAST_HOME: _, ...env } = process.env;
    const PATH = `${join(place, name, "bin")}:${env["PATH"]}`;
    this.#env = { ...env, HOLDFAST_CONFIG: config, HOME: join(place, name), PATH } as Record<string, string>;
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
    const env = { ...this.#env, TERM: "xterm-256color" };
    return Bun.spawn(ours("src/cli/main.ts", ...words), { env, terminal: { cols: 80, rows: 24, data } });
  }

  async do(...words: string[]): Promise<Said> {
    const child = Bun.spawn(ours("src/cli/main.ts", ...words), { env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err] = [await new Response(child.stdout).text(), await new Response(child.stderr).text()];
    return { code: await child.exited, out, err };
  }

  async must(...words: string[]): Promise<string> {
    const said = await this.do(...words);
    if (said.code !== 0) throw new Error(`${words.join(" ")}: ${said.err}\n${this.log()}`);
    return said.out;
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
    const config = this.#env["HOLDFAST_CONFIG"] ?? "";
    const isIts = (pid: number) =>
      processes.variable(pid, "HOLDFAST_CONFIG") === config ||
      processes.kin(pid)?.argv.some((word) => this.directories().some((home) => word.startsWith(home))) === true;
    return processes.list().flatMap(({ pid }) => (isIts(pid) ? [pid] : []));
  }

  kill(program: "standby" | "daemon"): void {
    const { pid } = JSON.parse(readFileSync(join(this.home, `run/${program}.lock`), "utf8"));
    process.kill(pid, "SIGKILL");
  }

  /** Everything ends at once, as when a machine loses its power. */
  async die(): Promise<void> {
    await until(
      "all of it is gone",
      () => {
        const pids = this.pids();
        for (const pid of pids) {
          const startTime = processes.startTime(pid);
          if (startTime !== undefined) processes.kill({ pid, startTime, bootId: processes.bootId() }, "SIGKILL");
        }
        return pids.length === 0;
      },
      () => this.pids(),
    );
  }
}
