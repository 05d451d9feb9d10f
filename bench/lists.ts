// scale.lists: what a command costs in a large home. `holdfast ls` with 1,000 terminals of 45 variables each, and
// `holdfast workflows --last 20` with 100,000 runs, whole commands, in milliseconds; the peer is the same with 10.
// The homes are written directly, as commands leave them: all terminals and runs are over, so that no program runs.
import { newId } from "../src/base/ids.ts";
import type { Result } from "../src/base/result.ts";
import { TerminalStore } from "../src/daemon/terminal/store.ts";
import { WorkflowStore } from "../src/daemon/workflow/store.ts";
import { EventLog } from "../src/log/event-log.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { Home } from "./home.ts";
import { inTurn, median } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";

const FEW = 10;
/** Decisions that share a commit. */
const AT_ONCE = 500;
const VARIABLES = Object.fromEntries(
  Array.from({ length: 45 }, (_, at) => [`VARIABLE_${at}`, `/a/path/of/usual/length/${at}`.padEnd(80, "x")]),
);

type Large = { readonly name: string; readonly many: number; readonly words: readonly string[]; readonly fill: Fill };
type Fill = (log: EventLog, count: number) => Promise<void>;

export async function lists(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const large: readonly Large[] = [
    { name: "scale.lists.terminals", many: bench.quick ? 50 : 1_000, words: ["ls"], fill: fillTerminals },
    {
      ...{ name: "scale.lists.runs", many: bench.quick ? 50 : 100_000, fill: fillRuns },
      words: ["workflows", "--last", "20"],
    },
  ];
  for (const one of large) if (names.includes(one.name)) emit(await compared(bench, one));
}

async function compared(bench: Bench, { name, many, words, fill }: Large): Promise<Row> {
  bench.say(`${name}: ${many} and ${FEW}`);
  const homes = await Promise.all([many, FEW].map((count) => filled(bench, `${name}-${count}`, fill, count)));
  try {
    const works = homes.map((home) => () => home.run(...words));
    const [value = 0, peerValue = 0] = (await inTurn(bench.quick ? 2 : 15, works)).map(median);
    return timeRow({ name, value, peer: `the same with ${FEW}`, peerValue });
  } finally {
    for (const home of homes) await home.end();
  }
}

async function filled(bench: Bench, name: string, fill: Fill, count: number): Promise<Home> {
  const log = await EventLog.open({ disk: realDisk(), clock: realClock(), home: makePlace(bench, name) });
  await fill(log, count);
  await log.close();
  return Home.start(bench, name);
}

const HOOKS = {
  publish: () => undefined,
  perform: () => undefined,
  onBug: (error: unknown) => {
    throw error;
  },
};

async function fillTerminals(log: EventLog, count: number): Promise<void> {
  const store = new TerminalStore(log, realClock(), HOOKS);
  const recipe = { argv: ["/bin/sh"], cwd: "/", env: VARIABLES, size: { cols: 80, rows: 24 } };
  await inParts(count, async (at) => {
    const id = freshId();
    const made = { kind: "create", id, name: `t${at}`, lane: "main", recipe, unset: [] } as const;
    must(await store.submit(made));
    must(await store.submit({ kind: "ended", id, code: 0, signal: null }));
  });
}

async function fillRuns(log: EventLog, count: number): Promise<void> {
  const store = new WorkflowStore(log, realClock(), HOOKS);
  const steps = [{ id: "a", work: { kind: "set", values: { x: "1" } } }] as const;
  const place = { path: "/flow.yml", repo: "r", cwd: "/", worktree: undefined, environment: {} };
  await inParts(count, async (at) => {
    const definition = { name: `flow-${at % 100}`, flow: { mode: "standard", steps } } as const;
    const made = { kind: "create", id: freshId(), ...place, definition, sourceSha256: "0", parameters: {} } as const;
    must(await store.submit(made));
  });
}

async function inParts(count: number, make: (at: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const part = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => from + at);
    await Promise.all(part.map(make));
  }
}

function must(result: Result<unknown>): void {
  if (!result.ok) throw new Error(result.error.message);
}

function freshId(): string {
  return newId(crypto.getRandomValues(new Uint8Array(16)));
}
