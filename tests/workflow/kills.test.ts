// kill -9 of a real daemon in the middle of runs of each mode, at many moments: each step's effect happens exactly
// once, the run ends by itself, and its variables are those of an undisturbed run.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { type DaemonHome, daemonHomes, type Running } from "../daemon/home.ts";
import { until } from "../until.ts";
import { checkpointOf } from "./look.ts";
import { Runs } from "./runs.ts";

const newHome = daemonHomes();
const MINUTES = 120_000;

/** The file that effects go to. */
const PARAMETER = "parameters: { to: { required: true } }";
const STEPS = 10;
/** Each appends a line, and passes on its input with an addition. */
const TEN = [
  "name: ten",
  PARAMETER,
  "steps:",
  ...Array.from({ length: STEPS }, (_, at) => [
    `  - id: s${at + 1}`,
    `    shell: echo s${at + 1} >> $\{to}; sleep 0.05; echo $\{default(x, 0)}.${at + 1}`,
    "    capture: x",
  ]).flat(),
].join("\n");

const ITERATIVE = [
  "mode: iterative",
  PARAMETER,
  "max_iterations: 5",
  "until: iteration >= 3",
  "steps:",
  "  - set: { n: '${default(n, 0) + iteration}' }",
  "  - shell: echo a${iteration} >> ${to}; sleep 0.05; echo ${n}",
  "    capture: a",
  "  - shell: echo b${iteration} >> ${to}; sleep 0.05; echo ${default(all, '')}${a}",
  "    capture: all",
].join("\n");

/** A gate that a test closes to stop time; all others are open. */
const GATE = "until [ ! -e hold ] || [ -e go ]; do sleep 0.02; done";
const MAP = [
  "mode: mapreduce",
  PARAMETER,
  "setup:",
  "  - shell: echo setup >> ${to}; sleep 0.05; seq 6 > list",
  "map:",
  "  input: list",
  "  max_parallel: 3",
  "  steps:",
  "    - shell: echo a${item} >> ${to}; sleep 0.05; echo ${item}",
  "      capture: got",
  `    - shell: echo b$\{item} >> $\{to}; [ $\{item} -lt 4 ] || { ${GATE}; }; echo $\{got}!`,
  "      capture: result",
  "reduce:",
  "  - shell: echo reduce >> ${to}; sleep 0.05; echo ${map.results} ${map.failed}",
  "    capture: all",
  "  - shell: echo last >> ${to}",
].join("\n");
const MAP_EFFECTS = ["setup", ...[1, 2, 3, 4, 5, 6].flatMap((item) => [`a${item}`, `b${item}`]), "reduce", "last"];

type Scene = { readonly home: DaemonHome; readonly runs: Runs; readonly id: string };
/** The condition to wait for before the kill. */
type Moment = { readonly name: string; fact(scene: Scene): Promise<unknown> };

const effects = (count: number): Moment => ({
  name: `after effect ${count}`,
  fact: ({ runs }) =>
    until(
      `${count} effects`,
      () => runs.lines().length >= count,
      () => runs.lines().length,
    ),
});

/** The daemon may have died before it noticed this. */
const exitOf = (attempt: number): Moment => ({
  name: `as attempt ${attempt} has ended`,
  fact: ({ runs, id }) =>
    until(
      `attempt ${attempt} ended`,
      () => runs.exit(id, attempt) !== "",
      () => runs.exit(id, attempt),
    ),
});

const claimOf = (attempt: number): Moment => ({
  name: `as attempt ${attempt} is claimed`,
  fact: ({ home, id }) =>
    until(
      `attempt ${attempt} is claimed`,
      () => {
        const [repo] = readdirSync(home.file("state"));
        return home.text(`state/${repo}/sessions/${id}/attempts/${attempt}/claim.json`) !== "";
      },
      () => readdirSync(home.file("state"), { recursive: true }),
    ),
});

const specOf = (attempt: number): Moment => ({
  name: `before the holder of attempt ${attempt} starts`,
  fact: ({ home, id }) =>
    until(
      `attempt ${attempt} is written`,
      () => {
        const [repo] = readdirSync(home.file("state"));
        return home.text(`state/${repo}/sessions/${id}/attempts/${attempt}/holder.json`) !== "";
      },
      () => readdirSync(home.file("state"), { recursive: true }),
    ),
});

const acknowledged: Moment = { name: "as the run is acknowledged", fact: async () => undefined };

type Outcome = { readonly effects: readonly string[]; readonly variables: object; readonly steps: readonly string[] };

function outcomeOf({ home, runs, id }: Scene, to: string): Outcome {
  const checkpoint = checkpointOf(home.path, id);
  return {
    effects: runs.lines(to).toSorted(),
    variables: { ...checkpoint?.variables, to: "" },
    steps: checkpoint?.completed_steps.map(({ step, outcome, iteration }) => `${step} ${iteration} ${outcome}`) ?? [],
  };
}

