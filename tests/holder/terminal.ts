// A terminal for the tests: its directory, its real holder, and clients that record what they receive.
// T1. Nothing is left running: `endAll` kills every holder and every child that carries its marker.
// T2. Nothing is slept for: `until` waits for a fact, and fails with its name.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { TapeReader } from "../../src/log/tape/reader.ts";
import { HolderClient, type HolderEvents, type HolderWish } from "../../src/wire/holder/client.ts";
import { parseClaim, parseExit } from "../../src/wire/holder/json.ts";
import type {
  HolderClaim,
  HolderExit,
  HolderRefusal,
  HolderSpec,
  HolderStatus,
} from "../../src/wire/holder/protocol.ts";
import { holderStart } from "../../src/wire/holder/start.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { COUNTING } from "../ours.ts";
import { until } from "../until.ts";

export const TOKEN = "a token of the tests";
const PATH = "/usr/local/bin:/usr/bin:/bin";

const homes: string[] = [];
const started: Bun.Subprocess[] = [];

export type Terminal = { readonly directory: string; readonly spec: HolderSpec };

/** A terminal that is not started yet. */
export function newTerminal(argv: readonly string[], changes: Partial<HolderSpec> = {}, within?: string): Terminal {
  const home = within ?? mkdtempSync(join(tmpdir(), "hf-"));
  if (within === undefined) homes.push(home);
  const directory = join(home, "t");
  mkdirSync(directory, { mode: 0o700 });
  const spec: HolderSpec = {
    v: 1,
    id: `test-${home.split("/").at(-1)}`,
    generation: 1,
    mode: "pty",
    argv,
    cwd: home,
    env: { PATH },
    size: { cols: 80, rows: 24 },
    token: TOKEN,
    socket: join(home, "s"),
    tape: { segmentBytes: 4 << 20, maxBytes: 64 << 20 },
    ...changes,
  };
  writeFileSync(join(directory, "holder.json"), JSON.stringify(spec), { mode: 0o600 });
  return { directory, spec };
}

