// Agents in trouble on the simulated machine (SP-1, SP-2, CB-1): programs that hang or reach their usage limit, models
// that fail, and a full disk; each also with the daemon dying, and the machine going down, in the middle.
import { expect, test } from "bun:test";
import { amount, PROFILE } from "../sim/fuzz/profile.ts";
import { everything, nothing } from "../sim/survive.ts";
import { AgentSimulation, creation, type SimCrash } from "./sim-drive.ts";
import { logsOf } from "./sim-oracle.ts";
import { story } from "./sim-stories.ts";

const ID = "a".repeat(32);
/** In the gate only at some calls; the crash fuzzer covers the others. */
const STEP = amount(110, 3);
/** The first of them: different for each commit. */
const FIRST = PROFILE.seed % STEP;

async function live(provider: "scripted" | "openai", lines: readonly string[], ...crashes: readonly SimCrash[]) {
  const simulation = new AgentSimulation();
  simulation.wish(creation(ID, provider, lines.map((line) => `>> ${line}`).join("\n")));
  for (const crash of crashes) await simulation.crash(crash);
  return { end: await simulation.finish(), simulation, log: logsOf(simulation.machine.disk).get(ID) ?? [] };
}

/** Undisturbed, then with each kind of crash at regular intervals. */
async function everywhere(
  provider: "scripted" | "openai",
  lines: readonly string[],
  check: (lived: Awaited<ReturnType<typeof live>>) => void,
): Promise<void> {
  const calm = await live(provider, lines);
  check(calm);
  for (let at = FIRST; at < calm.simulation.calls; at += STEP) {
    for (const crash of [{ at }, { at, machine: nothing }, { at, machine: everything }]) {
      const lived = await live(provider, lines, crash);
      expect([at, lived.end]).toEqual([at, calm.end]);
      check(lived);
    }
  }
}

test("SP-1(c) a hung program is killed, with SIGKILL if necessary, and the next one continues, with a crash at sampled calls", async () => {
  const lines = ["note one", "hang hard", "note two", "hang softly", "note three"];
  const { log } = await live("scripted", lines);
  const stops = log.filter(({ event }) => event === "process.stopping").map(({ data }) => data["signal"]);
  expect(stops).toEqual(["SIGTERM", "SIGKILL", "SIGTERM"]);
  await everywhere("scripted", lines, ({ end }) => expect(end.notes).toEqual(["one", "three", "two"]));
}, 600_000);

test.each([
  ["dies before it does anything", Number.POSITIVE_INFINITY],
  ["takes longer than usual", 10_500],
  ["takes very long", 45_000],
] as const)(
  "SP-2(b) a holder that %s is waited for, or replaced: the work is done once, without a person, with a crash at sampled calls",
  async (_, ms) => {
    const lives = async (...crashes: readonly SimCrash[]) => {
      const simulation = new AgentSimulation();
      simulation.machine.slowHolders.push(ms);
      simulation.wish(creation(ID, "scripted", ">> note one"));
      for (const crash of crashes) await simulation.crash(crash);
      expect((await simulation.finish()).notes).toEqual(["one"]);
      return { simulation, log: logsOf(simulation.machine.disk).get(ID) ?? [] };
    };
    const { simulation, log } = await lives();
    expect(log.filter(({ event }) => event === "agent.crashed")).toEqual([]);
    for (let at = FIRST; at < simulation.calls; at += STEP) {
      await lives({ at });
      await lives({ at, machine: nothing });
    }
  },
  600_000,
);

test("an agent at its usage limit sleeps until it ends, with a crash at sampled calls", async () => {
  const lines = ["note one", "limit 100", "note two"];
  await everywhere("scripted", lines, ({ log, simulation }) => {
    const slept = log.find(({ event }) => event === "agent.sleeping");
    const [, second] = simulation.machine.agents.noted;
    if (slept !== undefined) expect(second).toBeGreaterThanOrEqual(Date.parse(String(slept.data["until"])));
    // Otherwise the machine went down with its output.
    else expect([...simulation.machine.agents.said.values()].map(({ record }) => record)).toContain("harmed");
  });
}, 600_000);

test("AG-6(b) a model that fails is asked again at the time it names, with a crash at sampled calls", async () => {
  const lines = ["fail 429 7", "fail 500 a", "fail cut", "fail stall", "call list_children {}"];
  await everywhere("openai", lines, ({ end, simulation }) => {
    expect(JSON.stringify(end.agents)).toContain("I did 1.");
    expect(simulation.machine.model.asked.length).toBeGreaterThan(5);
  });
}, 600_000);

test("CB-1(b,d) after five failures in a row a model is not called for a while, and its agents lose nothing", async () => {
  const lines = ["a", "b", "c", "d", "e", "f", "g"].map((name) => `fail 500 ${name}`);
  const { simulation, end, log } = await live("openai", [...lines, "call list_children {}"]);
  expect(log.some(({ data }) => String(data["reason"]).includes("it failed too often"))).toBe(true);
  expect(JSON.stringify(end.agents)).toMatch(/I did [1-9]/);
  expect(simulation.machine.model.asked.length).toBeGreaterThan(7);
});

test("W4 a full disk loses nothing that was acknowledged, and everything continues when there is room", async () => {
  const calm = story();
  const end = await calm.finish();
  let faults = 0;
  for (let at = 20 + FIRST; at < calm.calls; at += 2 * STEP) {
    for (const room of [0, 700, 5000]) {
      const simulation = story();
      await simulation.pass(at);
      simulation.fill(room, 20_000);
      expect([at, room, await simulation.finish()]).toEqual([at, room, end]);
      faults += simulation.machine.disk.fired.length;
    }
  }
  expect(faults).toBeGreaterThan(0);
}, 600_000);
