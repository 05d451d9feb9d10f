// Machines of their own on this one: each has its own network, processes, mounts, disk (a small tmpfs), time since boot
// and boot id, and may have a wall clock of its own. Everything is in namespaces that end with this process, in which
// it runs as their root (main.ts), so nothing of it is seen outside, and nothing is left.
// MA1. A machine that loses its power says goodbye to nobody: its cable is out before its programs end.
// MA2. Its disk keeps what was written, synced or not: what a power cut loses is tried on simulated disks and in
//      tests/crash/power.test.ts.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../scripts/files.ts";
import { until } from "../../until.ts";

const BRIDGE = "br0";
export const GATEWAY = "10.77.0.254";
const DISK_MB = 384;
/** More than any of its files takes. */
const FILL = "fill";
const SKEW_BYTES = 8;
const MAX_SKEW_S = 3_600;

export type Said = { readonly code: number; readonly out: string; readonly err: string };

/** Throws unless it succeeds. */
export function run(...argv: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(argv, { stdio: ["ignore", "pipe", "pipe"] });
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr}${stdout}`);
  return stdout.toString();
}

/** In the namespaces of this process, once. */
export function makeNetwork(): void {
  run("mount", "-t", "tmpfs", "tmpfs", "/run");
  mkdirSync("/run/netns");
  run("ip", "link", "set", "lo", "up");
  run("ip", "link", "add", BRIDGE, "type", "bridge");
  run("ip", "addr", "add", `${GATEWAY}/24`, "dev", BRIDGE);
  run("ip", "link", "set", BRIDGE, "up");
}

/** Undefined if there is no compiler: then all clocks are right. */
export function makeSkew(place: string): string | undefined {
  const compiler = Bun.which("cc") ?? Bun.which("gcc");
  if (compiler === null) return undefined;
  const library = join(place, "skew.so");
  run(compiler, "-shared", "-fPIC", "-O1", "-o", library, join(ROOT, "tests/fleet/chaos/skew.c"), "-ldl");
  return library;
}

/** What is plugged into the network. */
export class Node {
  readonly name: string;
  readonly address: string;

  constructor(name: string, number: number) {
    this.name = name;
    this.address = `10.77.0.${number}`;
    run("ip", "netns", "add", name);
    run("ip", "link", "add", this.#cable, "type", "veth", "peer", "name", "eth0", "netns", name);
    run("ip", "link", "set", this.#cable, "master", BRIDGE);
    run("ip", "-n", name, "addr", "add", `${this.address}/24`, "dev", "eth0");
    for (const device of ["eth0", "lo"]) run("ip", "-n", name, "link", "set", device, "up");
    this.plug();
  }

  get #cable(): string {
    return `v-${this.name}`;
  }

  plug(): void {
    run("ip", "link", "set", this.#cable, "up");
  }

  /** Nobody is told: what is sent is lost. */
  unplug(): void {
    run("ip", "link", "set", this.#cable, "down");
  }

  /** These two do not hear each other any more; both hear all others. */
  ignore(other: Node): void {
    run(...this.within("nft", "add", "table", "ip", "deaf"));
    for (const [hook, way] of [
      ["input", "saddr"],
      ["output", "daddr"],
    ] as const) {
      run(...this.within("nft", "add", "chain", "ip", "deaf", hook, `{ type filter hook ${hook} priority 0; }`));
      run(...this.within("nft", "add", "rule", "ip", "deaf", hook, "ip", way, other.address, "drop"));
    }
  }

  heed(): void {
    Bun.spawnSync(this.within("nft", "delete", "table", "ip", "deaf"), { stderr: "ignore" }); // If there is one.
  }

  within(...argv: string[]): string[] {
    return ["ip", "netns", "exec", this.name, ...argv];
  }
}

/** The first process of a machine: it waits for all orphans, as an init does. */
const INIT = 'hostname "$2" && mount --bind "$1" /proc/sys/kernel/random/boot_id && while :; do sleep 0.2; done';

export class Machine {
  readonly node: Node;
  readonly disk: string;
  readonly #skewLibrary: string | undefined;
  #unshare: Bun.Subprocess | undefined;
  #init = 0;

  constructor(node: Node, place: string, skewLibrary: string | undefined) {
    this.node = node;
    this.disk = join(place, node.name);
    this.#skewLibrary = skewLibrary;
    mkdirSync(this.disk, { recursive: true });
    run("mount", "-t", "tmpfs", "-o", `size=${DISK_MB}m,mode=0755`, "tmpfs", this.disk);
    this.skew(0);
  }

  get isOn(): boolean {
    return this.#unshare !== undefined;
  }

  /** `upS`: how long it is up already, by its own clocks. */
  async boot(upS: number): Promise<void> {
    const bootId = join(this.disk, "boot-id");
    writeFileSync(bootId, `${crypto.randomUUID()}\n`);
    const spaces = ["--mount", "--pid", "--uts", "--time", "--boottime", `${upS}`, "--monotonic", `${upS}`];
    const argv = [
      "unshare",
      ...spaces,
      "--fork",
      "--kill-child",
      "--mount-proc",
      "/bin/bash",
      "-c",
      INIT,
      "init",
      bootId,
      this.node.name,
    ];
    const child = Bun.spawn(this.node.within(...argv), { stdio: ["ignore", "ignore", "inherit"] });
    this.#unshare = child;
    const children = `/proc/${child.pid}/task/${child.pid}/children`;
    this.#init = await until(
      `${this.node.name} has a first process`,
      () => firstIn(children),
      () => child.exitCode,
    );
    const isBooted = () =>
      run(...this.inside("cat", "/proc/sys/kernel/random/boot_id")) === readFileSync(bootId, "utf8");
    await until(`${this.node.name} has a boot id`, isBooted, () => child.exitCode);
    this.node.plug();
  }

  /** MA1 */
  async powerOff(): Promise<void> {
    this.node.unplug();
    const child = this.#unshare;
    this.#unshare = undefined;
    if (child === undefined) return;
    process.kill(this.#init, "SIGKILL"); // All others of its namespace end with it.
    await child.exited;
  }

  inside(...argv: string[]): string[] {
    return ["nsenter", "-t", `${this.#init}`, "-m", "-n", "-u", "-T", "-p", `--wdns=${this.disk}`, ...argv];
  }

  /** A command of a user at this machine. One that is not done when `patienceMs` are over is ended. */
  async do(argv: readonly string[], env: Readonly<Record<string, string>>, patienceMs: number): Promise<Said> {
    if (!this.isOn) return { code: -1, out: "", err: "it is off" };
    const child = Bun.spawn(this.inside(...argv), {
      ...{ env: { ...env, ...this.#skewed() }, stdio: ["ignore", "pipe", "pipe"] },
      ...{ timeout: patienceMs, killSignal: "SIGKILL" },
    });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, out, err };
  }

  /** The processes of this machine, as they are called here; without the first. */
  pids(): number[] {
    if (!this.isOn) return [];
    const space = statSync(`/proc/${this.#init}/ns/pid`).ino;
    return readdirSync("/proc").flatMap((name) => {
      const pid = Number(name);
      return Number.isInteger(pid) && pid !== this.#init && spaceOf(pid) === space ? [pid] : [];
    });
  }

  signal(pids: readonly number[], signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    for (const pid of pids) signalIfThere(pid, signal);
  }

  /** Its wall clock is ahead by so much. */
  skew(seconds: number): void {
    const bytes = Buffer.alloc(SKEW_BYTES);
    bytes.writeBigInt64LE(BigInt(Math.max(-MAX_SKEW_S, Math.min(MAX_SKEW_S, Math.trunc(seconds)))));
    writeFileSync(join(this.disk, "skew"), bytes, { flag: "w" });
  }

  #skewed(): Record<string, string> {
    if (this.#skewLibrary === undefined) return {};
    return { LD_PRELOAD: this.#skewLibrary, CHAOS_SKEW: join(this.disk, "skew") };
  }

  remove(): void {
    run("umount", "-l", this.disk);
  }

  /** Nothing more can be written. */
  fill(): void {
    Bun.spawnSync(["dd", "if=/dev/zero", `of=${join(this.disk, FILL)}`, "bs=64k"], { stderr: "ignore" });
  }

  empty(): void {
    rmSync(join(this.disk, FILL), { force: true });
  }
}

function firstIn(path: string): number | undefined {
  const [first] = readFileSync(path, "utf8").split(" ");
  return first === undefined || first === "" ? undefined : Number(first);
}

function spaceOf(pid: number): number | undefined {
  try {
    return statSync(`/proc/${pid}/ns/pid`).ino;
  } catch {
    return undefined; // It has ended.
  }
}

export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ESRCH") throw error;
  }
}
