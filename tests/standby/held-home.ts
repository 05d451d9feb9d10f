// A home with real holders: of an agent, of an attempt, of a terminal, and with the lease that a daemon would write.
// Their programs are shell scripts.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { writeLease } from "../../src/home/fleet-files.ts";
import { pipeSpec, readHolder, specBytes } from "../../src/home/held/holder-files.ts";
import { encodeOrder } from "../../src/wire/holder/orders.ts";
import type { HolderSpec } from "../../src/wire/holder/protocol.ts";
import { holderStart, ordersStart } from "../../src/wire/holder/start.ts";
import { identify, type ProcessIdentity } from "../../src/world/process.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { COUNTING } from "../ours.ts";
import { until } from "../until.ts";

const TAPE = { segmentBytes: 1 << 20, maxBytes: 4 << 20 };
const PATH = process.env["PATH"] ?? "/bin:/usr/bin";
const disk = realDisk();
export const processes = realProcesses();

export class HeldHome {
  readonly home = mkdtempSync(join(tmpdir(), "hf-standby-"));
  readonly #holders: Bun.Subprocess[] = [];
  readonly #programs: ProcessIdentity[] = [];
  #made = 0;

  constructor() {
    for (const name of ["run", "fleet"]) mkdirSync(join(this.home, name));
  }

  get world() {
    return { disk, processes, clock: realClock(), home: this.home };
  }

  /** Starts a program below its holder; resolves with its pid when it has written `pids` of pids to its file. */
  async agent(script: string, pids = 1): Promise<number[]> {
    const id = this.#id();
    const made = this.#spec(`agents/${id}/processes/1`, `${id}.1`, { script, mode: "pipe", adopts: true });
    this.#holder(holderStart(process.execPath, join(ROOT, "src/holder/main.ts"), made.directory, { adopts: true }));
    return this.#pids(made, pids);
  }

  async terminal(script: string, pids = 1): Promise<number[]> {
    const id = this.#id();
    const made = this.#spec(`terminals/${id}`, id, { script, mode: "pty" });
    this.#holder(holderStart(process.execPath, join(ROOT, "src/holder/main.ts"), made.directory));
    return this.#pids(made, pids);
  }

  async attempt(script: string, pids = 1): Promise<number[]> {
    const run = this.#id();
    const made = this.#spec(`state/r/sessions/${run}/attempts/1`, `${run}.1`, { script, mode: "pipe" });
    const start = ordersStart(process.execPath, join(ROOT, "src/holder/orders-main.ts"), this.home, {});
    const holder = this.#holder(start);
    holder.stdin.write(encodeOrder({ directory: made.directory, secrets: {} }));
    await holder.stdin.flush();
    return this.#pids(made, pids);
  }

  /** The lease ends so long from now. */
  lease(ms: number): void {
    const until = realClock().sinceBoot() + ms;
    writeLease({ disk, home: this.home }, { epoch: 1, id: "t", bootId: processes.bootId(), until });
  }

  fence(): void {
    const record = { v: 1, at: new Date().toISOString(), owner: "another", epoch: 2 };
    writeFileSync(join(this.home, "fleet/fenced.json"), JSON.stringify(record));
  }

  holderOf(pid: number): number {
    return processes.kin(pid)?.ppid ?? 0;
  }

  async end(): Promise<void> {
    for (const program of this.#programs) processes.kill(program, "SIGKILL");
    const marked = processes.list().filter(({ pid }) => processes.variable(pid, "HOLDFAST_STANDBY_TEST") === this.home);
    for (const { pid, startTime } of marked) processes.kill({ pid, startTime, bootId: processes.bootId() }, "SIGKILL");
    for (const holder of this.#holders) holder.kill("SIGKILL");
    for (const holder of this.#holders) await holder.exited;
    rmSync(this.home, { recursive: true, force: true });
  }

  #id(): string {
    this.#made += 1;
    return String(this.#made).padStart(32, "0");
  }

  #spec(below: string, id: string, { script, ...more }: Pick<HolderSpec, "mode" | "adopts"> & { script: string }) {
    const directory = join(this.home, below);
    mkdirSync(directory, { recursive: true });
    const out = join(directory, "pids");
    const env = { PATH, OUT: out, HOLDFAST_STANDBY_TEST: this.home };
    const socket = join(this.home, `run/${this.#made}.sock`);
    const held = { id, argv: ["bash", "-c", script], cwd: this.home, env, token: "t", socket, tape: TAPE };
    const spec = { ...pipeSpec(held), ...more };
    writeFileSync(join(directory, "holder.json"), specBytes({ disk, home: this.home }, spec));
    return { directory, out };
  }

  #holder({ argv, cwd, env }: ReturnType<typeof ordersStart>) {
    const [runtime, ...words] = argv;
    const holder = Bun.spawn([runtime, ...COUNTING, ...words], {
      ...{ cwd, env: { ...env }, stdio: ["pipe", "ignore", "inherit"], detached: true },
    });
    this.#holders.push(holder);
    return holder;
  }

  async #pids({ directory, out }: { directory: string; out: string }, count: number): Promise<number[]> {
    await until(
      "it is held",
      () => readHolder({ disk, directory }) !== undefined,
      () => disk.list(directory),
    );
    const read = () => (disk.stat(out) === undefined ? [] : readFileSync(out, "utf8").trim().split("\n").map(Number));
    const pids = await until(
      `${count} programs run`,
      () => read().length === count && read(),
      () => read(),
    );
    this.#programs.push(...pids.flatMap((pid) => identify(processes, pid) ?? []));
    return pids;
  }
}

export function isStopped(pid: number): boolean {
  return processes.isStopped(pid);
}

export function lives(pid: number): boolean {
  return processes.startTime(pid) !== undefined;
}
