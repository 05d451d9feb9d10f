// Agents in trouble on the simulated machine with the whole daemon (SP-1, SP-2, CB-1): programs that hang or reach
// their usage limit, models that fail, and a full disk; each also with the daemon dying, and the machine going down, in
// the middle.
import { afterAll, expect, test } from "bun:test";
import { amount, PROFILE, sampleOf } from "../sim/fuzz/profile.ts";
import { AGENT } from "../sim/holdfast/machine.ts";
import { type Blow, idOf, type Lived, type LivedAgents, type Provider, type Script } from "../sim/holdfast/script.ts";
import { Site } from "../sim/holdfast/site.ts";
import { Teller } from "../sim/holdfast/teller.ts";
import { everything, nothing } from "../sim/survive.ts";
import { STORY } from "./sim-stories.ts";

const ID = idOf(1);
/** In the gate only at some calls; the crash fuzzer covers the others. */
const STEP = amount(200, 3);
/** The first of them: different for each commit. */
const FIRST = PROFILE.seed % STEP;

const teller = new Teller("sweep-main.ts");
afterAll(() => teller.close());

type LivedHere = Lived & { readonly agents: LivedAgents; readonly log: LivedAgents["logs"][string] };

async function live(script: Script): Promise<LivedHere> {
  const { agents, ...lived } = await teller.live(script);
  if (agents === undefined) throw new Error("there are no agents");
  return { ...lived, agents, log: agents.logs[ID] ?? [] };
}

function one(provider: Provider, lines: readonly string[]): Script {
  return [{ kind: "agent", id: ID, provider, instructions: lines.map((line) => `>> ${line}`).join("\n") }];
}

/** Undisturbed, then with each kind of crash at regular intervals; in the gate with one kind at each. */
async function everywhere(script: Script, check: (lived: LivedHere) => void): Promise<LivedHere> {
  const calm = await live(script);
  check(calm);
  for (let after = FIRST; after < calm.moments.length; after += STEP) {
    const power = { kind: "power", after } as const;
    const blows: readonly Blow[] = [
      { kind: "daemon", after },
      { ...power, keep: "nothing" },
      { ...power, keep: "everything" },
    ];
    for (const blow of sampleOf(blows, blows.length, after)) {
      const lived = await live([...script, blow]);
      expect([blow, lived.notes, lived.agents.ends]).toEqual([blow, calm.notes, calm.agents.ends]);
      check(lived);
    }
  }
  return calm;
}

test("SP-1(c) a hung program is killed, with SIGKILL if necessary, and the next one continues, with a crash at sampled calls", async () => {
  const script = one("actor", ["note one", "hang hard", "note two", "hang softly", "note three"]);
  const { log } = await everywhere(script, ({ notes }) => expect(notes).toEqual(["one", "three", "two"]));
  const stops = log.filter(({ event }) => event === "process.stopping").map(({ data }) => data["signal"]);
  expect(stops).toEqual(["SIGTERM", "SIGKILL", "SIGTERM"]);
}, 600_000);

test.each([
  ["dies before it does anything", "never"],
  ["takes longer than usual", 10_500],
  ["takes very long", 45_000],
] as const)(
  "SP-2(b) a holder that %s is waited for, or replaced: the work is done once, without a person, with a crash at sampled calls",
  async (_, ms) => {
    const script: Script = [{ kind: "slow", ms }, ...one("actor", ["note one"])];
    const { log, tookMs } = await everywhere(script, ({ notes }) => expect(notes).toEqual(["one"]));
    expect(tookMs).toBeGreaterThan(ms === "never" ? 0 : 10_000);
    expect(log.filter(({ event }) => event === "agent.crashed")).toEqual([]);
  },
  600_000,
);

test("an agent at its usage limit sleeps until it ends, with a crash at sampled calls", async () => {
  await everywhere(one("actor", ["note one", "limit 100", "note two"]), ({ log, agents: { noted, isHarmed } }) => {
    const slept = log.find(({ event }) => event === "agent.sleeping");
    if (slept !== undefined) expect(noted[1]).toBeGreaterThanOrEqual(Date.parse(String(slept.data["until"])));
    else expect(isHarmed).toBe(true); // The machine went down with its output.
  });
}, 600_000);

test("AG-6(b) a model that fails is asked again at the time it names, with a crash at sampled calls", async () => {
  const lines = ["fail 429 7", "fail 500 a", "fail cut", "fail stall", "call list_children {}"];
  await everywhere(one("model", lines), ({ agents: { ends, asked } }) => {
    expect(JSON.stringify(ends)).toContain("I did 1.");
    expect(asked.length).toBeGreaterThan(5);
  });
}, 600_000);

test("CB-1(b,d) after five failures in a row a model is not called for a while, and its agents lose nothing", async () => {
  const lines = ["a", "b", "c", "d", "e", "f", "g"].map((name) => `fail 500 ${name}`);
  const { agents, log } = await live(one("model", [...lines, "call list_children {}"]));
  expect(log.some(({ data }) => String(data["reason"]).includes("it failed too often"))).toBe(true);
  expect(JSON.stringify(agents.ends)).toMatch(/I did [1-9]/);
  expect(agents.asked.length).toBeGreaterThan(7);
});

test("W4 a full disk loses nothing that was acknowledged, and everything continues when there is room", async () => {
  const calm = await live(STORY);
  let faults = 0;
  for (let after = 20 + FIRST; after < calm.moments.length; after += 2 * STEP) {
    for (const room of sampleOf([0, 700, 5000], 3, after)) {
      const blow = { kind: "full", after, room, ms: 20_000 } as const;
      const lived = await live([...STORY, blow]);
      expect([blow, lived.notes, lived.agents.ends]).toEqual([blow, calm.notes, calm.agents.ends]);
      faults += lived.faults;
    }
  }
  expect(faults).toBeGreaterThan(0);
}, 600_000);

test.each(["nothing", "everything"] as const)(
  "a power cut while a prompt is open, of which %s that was not synced is left: the report offers no answer to it, and what it offers works",
  async (left) => {
    const site = new Site();
    await site.live();
    const plain = { parent: null, provider: "scripted", model: null, systemPrompt: "", env: {}, flags: [] };
    const wish = { ...plain, permissionMode: null, cwd: "/u", command: [AGENT], instructions: ">> ask Bash ls" };
    await site.ask("agent.new", { ...wish, id: ID, name: "auto", settings: { recovery_prompt: ">> ask Bash ls" } });
    const asks = idOf(2);
    await site.ask("agent.new", { ...wish, id: asks, name: "asks", settings: { recovery: "ask" } });
    for (const id of [ID, asks]) await site.is(id, "waiting", 1);
    const before = await site.ask("prompt.list", {});
    site.machine.powerCut(left === "nothing" ? nothing : everything);
    await site.again();
    const report = await site.ask("recovery.report", { name: null });
    const next = report?.items.map((item) => [item.id, item.next]);
    expect(next).toEqual([
      [ID, "holdfast agent tree"],
      [asks, `holdfast agent retry ${asks.slice(0, 8)}`],
    ]);
    await site.ask("agent.retry", { id: asks });
    await site.is(ID, "waiting", 1);
    const after = await site.ask("prompt.list", {});
    const open = after.filter(({ state }) => state === "open");
    const same = before.filter(({ agent }) => agent === ID); // It asks the same (decision 0063).
    expect(open.map(({ id }) => id)).toEqual(same.map(({ id }) => id));
  },
);
