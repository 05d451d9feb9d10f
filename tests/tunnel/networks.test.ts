// The tunnel over a network of its own (Linux namespaces): what a train, a lid and a router do to it. A terminal is
// watched from afar meanwhile, and not one byte of it is lost or repeated.
import { afterEach, expect, test } from "bun:test";
import { endAll } from "../cli/terminal-home.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";
import { FarHome, RelayProcess } from "./far-home.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await endAll();
});

const COUNTING = "i=0; stty -echo; while :; do echo $i; i=$((i+1)); sleep 0.02; done";
const [RELAY_ADDRESS, HOME_ADDRESS, OTHER_ADDRESS] = ["10.99.7.1", "10.99.7.2", "10.99.7.3"] as const;

function isDone(...argv: readonly string[]): boolean {
  return Bun.which(argv[0] ?? "") !== null && Bun.spawnSync([...argv]).exitCode === 0;
}

function must(...argv: readonly string[]): void {
  const done = Bun.spawnSync([...argv]);
  if (done.exitCode !== 0) throw new Error(`${argv.join(" ")}: ${done.stderr}`);
}

const MAY = process.getuid?.() === 0 && isDone("unshare", "--net", "true") && Bun.which("ip") !== null;
/** What arrives is dropped: a packet that may not leave would not be lost, but refused to its sender. */
const LOSS = [
  "add table inet loss",
  "add chain inet loss in { type filter hook input priority 0 ; }",
  "add rule inet loss in iifname cable numgen random mod 20 == 0 drop",
].join("; ");
/** In a namespace of the probe's own. */
const HAS_LOSS =
  MAY &&
  isDone("unshare", "--net", "nft", LOSS) &&
  isDone(
    "unshare",
    "--net",
    "tc",
    "qdisc",
    "add",
    "dev",
    "lo",
    "root",
    "tbf",
    "rate",
    "1mbit",
    "burst",
    "4kb",
    "latency",
    "1s",
  );

/** Two namespaces and a cable between them. */
class Network {
  readonly #name = `hf${process.pid}-${closers.length}`;

  constructor() {
    for (const side of ["r", "h"]) {
      must("ip", "netns", "add", `${this.#name}${side}`);
      closers.push(() => must("ip", "netns", "del", `${this.#name}${side}`));
      must(...this.in(side), "ip", "link", "set", "lo", "up");
    }
    const other = ["peer", "name", "cable", "netns", `${this.#name}h`];
    must(...this.in("r"), "ip", "link", "add", "name", "cable", "type", "veth", ...other);
    this.#address("r", "add", RELAY_ADDRESS);
    this.#address("h", "add", HOME_ADDRESS);
    for (const side of ["r", "h"]) must(...this.in(side), "ip", "link", "set", "cable", "up");
  }

  in(side: string): string[] {
    return ["ip", "netns", "exec", `${this.#name}${side}`];
  }

  #address(side: string, what: "add" | "del", address: string): void {
    must(...this.in(side), "ip", "address", what, `${address}/24`, "dev", "cable");
  }

  cable(state: "up" | "down"): void {
    must(...this.in("r"), "ip", "link", "set", "cable", state);
  }

  moveHome(): void {
    this.#address("h", "del", HOME_ADDRESS);
    this.#address("h", "add", OTHER_ADDRESS);
  }

  /** One packet in 20 is lost on each side, and a narrow cable keeps the others waiting. */
  worsen(): void {
    for (const side of ["r", "h"]) {
      must(...this.in(side), "nft", LOSS);
      const narrow = ["tbf", "rate", "400kbit", "burst", "4kb", "latency", "400ms"];
      must(...this.in(side), "tc", "qdisc", "add", "dev", "cable", "root", ...narrow);
    }
  }
}

class AwayHome extends FarHome {
  readonly #prefix: readonly string[];

  constructor(prefix: readonly string[]) {
    super();
    this.#prefix = prefix;
  }

  override async run(...args: readonly string[]) {
    const argv = [...this.#prefix, ...ours("src/cli/main.ts"), ...args];
    const env = { ...this.env, PATH: process.env["PATH"] ?? "" };
    const child = Bun.spawn(argv, { cwd: this.path, env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, out, err };
  }
}

/** A terminal that counts, and a device that watches it. */
async function watched() {
  const network = new Network();
  const relay = new RelayProcess(closers, "1s", { prefix: network.in("r"), address: RELAY_ADDRESS });
  const home = new AwayHome(network.in("h"));
  await relay.serve();
  await home.enrol(relay);
  await home.ok("new", "-d", "counts", "--", "sh", "-c", COUNTING);
  const { id } = (await home.json("ls")).find(({ name }: { name: string }) => name === "counts");
  const { url } = await home.json("pair", "--rights", "look");
  const argv = [...network.in("r"), ...ours("tests/tunnel/stream-process.ts", url, id)];
  const device = Bun.spawn(argv, { stdio: ["ignore", "pipe", "inherit"] });
  closers.push(() => device.kill("SIGKILL"));
  const seen = { last: -1, wrong: [] as string[] };
  void (async () => {
    let rest = "";
    for await (const text of device.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      seen.wrong.push(...lines.filter((line) => !/^\d+$/.test(line)));
      seen.last = Number(lines.findLast((line) => /^\d+$/.test(line)) ?? seen.last);
    }
  })();
  const counts = async (more = 20) => {
    const from = seen.last;
    await until(
      "the device sees it count on",
      () => seen.last > from + more || seen.wrong.length > 0,
      async () => [seen, await home.tunnel()],
    );
    expect(seen.wrong).toEqual([]);
  };
  await counts();
  return { network, home, counts };
}

/** Until the home has noticed that the relay is out of reach; it may be connected again before we look. */
async function noticed(home: FarHome, change: () => void): Promise<void> {
  const { since } = await home.tunnel();
  change();
  const isNoticed = async () => (await home.tunnel()).since !== since;
  await until("the tunnel is lost", isNoticed, () => home.tunnel());
}

test.skipIf(!MAY)(
  "TN-1(b) after a partition the tunnel comes back, and no byte of a stream is lost (needs root and ip)",
  async () => {
    const { network, home, counts } = await watched();
    await noticed(home, () => network.cable("down"));
    network.cable("up");
    await counts();
  },
);

test.skipIf(!MAY)(
  "TN-1(b) a home that gets another address connects again, and no byte is lost (needs root and ip)",
  async () => {
    const { network, home, counts } = await watched();
    await noticed(home, () => network.moveHome());
    await counts();
  },
);

test.skipIf(!HAS_LOSS)(
  "TN-1(b) with one packet in 20 lost and a narrow cable the stream is whole (needs root, ip, nft)",
  async () => {
    const { network, counts } = await watched();
    network.worsen();
    await counts(200);
  },
);
