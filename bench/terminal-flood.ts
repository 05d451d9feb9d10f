// Throughput of output, in MB (10⁶ bytes that the program wrote) per second: from the key that starts the flood until
// its last line has reached the client. The program writes lines of 79 characters; the line discipline ends each with
// \r\n.
//   ours             through a holder, which keeps it all on the tape, to one attached client, which gets every byte
//   terminal.flood.raw    Bun.Terminal with nobody in between: the limit of any holder written in Bun
//   terminal.flood.tmux   a tmux server with an attached client in a window; it may leave out what it cannot draw
// Not measured: drawing (the client only counts), several clients, a client that is slow.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HolderClient } from "../src/wire/holder/client.ts";
import { realSockets } from "../src/world/real/socket.ts";
import { environment, Home } from "./home.ts";
import { type Contestant, rates } from "./rounds.ts";
import { type Row, rateRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { Tmux } from "./tmux.ts";
import { within } from "./waiting.ts";
import { Window } from "./window.ts";

const RAW = "terminal.flood.raw";
const TMUX = "terminal.flood.tmux";
const MB = 1_000_000;
const LIMIT_MS = 60_000;
const READY = "@ready@";
const LINE = "x".repeat(79);
/**
 * Reads how many MB are wanted, writes them, and says that it has. The marks are put together, so that no echo can be
 * taken for one.
 */
const PROGRAM = [
  "sh",
  "-c",
  `stty -echo; echo @rea''dy@; while read mb; do yes ${LINE} | head -c "$mb"000000; echo; echo @do''ne@; done`,
] as const;
const DONE = "@done@";

export async function terminalFlood(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const tmux = names.includes(TMUX) ? Tmux.find(bench, [TMUX]) : undefined;
  const home = await Home.start(bench, "f");
  try {
    const contestants = [
      await throughHolder(home),
      await raw(bench),
      ...(tmux === undefined ? [] : [await throughTmux(tmux)]),
    ];
    bench.say(`terminal.flood: ${bench.rounds} rounds of each`);
    const [value = Number.NaN, rawValue = Number.NaN, tmuxValue = Number.NaN] = await rates(contestants, bench, "MB");
    if (names.includes(RAW))
      emit(rateRow({ name: RAW, value, peer: "Bun.Terminal, drained", peerValue: rawValue }, "MB/s"));
    if (tmux !== undefined) emit(rateRow({ name: TMUX, value, peer: "tmux, attached", peerValue: tmuxValue }, "MB/s"));
  } finally {
    await home.end();
  }
}

async function throughHolder(home: Home): Promise<Contestant> {
  await home.open(1, PROGRAM);
  const [terminal] = await home.terminals();
  const spec = JSON.parse(readFileSync(join(home.path, "terminals", terminal?.id ?? "", "holder.json"), "utf8"));
  const drain = new Drain();
  const client = new HolderClient(
    (events) => realSockets().connect(spec.socket, events),
    {
      token: spec.token,
      writer: "bench",
      from: 0,
    },
    { output: (_, bytes) => drain.take(bytes), resync: () => drain.cut() },
  );
  const ready = drain.shows(READY);
  const welcome = await client.connect();
  if (!welcome.ok) throw new Error(welcome.error.message);
  await ready;
  const run = async (mb: number) => {
    const done = drain.shows(DONE);
    void client.input(Buffer.from(`${mb}\n`));
    await done;
    drain.mustHave(mb * MB);
  };
  return { name: "through a holder to a client", run, close: () => client.close() };
}

async function raw(bench: Bench): Promise<Contestant> {
  const window = new Window(PROGRAM, environment(bench.directory));
  await window.shows(READY);
  return { name: "Bun.Terminal, drained", run: (mb) => flood(window, mb), close: () => window.close() };
}

async function throughTmux(tmux: Tmux): Promise<Contestant> {
  await tmux.run("new", "-d", "-s", "flood", ...PROGRAM);
  const window = new Window([...tmux.words, "attach", "-t", "flood"], tmux.env);
  await window.shows(READY);
  const close = async () => {
    await tmux.end();
    await window.ended();
  };
  return { name: "tmux, attached", run: (mb) => flood(window, mb), close };
}

async function flood(window: Window, mb: number): Promise<void> {
  const done = window.shows(DONE);
  window.type(`${mb}\r`);
  await done;
}

/** Counts what the client gets, and looks for a text at its end, as the windows of the others do. */
class Drain {
  readonly #decoder = new TextDecoder("latin1");
  #tail = "";
  #bytes = 0;
  #cuts = 0;
  #waited: { readonly text: string; readonly found: () => void } | undefined;

  shows(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#tail, this.#bytes] = ["", 0];
    this.#waited = { text, found: resolve };
    return within(() => `${text} from the holder`, LIMIT_MS, promise);
  }

  take(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#tail = (this.#tail + this.#decoder.decode(bytes.subarray(-4096))).slice(-4096);
    if (this.#waited === undefined || !this.#tail.includes(this.#waited.text)) return;
    this.#waited.found();
    this.#waited = undefined;
  }

  cut(): void {
    this.#cuts += 1;
  }

  mustHave(bytes: number): void {
    if (this.#bytes >= bytes) return;
    throw new Error(`the client got ${this.#bytes} of ${bytes} bytes: it was cut off ${this.#cuts} times`);
  }
}
