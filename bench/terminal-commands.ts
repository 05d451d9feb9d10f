// What people wait for, with 25 sessions present on either side: wall time of whole commands, typed in a window as
// people do (a command that finds a terminal behind its output has more to ask than one behind a pipe), one of ours and
// one of tmux's in turn.
// terminal.new.tmux: `holdfast new -d NAME -- sleep` until it returns; ours is then durable and its holder has
// answered.
// terminal.ls.tmux: `holdfast ls`.
// terminal.attach.tmux: `holdfast attach` in a window, from its start until the program's earlier output is painted.
// That peer is a client written in C that asks one server; ours starts a Bun each time, and every terminal has its own
// process.
// terminal.new, terminal.ls, terminal.attach: the same commands, against an empty script under the same Bun.
// Not measured: a cold page cache, long tapes, programs that draw during an attach.
import { EMPTY, emptyScript, Home } from "./home.ts";
import { inTurn, median, percentile } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { Tmux } from "./tmux.ts";
import { Window } from "./window.ts";

const SESSIONS = 25;
const MARK = "@painted@";
const PROGRAM = ["sh", "-c", `echo ${MARK}; exec cat`] as const;
const IDLE = ["sleep", "100000"] as const;

type Program = { readonly words: readonly string[]; readonly env: Readonly<Record<string, string>> };
/** How long our command takes, and what it is compared with. */
type Pair = { readonly ours: () => Promise<number>; readonly theirs: () => Promise<number>; readonly peer: string };

export async function terminalCommands(
  names: readonly string[],
  bench: Bench,
  emit: (row: Row) => void,
): Promise<void> {
  const wanted = names.filter((name) => name.endsWith(".tmux"));
  const tmux = wanted.length === 0 ? undefined : Tmux.find(bench, wanted);
  const home = await Home.start(bench, "t");
  try {
    await home.open(SESSIONS, PROGRAM);
    if (tmux !== undefined) await openIn(tmux);
    const empty = emptyScript(makePlace(bench, "empty"));
    const all = [...besideEmpty(home, empty), ...(tmux === undefined ? [] : besideTmux(home, tmux))];
    for (const [name, pair] of all) if (names.includes(name)) emit(await compare(name, pair, bench));
  } finally {
    await tmux?.end();
    await home.end();
  }
}

async function openIn(tmux: Tmux): Promise<void> {
  for (let made = 0; made < SESSIONS; made += 1) await tmux.run("new", "-d", "-s", `t${made}`, ...PROGRAM);
}

const OURS: Readonly<Record<string, (home: Home) => Promise<number>>> = {
  new: newOurs,
  ls: (home) => typedMs(home, "ls"),
  attach: (home) => attachMs(home, "attach", "t7"),
};

function besideEmpty(home: Home, empty: Program): [string, Pair][] {
  const theirs = () => typedMs(empty);
  return Object.entries(OURS).map(([what, ours]) => {
    return [`terminal.${what}`, { ours: () => ours(home), theirs, peer: EMPTY }];
  });
}

function besideTmux(home: Home, tmux: Tmux): [string, Pair][] {
  const theirs: typeof OURS = {
    new: () => newTmux(tmux),
    ls: () => typedMs(tmux, "ls"),
    attach: () => attachMs(tmux, "attach", "-t", "t7"),
  };
  return Object.entries(OURS).map(([what, ours]) => {
    const pair = { ours: () => ours(home), theirs: () => theirs[what]?.(home) ?? Promise.resolve(Number.NaN) };
    return [`terminal.${what}.tmux`, { ...pair, peer: `tmux, ${SESSIONS} sessions` }];
  });
}

async function compare(name: string, { ours, theirs: other, peer }: Pair, bench: Bench): Promise<Row> {
  const rounds = bench.quick ? 2 : 31;
  bench.say(`${name}: ${rounds} of each`);
  const [mine = [], theirs = []] = await inTurn(rounds, [ours, other]);
  bench.say(`  p95: ${percentile(mine, 0.95).toFixed(1)} ms, peer ${percentile(theirs, 0.95).toFixed(1)} ms`);
  return timeRow({ name, value: median(mine), peer, peerValue: median(theirs) });
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
