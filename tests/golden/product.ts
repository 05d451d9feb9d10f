// A home and the product that runs on it: commands are typed, and their --json is read, as a person or a script does
// it.
// PR1. Nothing of the developer's own shows through: the environment has what is said here, and nothing else.
// PR2. Nothing is left running: what was started on a home has its path or its markers, and is killed by its pid. Other
//      homes with the same ids, opened from the same archive, are left alone.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { realDisk } from "../../src/world/real/disk.ts";
import { until } from "../until.ts";

export type Ended = { readonly code: number; readonly out: string; readonly err: string };
type Env = Readonly<Record<string, string>>;

/** The words that start `holdfast`, where everything lies, and what its programs find beside the usual. */
export type Place = {
  readonly words: readonly string[];
  readonly root: string;
  readonly env: Env;
  /** Where commands are typed: without it in a directory that every machine has. */
  readonly cwd?: string;
};

export class Product {
  /** Below it: the home, its configuration and workflows, and a person's own directory, which is not kept. */
  readonly root: string;
  readonly home: string;
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
    this.root = place.root;
    this.home = join(place.root, "home");
  }

  /** PR1 */
  get env(): Env {
    const { root, env } = this.#place;
    const usual = { PATH: "/usr/local/bin:/usr/bin:/bin", SHELL: "/bin/sh", PS1: "$ ", LANG: "C.UTF-8" };
    const own = { HOME: join(root, "user"), HOLDFAST_HOME: this.home, HOLDFAST_CONFIG: join(root, "config.toml") };
    return { ...usual, ...own, ...env };
  }

  /** The same, typed elsewhere. */
  in(cwd: string): Product {
    return new Product({ ...this.#place, cwd });
  }

  /** The same, with more in its environment. */
  with(env: Env): Product {
    return new Product({ ...this.#place, env: { ...this.#place.env, ...env } });
  }

  /** The same, started by other words. */
  by(words: readonly string[]): Product {
    return new Product({ ...this.#place, words });
  }

  async run(...args: readonly string[]): Promise<Ended> {
    const { words, cwd = "/usr" } = this.#place;
    const child = Bun.spawn([...words, ...args], { cwd, env: { ...this.env }, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, out, err };
  }

  /** For what must work, or must end with one of these codes: its output. */
  async ok(args: readonly string[], codes: readonly number[] = [0]): Promise<string> {
    const { code, out, err } = await this.run(...args);
    if (!codes.includes(code)) throw new Error(`holdfast ${args.join(" ")}: ${code}\n${out}${err}`);
    return out;
  }

  async json(...args: readonly string[]) {
    return JSON.parse(await this.ok([...args, "--json"]));
  }

  /** Waits until what a command prints has this in it. */
  async shows(text: string, ...args: readonly string[]): Promise<void> {
    let last: Ended = { code: 0, out: "", err: "" };
    const there = async () => {
      last = await this.run(...args);
      return last.out.includes(text);
    };
    await until(`holdfast ${args.join(" ")} shows ${text}`, there, () => last.out + last.err);
  }

  /** PR2. Everything at once, as when the machine dies: what is stopped heals nobody. */
  async powerCut(): Promise<void> {
    for (const pid of this.processes()) send(pid, "SIGSTOP");
    await until(
      "every process of this home is gone",
      () => {
        const left = this.processes();
        for (const pid of left) send(pid, "SIGKILL");
        return left.length === 0;
      },
      () => this.processes(),
    );
  }

  /** PR2 */
  processes(): number[] {
    const [ids, here] = [new Set(this.ids()), realDisk().stat(this.home)?.id];
    const numbers = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
    return numbers.map(Number).filter((pid) => {
      const environ = ofProcess(pid, "environ");
      const [marker, home] = ["HOLDFAST_TERMINAL", "HOLDFAST_HOME_ID"].map((name) => variableIn(environ, name));
      if (marker !== undefined && ids.has(marker.split(".")[0] ?? "") && home === here) return true;
      return environ.includes(`HOLDFAST_HOME=${this.home}\0`) || ofProcess(pid, "cmdline").includes(this.root);
    });
  }

  /** Of all terminals, agents and runs that lie here. */
  ids(): string[] {
    const runs = this.names("state").flatMap((repo) => this.names(`state/${repo}/sessions`));
    return [...this.names("terminals"), ...this.names("agents"), ...runs].map((name) => name.replace(/^_/, ""));
  }

  names(directory: string): string[] {
    const path = join(this.home, directory);
    return existsSync(path) ? readdirSync(path) : [];
  }
}

function variableIn(environ: string, name: string): string | undefined {
  return new RegExp(`(?:^|\\0)${name}=([^\\0]*)`).exec(environ)?.[1];
}

/** Empty if it has ended. */
function ofProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch (error) {
    if (error instanceof Error) return "";
    throw error;
  }
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error)) throw error; // It has ended meanwhile.
  }
}
