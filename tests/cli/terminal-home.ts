// Homes with a real Holdfast, for the tests of the terminal commands.
// TH1. Nothing is left running: `endAll` kills every process that has the home's path in its environment or arguments.
// TH2. No sleeps: `until` waits for a fact, and fails with its name.
// TH3. `listed` and `says` start no command if a live daemon answers: it takes fifty times the processor time. They
//      show what `ls` and `history` print, by the code of these.
// TH4. Commands that tests look with again and again run inside the test, by the same code from the command line on;
//      `started` starts a process for any command.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { visible } from "../../src/base/visible.ts";
import { runCli } from "../../src/cli/run.ts";
import { type Row, rowOf } from "../../src/cli/terminal/listed.ts";
import { PlainText } from "../../src/core/terminal/plain-text.ts";
import { dial } from "../../src/home/dial.ts";
import { terminalFiles } from "../../src/home/held/holder-files.ts";
import { tapeParts } from "../../src/home/held/tape-parts.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { realWatch } from "../../src/world/real/watch.ts";
import { realWorld } from "../../src/world/world.ts";
import { killIfThere } from "../daemon/home.ts";
import { ours, oursAt } from "../ours.ts";
import { smallHome } from "../small-home.ts";
import { until } from "../until.ts";
import { fakeConsole } from "./fake-console.ts";

const MAIN = ours("src/cli/main.ts");
/** TH4 */
const LOOKS =
  /^(?:status|ls|prompts|rules ls|workflows(?= --json$|$)|agent (?:log|inspect|tree)|tunnel status|recovery report)\b/;
const homes: Home[] = [];

export type Ended = { readonly code: number; readonly out: string; readonly err: string };

export class Home {
  /** Short, because socket paths are limited in length. */
  readonly path = mkdtempSync("/tmp/hfw-");
  readonly #windows: Window[] = [];
  ended = false;

  constructor() {
    homes.push(this);
    smallHome(join(this.path, "config.toml"));
  }

  /** Without any of the developer's own settings. */
  get env(): Record<string, string> {
    return {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: this.path,
      SHELL: "/bin/sh",
      HOLDFAST_HOME: this.path,
      HOLDFAST_CONFIG: join(this.path, "config.toml"),
    };
  }

  run(...args: readonly string[]): Promise<Ended> {
    return LOOKS.test(args.join(" ")) && !args.includes("-f") ? this.#look(args) : this.started(...args);
  }

  /** In a process of its own, whatever command it is. */
  started(...args: readonly string[]): Promise<Ended> {
    return this.#run([...MAIN, ...args]);
  }

  /** TH4 */
  async #look(args: readonly string[]): Promise<Ended> {
    const console = { ...fakeConsole({ env: this.env }), absolute: (path: string) => resolve(this.path, path) };
    const world = { ...realWorld(), console, watch: realWatch() };
    const code = await runCli(args, console, async () => world);
    return { code, ...console.printed };
  }

  /** The command of another installation. */
  from(root: string, ...args: readonly string[]): Promise<Ended> {
    return this.#run(oursAt(root, "src/cli/main.ts", ...args));
  }

  /** Runs in another directory of the home, with additional variables. */
  at(directory: string, env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ended> {
    return this.#run([...MAIN, ...args], join(this.path, directory), env);
  }

  async #run(words: string[], cwd = this.path, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const child = Bun.spawn(words, { cwd, env: { ...this.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, out, err };
  }

  /** For commands that must succeed: returns their output. */
  async ok(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await this.run(...args);
    if (code !== 0) throw new Error(`holdfast ${args.join(" ")}: ${code}\n${out}${err}`);
    return out;
  }

  async json(...args: readonly string[]) {
    return JSON.parse(await this.ok(...args, "--json"));
  }

  /** The status also of a home that has troubles, for instance while its daemon starts. */
  async status() {
    return JSON.parse((await this.run("status", "--json")).out);
  }

  /** A terminal as `ls` shows it. */
  async listed(name: string) {
    type Listed = Row & { readonly pid: number };
    const rows: Listed[] = (await this.#rows()) ?? (await this.json("ls"));
    const row = rows.find((other) => other.name === name);
    if (row === undefined) throw new Error(`there is no ${name} in ${JSON.stringify(rows)}`);
    return row;
  }

  /** TH3. Undefined if there is no live daemon of this version. */
  async #rows() {
    const line = await dial({ disk: realDisk(), sockets: realSockets(), clock: realClock() }, this.path);
    const client = line.ok ? line.value : undefined;
    const answers = client && (await Promise.all([client.call("status", {}), client.call("terminal.list", {})]));
    client?.close();
    const [status, list] = answers ?? [];
    if (status?.ok !== true || list?.ok !== true || status.value.recovery.stage !== "LIVE") return undefined;
    return JSON.parse(JSON.stringify(list.value.map(rowOf)));
  }

  async says(name: string, text: string): Promise<void> {
    const { id } = await this.listed(name);
    const said = () => plainText(this.path, id);
    await until(`${name} says ${text}`, () => said().includes(text), said);
  }

  /** A terminal window of the user, running holdfast. */
  window(args: readonly string[], { env = {}, ...size }: Look = {}): Window {
    return this.#open([...MAIN, ...args], { cols: 80, rows: 24, env, ...size });
  }

  /** A terminal window running a shell script; "$@" is holdfast. */
  script(script: string): Window {
    return this.#open(["/bin/sh", "-c", script, "sh", ...MAIN], { cols: 80, rows: 24, env: {} });
  }

  #open(argv: readonly string[], look: Required<Look>): Window {
    const window = new Window(argv, this, look);
    this.#windows.push(window);
    return window;
  }

  async end(): Promise<void> {
    this.ended = true;
    for (const window of this.#windows) window.kill("SIGKILL");
    // At once, since they restart each other. `down --kill` would take ten times the processor time.
    const others = new Set<string>();
    for (let left = this.#left(others); left === undefined || left.length > 0; left = this.#left(others)) {
      for (const pid of left ?? []) killIfThere(pid);
      await Bun.sleep(1);
    }
    rmSync(this.path, { recursive: true, force: true });
  }

  /**
   * TH1. A terminal's program has it as HOME, and its holder as an argument. Undefined if there is none, but a program
   * is just being loaded: it has neither arguments nor an environment yet, and may be one of ours. `others` gets the
   * processes that are not ours; the next look, some milliseconds later, leaves them out.
   */
  #left(others: Set<string>): number[] | undefined {
    const mine: number[] = [];
    let someoneStarts = false;
    for (const pid of pidsNow().filter((one) => !others.has(one))) {
      const words = readProc(pid, "cmdline");
      if (words.includes(this.path) || readProc(pid, "environ").includes(this.path)) mine.push(Number(pid));
      else if (words === "" && existsSync(`/proc/${pid}/exe`)) someoneStarts = true;
      else others.add(pid);
    }
    return mine.length === 0 && someoneStarts ? undefined : mine;
  }
}

