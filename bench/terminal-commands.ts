// What people wait for, with 25 sessions present on either side: wall time of whole commands, typed in a window as
// people do (a command that finds a terminal behind its output has more to ask than one behind a pipe), one of ours and
// one of tmux's in turn.
// terminal.new.tmux: `holdfast new -d NAME -- sleep` until it returns; ours is then durable and its holder has
// answered.
// terminal.ls.tmux: `holdfast ls`.
// terminal.attach.tmux: `holdfast attach` in a window, from its start until the program's earlier output is painted.
// The peer is a client written in C that asks one server; ours starts a Bun each time, and every terminal has its own
// process.
// Not measured: a cold page cache, long tapes, programs that draw during an attach.
import { Home } from "./home.ts";
import { inTurn, median, percentile } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import type { Bench } from "./scratch.ts";
import { Tmux } from "./tmux.ts";
import { Window } from "./window.ts";

const SESSIONS = 25;
const MARK = "@painted@";
const PROGRAM = ["sh", "-c", `echo ${MARK}; exec cat`] as const;
const IDLE = ["sleep", "100000"] as const;

type Program = { readonly words: readonly string[]; readonly env: Readonly<Record<string, string>> };
type Pair = { readonly ours: () => Promise<number>; readonly tmux: () => Promise<number> };

export async function terminalCommands(
  names: readonly string[],
  bench: Bench,
  emit: (row: Row) => void,
): Promise<void> {
  const tmux = Tmux.find(bench, names);
  if (tmux === undefined) return;
  const home = await Home.start(bench, "t");
  try {
    await home.open(SESSIONS, PROGRAM);
    for (let made = 0; made < SESSIONS; made += 1) await tmux.run("new", "-d", "-s", `t${made}`, ...PROGRAM);
    for (const [name, pair] of pairs(home, tmux)) if (names.includes(name)) emit(await compare(name, pair, bench));
  } finally {
    await tmux.end();
    await home.end();
  }
}

function pairs(home: Home, tmux: Tmux): [string, Pair][] {
  return [
    ["terminal.new.tmux", { ours: () => newOurs(home), tmux: () => newTmux(tmux) }],
    ["terminal.ls.tmux", { ours: () => typedMs(home, "ls"), tmux: () => typedMs(tmux, "ls") }],
    [
      "terminal.attach.tmux",
      {
        ours: () => attachMs(home, "attach", "t7"),
        tmux: () => attachMs(tmux, "attach", "-t", "t7"),
      },
    ],
  ];
}

async function compare(name: string, { ours, tmux }: Pair, bench: Bench): Promise<Row> {
  const rounds = bench.quick ? 2 : 31;
  bench.say(`${name}: ${rounds} of each`);
  const [mine = [], theirs = []] = await inTurn(rounds, [ours, tmux]);
  bench.say(`  p95: ${percentile(mine, 0.95).toFixed(1)} ms, tmux ${percentile(theirs, 0.95).toFixed(1)} ms`);
  return timeRow({ name, value: median(mine), peer: `tmux, ${SESSIONS} sessions`, peerValue: median(theirs) });
}

/** It is gone again before the next one: 25 stay 25. */
async function newOurs(home: Home): Promise<number> {
  const ms = await typedMs(home, "new", "-d", "fresh", "--", ...IDLE);
  await home.run("rm", "--force", "fresh");
  return ms;
}

async function newTmux(tmux: Tmux): Promise<number> {
  const ms = await typedMs(tmux, "new", "-d", "-s", "fresh", ...IDLE);
  await tmux.run("kill-session", "-t", "fresh");
  return ms;
}

async function typedMs({ words, env }: Program, ...rest: readonly string[]): Promise<number> {
  const before = performance.now();
  const window = new Window([...words, ...rest], env);
  const code = await window.ended();
  const ms = performance.now() - before;
  if (code !== 0) throw new Error(`${[...words, ...rest].join(" ")}: exit code ${code}`);
  return ms;
}

/** Its window is closed at once: tmux does not hear a key that comes with its first screen. */
async function attachMs({ words, env }: Program, ...rest: readonly string[]): Promise<number> {
  const before = performance.now();
  const window = new Window([...words, ...rest], env);
  try {
    await window.shows(MARK);
    return performance.now() - before;
  } finally {
    await window.close();
  }
}
