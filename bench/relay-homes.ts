// 100 homes on one relay, on loopback: the tunnels of their web hosts, in four processes.
// relay.memory.100: private memory of the relay with all of them connected and at rest, in MB (10⁶ bytes).
// relay.cpu.100: what it uses of one core meanwhile, in percent: heartbeats, every 15 s both ways.
// tunnel.reconnect.100: from SIGKILL to the relay, which is started again at once, until all are connected, in seconds.
// tunnel.reconnect.100.handshakes: the most homes that were welcomed within one second of that.
import { join } from "node:path";
import { environment } from "./home.ts";
import { cpuMsBetween, cpuTimesOf, memoryOf } from "./processes.ts";
import { BenchRelay } from "./relay.ts";
import { costRow, type Row } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { until } from "./waiting.ts";

const RECONNECT = "tunnel.reconnect.100";
const HANDSHAKES = "tunnel.reconnect.100.handshakes";
const MEMORY = "relay.memory.100";
const CPU = "relay.cpu.100";
const PROCESSES = 4;
const HOMES = 25;
const BACK_MS = 180_000;
/** A connection that was kept this long counts as a stable one. */
const REST_MS = 35_000;
const WATCH_MS = 30_000;
const MB = 1_000_000;

export async function relayHomes(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const relay = await BenchRelay.start(bench);
  const homes = new Homes(bench, relay);
  try {
    await homes.start();
    await Bun.sleep(bench.quick ? 500 : REST_MS);
    const rows = [...(await atRest(relay, bench)), ...(await afterKill(relay, homes))];
    for (const row of rows) if (names.includes(row.name)) emit(row);
  } finally {
    await homes.end();
    await relay.kill();
  }
}

async function atRest(relay: BenchRelay, bench: Bench): Promise<Row[]> {
  const { pid } = await relay.status();
  const watchMs = bench.quick ? 500 : WATCH_MS;
  const before = cpuTimesOf([pid]);
  await Bun.sleep(watchMs);
  const cpu = (100 * cpuMsBetween(before, cpuTimesOf([pid]))) / watchMs;
  const { privateClean, privateDirty, pss } = memoryOf([pid]);
  bench.say(`  the relay: PSS ${(pss / MB).toFixed(1)} MB`);
  return [
    costRow({ name: MEMORY, value: (privateClean + privateDirty) / MB, unit: "MB", bar: 150 }),
    costRow({ name: CPU, value: cpu, unit: "%", bar: 1 }),
  ];
}

async function afterKill(relay: BenchRelay, homes: Homes): Promise<Row[]> {
  const before = homes.welcomes.length;
  await relay.kill();
  const killed = Date.now();
  await relay.serve();
  await homes.allBack();
  const times = homes.welcomes.slice(before).toSorted((a, b) => a - b);
  const most = Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 1000).length));
  return [
    costRow({ name: RECONNECT, value: ((times.at(-1) ?? Number.NaN) - killed) / 1000, unit: "s", bar: 30 }),
    costRow({ name: HANDSHAKES, value: most, unit: "homes", bar: 20 }),
  ];
}

class Homes {
  /** When a home was welcomed. */
  readonly welcomes: number[] = [];
  readonly #bench: Bench;
  readonly #relay: BenchRelay;
  readonly #children: Bun.Subprocess[] = [];

  constructor(bench: Bench, relay: BenchRelay) {
    this.#bench = bench;
    this.#relay = relay;
  }

  async start(): Promise<void> {
    for (let at = 1; at <= PROCESSES; at += 1) {
      await this.#host();
      await this.allBack(at * HOMES);
    }
  }

  async allBack(count = PROCESSES * HOMES): Promise<void> {
    const connected = async () => (await this.#relay.ask({ method: "status" }))?.homes.connected === count;
    await until(`${count} homes`, BACK_MS, async () => ((await connected()) ? true : undefined));
  }

  async #host(): Promise<void> {
    const tokens: string[] = [];
    for (let at = 0; at < HOMES; at += 1) tokens.push(await this.#relay.token());
    const words = [process.execPath, join(import.meta.dir, "homes-host.ts"), `${this.#relay.port}`, ...tokens];
    const env = environment(this.#bench.directory);
    const child = Bun.spawn(words, { env, cwd: "/", stdio: ["ignore", "pipe", "inherit"] });
    this.#children.push(child);
    void this.#listen(child.stdout);
  }

  async #listen(out: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const text of out.pipeThrough(new TextDecoderStream()))
      this.welcomes.push(...text.trim().split("\n").map(Number));
  }

  async end(): Promise<void> {
    for (const child of this.#children) {
      child.kill("SIGKILL");
      await child.exited;
    }
  }
}