/** TH3. As `history` prints it. */
function plainText(home: string, id: string): string {
  const plain = new PlainText();
  const lines: string[] = [];
  for (const part of tapeParts(terminalFiles(realDisk(), home, id), 0)) {
    if (part.kind === "bytes") lines.push(...plain.push(part.bytes));
    else plain.gap();
  }
  if (plain.last !== "") lines.push(plain.last);
  return visible(lines.map((line) => `${line}\n`).join(""));
}

function pidsNow(): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
}

function readProc(pid: string, of: string): string {
  try {
    return readFileSync(`/proc/${pid}/${of}`, "latin1");
  } catch (error) {
    if (error instanceof Error) return ""; // It has ended in the meantime.
    throw error;
  }
}

/** `env`: additional variables. */
type Look = { readonly cols?: number; readonly rows?: number; readonly env?: Record<string, string> };

/** A terminal like a person's, with the CLI running in it. */
export class Window {
  readonly #child: Bun.Subprocess;
  readonly #read = Promise.withResolvers<void>();
  #seen = Buffer.alloc(0);

  constructor(argv: readonly string[], home: Home, { env, ...size }: Required<Look>) {
    const data = (_: unknown, bytes: Uint8Array) => {
      this.#seen = Buffer.concat([this.#seen, bytes]);
    };
    this.#child = Bun.spawn([...argv], {
      cwd: home.path,
      env: { ...home.env, TERM: "xterm-256color", ...env },
      terminal: { ...size, data, exit: () => this.#read.resolve() },
    });
  }

  get seen(): string {
    return this.#seen.toString();
  }

  get bytes(): Uint8Array {
    return this.#seen;
  }

  get pid(): number {
    return this.#child.pid;
  }

  type(text: string): void {
    this.#child.terminal?.write(text);
  }

  resize(cols: number, rows: number): void {
    this.#child.terminal?.resize(cols, rows);
  }

  async shows(text: string): Promise<void> {
    await until(
      `the window shows ${text}`,
      () => this.seen.includes(text),
      () => this.seen.slice(-500),
    );
  }

  /**
   * Its exit code, once its last output was read as well: the system may report an exit before it delivers the output.
   */
  get exited(): Promise<number> {
    return Promise.all([this.#child.exited, this.#read.promise]).then(([code]) => code);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** As when a person closes the window: the terminal is gone. */
  close(): void {
    this.#child.terminal?.close();
  }

  /** Whether its line discipline is in cooked mode, as a shell expects. */
  get cooked(): boolean {
    const flags = this.#child.terminal?.localFlags ?? 0;
    return (flags & ECHO) !== 0 && (flags & ICANON) !== 0;
  }
}

const ICANON = 2;
const ECHO = 8;

/** TH1 */
export async function endAll(): Promise<void> {
  await Promise.all(homes.splice(0).map((home) => home.end()));
}
