// Throughput of output, in MB (10⁶ bytes that the program wrote) per second: from the key that starts the flood until
// its last line has reached the client. The program writes lines of 79 characters; the line discipline ends each with
// \r\n.
//   ours             through a holder, which keeps it all on the tape, to one attached client, which gets every byte
//   terminal.flood.raw    Bun.Terminal with nobody in between: the limit of any holder written in Bun
//   terminal.flood.tmux   a tmux server with an attached client in a window; it may leave out what it cannot draw
// Not measured: drawing (the client only counts), several clients, a client that is slow.
import { HolderClient } from "../src/wire/holder/client.ts";
import { realSockets } from "../src/world/real/socket.ts";
import { DONE, Flood, holderOf, PROGRAM, READY } from "./flood.ts";
import { environment, Home } from "./home.ts";
import { type Contestant, rates } from "./rounds.ts";
import { type Row, rateRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { Tmux } from "./tmux.ts";
import { Window } from "./window.ts";

const RAW = "terminal.flood.raw";
const TMUX = "terminal.flood.tmux";

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
  const { socket, token } = await holderOf(home, PROGRAM);
  const flood = new Flood("through a holder to a client");
  const wish = { token, writer: "bench", from: 0 };
  return flood.through(new HolderClient((events) => realSockets().connect(socket, events), wish, flood));
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
