// A terminal from afar: device, relay and home on loopback, by the page's own code on the device, against `ssh -R` from
// the home to a server on loopback. Terminal, holder and the client of the holder are the same; what lies between them
// is measured.
//   ours     device ─ WebSocket, encrypted for the home ─ relay ─ mutual TLS ─ web host ─ holder
//   ssh -R   device ─ TCP, not encrypted ─ sshd ─ SSH ─ ssh ─ holder
// tunnel.echo.ssh: from a key to its echo, in milliseconds; 300 keys of each in turn, after 300 that are not counted.
// tunnel.echo.first: the same of the first 20 of those.
// tunnel.flood.ssh: from the key that starts a flood until its last line has come, in MB (10⁶ bytes) per second.
// Not measured: TLS between browser and relay, a real network, drawing.
import { createConnection } from "node:net";
import { HolderClient, type HolderEvents } from "../src/wire/holder/client.ts";
import type { HolderDial } from "../src/wire/holder/framed-connection.ts";
import { FarDevice, newDevice } from "./far-device.ts";
import { Flood, holderOf, PROGRAM } from "./flood.ts";
import { Home, type Words } from "./home.ts";
import { BenchRelay } from "./relay.ts";
import { inTurn, median, rates } from "./rounds.ts";
import { type Row, rateRow, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { Ssh } from "./ssh.ts";
import { until, within } from "./waiting.ts";

const ECHO = "tunnel.echo.ssh";
const FIRST = "tunnel.echo.first";
const FLOOD = "tunnel.flood.ssh";
const PEER = "ssh -R";
const OURS = "through the relay";
const CONNECT_MS = 60_000;
const ECHO_MS = 10_000;
/** The first keys find code that is not compiled yet, and are typed once: they have a row of their own. */
const WARM_UP = 300;
const FIRST_KEYS = 20;
const KEYS = 300;

type Ways = { readonly home: Home; readonly device: FarDevice; readonly ssh: Ssh };

export async function tunnel(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const ssh = Ssh.find(bench, names);
  if (ssh === undefined) return;
  const relay = await BenchRelay.start(bench);
  const home = await Home.start(bench, "t");
  try {
    const ways = { home, ssh, device: await paired(home, relay) };
    if (names.includes(ECHO) || names.includes(FIRST))
      for (const row of await echo(ways, bench)) if (names.includes(row.name)) emit(row);
    if (names.includes(FLOOD)) emit(await flood(ways, bench));
    ways.device.close();
  } finally {
    await ssh.end();
    await home.end();
    await relay.kill();
  }
}

async function paired(home: Home, relay: BenchRelay): Promise<FarDevice> {
  await home.run("tunnel", "enroll", `localhost:${relay.port}`, await relay.token());
  await until("the tunnel", CONNECT_MS, async () => ((await relay.status()).homes.connected === 1 ? true : undefined));
  const link = await until("a pairing link", CONNECT_MS, () => pairingLink(home));
  const device = new FarDevice(newDevice(link));
  await within(() => "the device", CONNECT_MS, device.up());
  return device;
}

/** Undefined until the home knows that it is connected. */
async function pairingLink({ words, env }: Home): Promise<string | undefined> {
  const child = Bun.spawn([...words, "pair", "--rights", "type", "--json"], {
    ...{ env: { ...env }, cwd: "/", stdio: ["ignore", "pipe", "ignore"] },
  });
  const text = await child.stdout.text();
  return (await child.exited) === 0 ? JSON.parse(text).url : undefined;
}

/** A client of each way, with a terminal of its own. */
async function clients({ home, device, ssh }: Ways, program: Words, events: readonly HolderEvents[]) {
  const [ours, theirs] = [await holderOf(home, program), await holderOf(home, program)];
  const port = await ssh.forward(theirs.socket);
  const wish = { token: theirs.token, writer: "bench", from: 0 };
  return [device.terminal(ours.id, events[0] ?? {}), new HolderClient(over(port), wish, events[1])];
}

function over(port: number): HolderDial {
  return (events) =>
    new Promise((resolve, reject) => {
      const socket = createConnection({ host: "127.0.0.1", port, noDelay: true }, () =>
        resolve({
          send: (bytes) => void socket.write(bytes.slice()),
          end: () => void socket.end(),
          destroy: () => void socket.destroy(),
        }),
      );
      socket.on("data", (bytes: Buffer) => events.bytes(bytes));
      socket.on("error", reject);
      socket.on("close", () => events.closed());
    });
}

async function echo(ways: Ways, bench: Bench): Promise<Row[]> {
  const came: (() => void)[] = [];
  const events = [0, 1].map((at) => ({ output: () => came[at]?.() }));
  const both = await clients(ways, ["cat"], events);
  for (const client of both) {
    const welcome = await client.connect();
    if (!welcome.ok) throw new Error(welcome.error.message);
  }
  const works = both.map((client, at) => async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    came[at] = resolve;
    const before = performance.now();
    void client.input(Buffer.from("x"));
    await within(() => "an echo", ECHO_MS, promise);
    return performance.now() - before;
  });
  const first = (await inTurn(bench.quick ? 1 : WARM_UP, works)).map((times) => times.slice(0, FIRST_KEYS));
  const seen = await inTurn(bench.quick ? 3 : KEYS, works);
  for (const client of both) client.close();
  bench.say(`  ${seen.map((times) => `${Math.min(...times).toFixed(2)} to ${Math.max(...times).toFixed(2)} ms`)}`);
  return [timesRow(FIRST, first), timesRow(ECHO, seen)];
}

function timesRow(name: string, both: readonly (readonly number[])[]): Row {
  const [value = Number.NaN, peerValue = Number.NaN] = both.map(median);
  return timeRow({ name, value, peer: PEER, peerValue });
}

async function flood(ways: Ways, bench: Bench): Promise<Row> {
  const floods = [new Flood(OURS), new Flood(PEER)] as const;
  const both = await clients(ways, PROGRAM, floods);
  const contestants = [];
  for (const [at, client] of both.entries()) contestants.push(await (floods[at] ?? floods[0]).through(client));
  const [value = Number.NaN, peerValue = Number.NaN] = await rates(
    contestants,
    { ...bench, seconds: 4 * bench.seconds },
    "MB",
  );
  return rateRow({ name: FLOOD, value, peer: PEER, peerValue }, "MB/s");
}