export function startHolder({ directory }: Terminal): Bun.Subprocess {
  const { argv, cwd, env } = holderStart(process.execPath, join(ROOT, "src/holder/main.ts"), directory);
  const [runtime, ...words] = argv;
  const holder = Bun.spawn([runtime, ...COUNTING, ...words], {
    cwd,
    env: { ...env },
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  started.push(holder);
  return holder;
}

/** A started terminal with one client that receives everything from the beginning. */
export async function terminal(argv: readonly string[], changes: Partial<HolderSpec> = {}) {
  const made = newTerminal(argv, changes);
  const holder = startHolder(made);
  return { ...made, holder, ear: await attach(made) };
}

/** A client that records what it receives. */
export class Ear {
  readonly client: HolderClient;
  readonly chunks: { readonly offset: number; readonly bytes: Buffer }[] = [];
  readonly resyncs: number[] = [];
  readonly refusals: HolderRefusal[] = [];
  exit: HolderExit | undefined;
  losses = 0;

  constructor({ spec }: Terminal, wish: Partial<HolderWish>, more: HolderEvents = {}) {
    const hello = { token: spec.token, writer: "ear", from: 0, ...wish };
    this.client = new HolderClient((events) => realSockets().connect(spec.socket, events), hello, {
      output: (offset, bytes) => {
        this.chunks.push({ offset, bytes: Buffer.from(bytes) });
        more.output?.(offset, bytes);
      },
      resync: (offset) => void this.resyncs.push(offset),
      refused: (refusal) => void this.refusals.push(refusal),
      ended: (exit) => {
        this.exit = exit;
        more.ended?.(exit);
      },
      lost: () => {
        this.losses += 1;
      },
    });
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks.map(({ bytes }) => bytes));
  }

  get text(): string {
    return this.bytes.toString();
  }

  /** What a listener must never find: a byte twice, or one left out without a word. */
  get holes(): string[] {
    return this.chunks.slice(1).flatMap(({ offset }, index) => {
      const before = this.chunks[index];
      const end = (before?.offset ?? 0) + (before?.bytes.length ?? 0);
      return offset === end || this.resyncs.includes(offset) ? [] : [`${end} → ${offset}`];
    });
  }

  type(text: string) {
    return this.client.input(Buffer.from(text));
  }

  async hears(text: string | RegExp): Promise<void> {
    const heard = () => (typeof text === "string" ? this.text.includes(text) : text.test(this.text));
    await until(`the terminal says ${text}`, heard, () => this.text.slice(-500));
  }

  async hearsEnd(): Promise<HolderExit> {
    await until(
      "the end is announced",
      () => this.exit !== undefined,
      () => this.text.slice(-500),
    );
    if (this.exit === undefined) throw new Error("the end was announced");
    return this.exit;
  }

  async status(): Promise<HolderStatus> {
    const status = await this.client.askStatus();
    if (!status.ok) throw new Error(status.error.message);
    return status.value;
  }
}

/** Connects as soon as the holder is there. */
export async function attach(made: Terminal, wish: Partial<HolderWish> = {}, more: HolderEvents = {}): Promise<Ear> {
  await until(
    "the holder listens",
    () => existsSync(made.spec.socket),
    () => `${made.spec.socket} exists: ${existsSync(made.spec.socket)}`,
  );
  const ear = new Ear(made, wish, more);
  const welcome = await ear.client.connect();
  if (!welcome.ok) throw new Error(`${welcome.error.code}: ${welcome.error.message}`);
  return ear;
}

export function exitOf({ directory }: Terminal): HolderExit | undefined {
  const path = join(directory, "exit.json");
  return existsSync(path) ? parseExit(readFileSync(path)) : undefined;
}

export function claimOf({ directory }: Terminal): HolderClaim | undefined {
  const path = join(directory, "claim.json");
  return existsSync(path) ? parseClaim(readFileSync(path)) : undefined;
}

/** Everything on one of its tapes; throws if there is a gap. */
export function tapeOf({ directory }: Terminal, name = "tape"): Buffer {
  const reader = new TapeReader(realDisk(), join(directory, name));
  const parts: Uint8Array[] = [];
  for (let offset = 0; ; ) {
    const found = reader.read(offset, 1 << 20);
    if (found.kind === "end") return Buffer.concat(parts);
    if (found.kind !== "bytes") throw new Error(`${found.kind} on the tape at ${found.from}`);
    parts.push(found.bytes);
    offset += found.bytes.length;
  }
}

/** The processes that carry a terminal's marker. */
export function marked({ spec }: Terminal): number[] {
  const marker = `HOLDFAST_TERMINAL=${spec.id}\0`;
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => readProc(pid, "environ").includes(marker)).map(Number);
}

/** A number of kB from a process's own account. */
export function memoryOf(pid: number, what: string): number {
  const file = readProc(String(pid), "smaps_rollup") + readProc(String(pid), "status");
  return Number(new RegExp(`^${what}:\\s*(\\d+)`, "m").exec(file)?.[1]);
}

export function isAlive(pid: number): boolean {
  const stat = readProc(String(pid), "stat");
  return stat !== "" && !/^\d+ \(.*\) Z/s.test(stat);
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch (error) {
    if (error instanceof Error) return ""; // It has ended meanwhile.
    throw error;
  }
}

/** T1 */
export async function endAll(): Promise<void> {
  for (const holder of started) holder.kill("SIGKILL");
  await Promise.all(started.map((holder) => holder.exited));
  started.length = 0;
  for (const home of homes.splice(0)) {
    const id = `test-${home.split("/").at(-1)}`;
    for (const pid of marked({ directory: "", spec: { id } as HolderSpec })) kill(pid);
    rmSync(home, { recursive: true, force: true });
  }
}

function kill(pid: number): void {
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
}