/** The same in the same home, without a kill. */
async function undisturbed(home: DaemonHome, text: string): Promise<Outcome> {
  const runs = new Runs(home);
  const id = await runs.begin(text, { to: "calm" });
  await runs.is(id, "done");
  return outcomeOf({ home, runs, id }, "calm");
}

/** A run through all these kills, one after the other, each in the life after the last. */
async function survives(text: string, moments: readonly Moment[]): Promise<Outcome> {
  const home = newHome();
  const runs = new Runs(home);
  let daemon: Running = await home.live();
  const id = await runs.begin(text, { to: "effects" });
  for (const moment of moments) {
    await moment.fact({ home, runs, id });
    await home.kill(daemon);
    daemon = await home.live();
  }
  await runs.is(id, "done");
  const outcome = outcomeOf({ home, runs, id }, "effects");
  expect(outcome).toEqual(await undisturbed(home, text));
  expect(new Set(outcome.effects).size).toBe(outcome.effects.length);
  return outcome;
}

test(
  "UC-8(b,c,d) kill -9 of the daemon in a run of ten steps, at ten moments: each effect happens exactly once, and the run ends by itself",
  async () => {
    const { effects: lines } = await survives(TEN, [
      acknowledged,
      specOf(2),
      claimOf(3),
      effects(4),
      exitOf(4),
      claimOf(6),
      effects(7),
      exitOf(7),
      effects(9),
      exitOf(10),
    ]);
    expect(lines.length).toBe(STEPS);
  },
  MINUTES,
);

test(
  "UC-8(b,c,d) kill -9 of the daemon in an iterative run: each iteration's effects happen exactly once",
  async () => {
    const { effects: lines } = await survives(ITERATIVE, [effects(1), exitOf(2), claimOf(3), effects(4), exitOf(6)]);
    expect(lines.length).toBe(6);
  },
  MINUTES,
);

test(
  "UC-8(b,c,d) UC-11(a) kill -9 of the daemon in a map-reduce run: in setup, with items in flight, in reduce",
  async () => {
    const moments = [effects(1), exitOf(1), effects(4), exitOf(4), effects(9), effects(14), exitOf(15)];
    const { effects: lines } = await survives(MAP, moments);
    expect(lines).toEqual(MAP_EFFECTS.toSorted());
  },
  MINUTES,
);

test(
  "UC-8(b,c,d) UC-11(a) between map and reduce: the last items end while no daemon lives, and the next one reduces all results once",
  async () => {
    const home = newHome();
    const runs = new Runs(home);
    writeFileSync(home.file("hold"), "");
    const first = await home.live();
    const id = await runs.begin(MAP, { to: "effects" });
    const held = ["b4", "b5", "b6"];
    await until(
      "the last items are in flight",
      () => held.every((line) => runs.lines().includes(line)),
      () => held,
    );
    await home.kill(first);
    writeFileSync(home.file("go"), "");
    await until(
      "they have ended",
      () => exits(home, id) === 13,
      () => exits(home, id),
    );
    expect(runs.lines()).not.toContain("reduce");
    const second = await home.live();
    await until(
      "the reduce runs",
      () => runs.lines().includes("reduce"),
      () => runs.lines(),
    );
    await home.kill(second);
    await home.live();
    await runs.is(id, "done");
    const outcome = outcomeOf({ home, runs, id }, "effects");
    expect(outcome.effects).toEqual(MAP_EFFECTS.toSorted());
    expect(outcome.variables).toEqual({ to: "", all: '["1!","2!","3!","4!","5!","6!"] 0' });
  },
  MINUTES,
);

function exits(home: DaemonHome, id: string): number {
  const [repo] = readdirSync(home.file("state"));
  const attempts = `state/${repo}/sessions/${id}/attempts`;
  return readdirSync(home.file(attempts)).filter((at) => home.text(`${attempts}/${at}/exit.json`) !== "").length;
}

test(
  "the holder that a killed daemon leaves behind takes the next step of the next daemon",
  async () => {
    const home = newHome();
    const runs = new Runs(home);
    const first = await home.live();
    const id = await runs.begin(
      "steps:\n  - shell: echo yes > begun; until [ -e go ]; do sleep 0.01; done\n  - shell: echo $$ >> effects\n",
    );
    await until(
      "the first step runs",
      () => home.text("begun") !== "",
      () => home.text("begun"),
    );
    await home.kill(first);
    writeFileSync(home.file("go"), "");
    await until(
      "its holder waits",
      () => existsSync(home.file(`run/o${runs.holder(id, 1)}.sock`)),
      () =>
        `${home.file(`run/o${runs.holder(id, 1)}.sock`)} exists: ${existsSync(home.file(`run/o${runs.holder(id, 1)}.sock`))}`,
    );
    await home.live();
    await runs.is(id, "done");
    expect(runs.holder(id, 2)).toBe(runs.holder(id, 1));
    expect(runs.lines()).toHaveLength(1);
  },
  MINUTES,
);
