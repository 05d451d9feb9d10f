// The archive of agents that were terminated: what is found of them, what must not be created again, and a crash at
// every call.
import { expect, test } from "bun:test";
import type { Agent } from "../../src/core/agent/agent.ts";
import { derivedId } from "../../src/core/agent/derive.ts";
import { Callers } from "../../src/home/callers.ts";
import { diskUsage } from "../../src/home/disk-usage.ts";
import { HOME_ID, homeId } from "../../src/home/held/home-id.ts";
import { LogView } from "../../src/log/inspect.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { nothing } from "../sim/survive.ts";
import { DAY, HOME, KID, LAST, LIMIT_MS, Life, OTHER, ROOT } from "./archive-life.ts";
import { CHILD, planFor } from "./house.ts";

/** A root with a child; both were terminated and are archived. Another one lives. */
async function archived(): Promise<Life> {
  const life = await Life.begin(new SimDisk());
  await life.create(OTHER);
  await life.create(ROOT);
  await life.create(KID, ROOT);
  await life.terminate(ROOT);
  await life.round();
  expect(life.names()).toEqual([`_${ROOT}`, `_${KID}`, OTHER]);
  return life;
}

test("AA1 an agent is archived alone, when it and all below it have ended; its parent may still work", async () => {
  const life = await Life.begin(new SimDisk());
  for (const [id, parent] of [[OTHER], [ROOT], [KID, ROOT], [LAST, KID]] as const) await life.create(id ?? "", parent);
  await life.round();
  expect(life.names()).toEqual([ROOT, KID, LAST, OTHER]);
  await life.terminate(LAST);
  await life.round();
  expect(life.names()).toEqual([`_${LAST}`, ROOT, KID, OTHER]);
  expect([...life.store.states.keys()].sort()).toEqual([ROOT, KID, OTHER]);
  await life.submit({ kind: "send", id: ROOT, message: derivedId("1"), payload: "x", replyTo: undefined });
  await life.submit({ kind: "started", id: ROOT, generation: 1, child: CHILD, holder: 8 });
  await life.terminate(ROOT); // Its process is still running; that of its child, which was to hear of an end, is not.
  await life.submit({ kind: "ended", id: KID, generation: 1, code: 0, signal: null });
  await life.round();
  expect(life.names()).toEqual([`_${KID}`, `_${LAST}`, ROOT, OTHER]);
  await life.submit({ kind: "ended", id: ROOT, generation: 1, code: 0, signal: null });
  await life.round();
  expect(life.names()).toEqual([`_${ROOT}`, `_${KID}`, `_${LAST}`, OTHER]);
  await life.log.close();
});

test("AR1 an agent stays while its record or its checkpoint is still to be written", async () => {
  const life = await Life.begin(new SimDisk());
  for (const id of [OTHER, ROOT, KID]) await life.create(id);
  const round = async () => {
    await life.drainLog();
    await life.archive.round();
    return life.names();
  };
  life.isOff = true;
  await life.terminate(KID);
  while (!life.records.isQuiet(KID)) await Promise.resolve();
  expect(await round()).toEqual([ROOT, KID, OTHER]);
  life.isOff = false;
  await life.checkpoints.finish();
  expect(await round()).toEqual([`_${KID}`, ROOT, OTHER]);
  life.records.hold();
  await life.terminate(ROOT);
  await life.checkpoints.finish();
  expect(await round()).toEqual([`_${KID}`, ROOT, OTHER]);
  life.records.release();
  await life.drain();
  expect(await round()).toEqual([`_${ROOT}`, `_${KID}`, OTHER]);
  expect(Buffer.from(life.world.disk.peek(`${HOME}/agents/_${ROOT}/session.json`) ?? []).toString()).toContain(
    '"state":"TERMINATED"',
  );
  const opened = new Set<string>();
  life.world.disk.onCall = ({ path }) => void opened.add(path);
  expect(await life.ask("agent.show", { id: ROOT })).toMatchObject({ ok: true });
  expect(opened).toContain(`${HOME}/agents/_${ROOT}/checkpoint.json`); // It is not folded from its beginning.
  await life.log.close();
});

test("AA2 an archived agent is shown by its id and refuses what is asked of it, as any that was terminated", async () => {
  const life = await archived();
  const shown = { id: ROOT, name: "aaaa", state: "terminated", note: "enough" };
  for (const method of ["agent.show", "agent.find"])
    expect(await life.ask(method, { id: ROOT, key: ROOT })).toMatchObject({ ok: true, value: shown });
  expect(await life.ask("agent.inbox", { id: ROOT })).toEqual({ ok: true, value: [] });
  expect(await life.ask("agent.find", { key: "aaaa" })).toMatchObject({ ok: false, error: { code: "unknown" } });
  expect(await life.ask("agent.list", {})).toMatchObject({ ok: true, value: [{ id: OTHER }] });
  expect(life.store.states.has(ROOT)).toBe(false); // All of that only looked.
  const message = { id: ROOT, message: derivedId("2"), text: "x" };
  for (const method of ["agent.send", "agent.retry", "agent.suspend"])
    expect(await life.ask(method, message)).toMatchObject({ ok: false, error: { code: "terminated" } });
  expect(await life.ask("agent.terminate", { id: ROOT, reason: "" })).toMatchObject({ ok: true, value: shown });
  await life.round();
  expect(life.names()).toEqual([`_${ROOT}`, `_${KID}`, OTHER]);
  expect(await life.ask("agent.show", { id: derivedId("4") })).toMatchObject({ error: { code: "unknown" } });
  const [usage] = diskUsage(life.world.disk, HOME).filter(({ kind }) => kind.startsWith("archive"));
  expect(usage?.files).toBeGreaterThan(6);
  await life.log.close();
});

test("AA2 the id of an archived agent stays taken, for a person, a step and a tool; its name is free", async () => {
  const life = await archived();
  const wish = { name: "new", parent: undefined, instructions: "", plan: planFor("scripted"), settings: {} };
  expect(await life.store.submit({ kind: "create", id: ROOT, ...wish })).toMatchObject({ error: { code: "id-taken" } });
  const spawn = { kind: "call", id: OTHER, tool: "spawn_agent", args: { name: "kid", instructions: "" } } as const;
  await life.submit({ ...spawn, call: "one" });
  const [kid = ""] = life.store.tree.childrenOf(OTHER);
  await life.terminate(kid);
  await life.round();
  expect(life.names()).toContain(`_${kid}`);
  const other = life.store.agent(OTHER) as Agent;
  life.store.put(OTHER, { ...other, calls: [] }); // As after many others.
  await life.submit({ ...spawn, call: "one" });
  expect(life.store.agent(OTHER)?.calls).toMatchObject([
    { ok: false, result: { error: `There is already an agent ${kid}.` } },
  ]);
  await life.create(LAST, undefined, "aaaa");
  expect(await life.ask("agent.find", { key: "aaaa" })).toMatchObject({ ok: true, value: { id: LAST } });
  await life.log.close();
});

test("AA3 a repeated answer to a prompt of an archived agent finds it, another is refused with the reason", async () => {
  const life = await Life.begin(new SimDisk());
  await life.create(OTHER);
  await life.create(ROOT);
  await life.submit({ kind: "send", id: ROOT, message: derivedId("1"), payload: "x", replyTo: undefined });
  await life.submit({ kind: "started", id: ROOT, generation: 1, child: CHILD, holder: 8 });
  const ask = { kind: "ask", request: "r1", tool: "Bash", input: {} } as const;
  await life.submit({ kind: "read", id: ROOT, generation: 1, offset: 1, events: [ask] });
  const [prompt = ""] = life.store.tree.openPrompts;
  const answer = { prompt, answer: derivedId("1"), decision: "allow" };
  expect(await life.ask("prompt.answer", answer)).toMatchObject({ ok: true });
  const rule = { rule_id: "mine", decision: "allow", tool: "Bash", args: {}, message: "" };
  expect(await life.ask("rule.add", { agent: ROOT, rule })).toMatchObject({ ok: true });
  const lists = async () => [await life.ask("prompt.list", { closed: true }), await life.ask("rule.list", {})];
  expect(await lists()).toMatchObject([{ value: [{ id: prompt }] }, { value: [{ agent: ROOT, rule }] }]);
  await life.submit({ kind: "taken", id: ROOT, generation: 1, through: 9, pieces: 9 });
  await life.terminate(ROOT);
  await life.submit({ kind: "ended", id: ROOT, generation: 1, code: 0, signal: null });
  await life.round();
  expect(life.names()).toEqual([`_${ROOT}`, OTHER]);
  expect(await lists()).toMatchObject([{ value: [] }, { value: [] }]);
  expect(await life.ask("prompt.answer", answer)).toMatchObject({ ok: true, value: { id: prompt, agent: ROOT } });
  const another = { ...answer, answer: derivedId("2") };
  expect(await life.ask("prompt.answer", another)).toMatchObject({ error: { code: "terminated" } });
  const unknown = { ...answer, prompt: derivedId("3") };
  expect(await life.ask("prompt.answer", unknown)).toMatchObject({ error: { code: "unknown" } });
  await life.log.close();
});

/** How many calls of the disk each of these takes, with so many archived agents. */
async function costs(count: number): Promise<Record<string, number>> {
  const life = await Life.begin(new SimDisk());
  await life.create(OTHER);
  const ids = Array.from({ length: count }, (_, at) => derivedId("agent", `${at}`));
  await Promise.all(ids.map((id) => life.create(id, undefined, id)));
  await Promise.all(ids.map((id) => life.terminate(id)));
  await life.round();
  expect([...life.store.states.keys()]).toEqual([OTHER]);
  const { disk } = life.world;
  let calls = 0;
  disk.onCall = ({ path }) => {
    if (!path.includes("/wal")) calls += 1; // How much is in the write-ahead log depends on what was done last.
  };
  const taken = async (work: () => Promise<unknown>) => {
    const before = calls;
    await work();
    return calls - before;
  };
  const [id] = ids;
  const list = await taken(async () => expect(await life.ask("agent.list", {})).toMatchObject({ value: [{}] }));
  const show = await taken(async () => expect(await life.ask("agent.show", { id })).toMatchObject({ ok: true }));
  const back = await taken(async () => void (await life.ask("agent.terminate", { id, reason: "" })));
  await life.drain();
  life.world.clock.advance(1000);
  const again = await taken(() => life.archive.round());
  expect([...life.store.states.keys()]).toEqual([OTHER]);
  await life.log.close();
  const start = await taken(() => Life.begin(disk));
  return { list, show, back, again, start };
}

test(
  "AR5 neither a list, nor a start, nor one that comes back costs more, however many agents are archived",
  async () => {
    expect(await costs(90)).toEqual(await costs(3));
  },
  LIMIT_MS,
);

test("what is left running of an archived agent is still an agent's, not the operator's", async () => {
  const life = await archived();
  const kin = { pid: 9, parent: 1, startTime: 90, tty: null, argv: ["x"] };
  const processes = {
    ...{ pid: 9, parent: () => 1, bootId: () => "boot", executable: () => null },
    kin: (pid: number) => (pid === 9 ? kin : undefined),
    variable: (_: number, name: string) => (name === HOME_ID ? homeId(life.world.disk, HOME) : `${ROOT}.1`),
  };
  const callers = new Callers({ ...life.world, processes: processes as never }, HOME);
  expect([callers.hasAgents, callers.self()]).toMatchObject([true, { principal: "agent", agent: ROOT }]);
  await life.log.close();
});

test("an archived agent is removed after agent_days with its sockets, unless its clone holds work", async () => {
  const life = await archived();
  for (const name of ["processes/1/exit.json", "mine.txt"])
    life.world.disk.plant(`${HOME}/agents/_${KID}/${name}`, Buffer.from("x"));
  life.world.disk.plant(`${HOME}/run/a${ROOT.slice(0, 12)}-1.sock`, Buffer.from(""));
  expect((await life.collect()).items).toEqual([]);
  life.world.clock.jump(31 * DAY);
  life.clone = { what: "its clone", look: async () => ({ kept: "fetch it" }), remove: async () => "not asked for" };
  expect(await life.collect()).toMatchObject({ items: [], kept: ["fetch it", "fetch it"] });
  life.clone = undefined;
  const { items, failed } = await life.collect();
  expect([items.length, failed]).toEqual([2, []]);
  expect(life.names()).toEqual([`_${KID}`, OTHER]);
  expect(life.world.disk.list(`${HOME}/agents/_${KID}`)).toEqual(["mine.txt"]); // Files that are not ours stay.
  expect(life.world.disk.list(`${HOME}/run`)).toEqual([]);
  expect(await life.ask("agent.show", { id: ROOT })).toMatchObject({ error: { code: "unknown" } });
  expect((await life.collect()).items).toEqual([]);
  await life.create(ROOT); // The id is free again.
  await life.log.close();
});

test(
  "a crash at every call: each agent is alive or archived, never both, never gone, and has ended if that was said",
  async () => {
    const first = await Life.begin(new SimDisk());
    await first.create(OTHER);
    await first.create(ROOT);
    await first.create(KID, ROOT);
    await first.terminate(KID);
    await first.drain();
    await first.log.close();
    let checks = 0;
    const survived = await everyCrash<Record<string, boolean>>({
      start: first.world.disk.processKill(),
      nothingPromised: first.all(),
      takesLong: true,
      randomEndings: 6,
      live: async (disk, promised) => {
        const life = await Life.begin(disk);
        await life.round();
        expect(life.names()).toEqual([`_${KID}`, ROOT, OTHER]);
        promised(life.all());
        await life.terminate(ROOT);
        await life.submit({ kind: "ended", id: ROOT, generation: 1, code: 0, signal: null });
        await life.ask("agent.terminate", { id: KID, reason: "" });
        promised(life.all());
        await life.round();
        expect(life.names()).toEqual([`_${ROOT}`, `_${KID}`, OTHER]);
        promised(life.all());
        await life.log.close();
      },
      check: async (disk, promised) => {
        const life = await Life.begin(disk);
        const now = life.all();
        for (const [id, ended] of Object.entries(promised))
          expect([id, now[id] === ended || now[id]]).toEqual([id, true]);
        const damage = new LogView(disk, HOME).inspect().findings.filter(({ kind }) => kind === "damage");
        expect(damage).toEqual([]);
        checks += 1;
        if (checks % 2 === 0) await life.round();
        const wish = { name: "new", parent: undefined, instructions: "", plan: planFor("scripted"), settings: {} };
        for (const id of Object.keys(promised))
          expect(await life.store.submit({ kind: "create", id, ...wish })).toMatchObject({ ok: false });
        expect(await life.ask("agent.terminate", { id: ROOT, reason: "" })).toMatchObject({ ok: true });
        await life.create(LAST, undefined, "bbbb");
        const then = life.all();
        await life.log.close();
        const next = await Life.begin(disk.powerCut(nothing));
        expect(next.all()).toEqual(then);
        await next.log.close();
      },
    });
    expect(survived).toBeGreaterThan(100);
  },
  LIMIT_MS,
);

test(
  "a crash or power cut at any call of garbage collection leaves an archived agent whole, or less of it that the next round removes",
  async () => {
    const first = await archived();
    await first.log.close();
    await everyCrash<null>({
      start: first.world.disk.processKill(),
      nothingPromised: null,
      takesLong: true,
      live: async (disk) => {
        const life = await Life.begin(disk);
        life.world.clock.jump(400 * DAY);
        expect((await life.collect()).items).toHaveLength(2);
        await life.log.close();
      },
      check: async (disk) => {
        const life = await Life.begin(disk);
        life.all();
        life.world.clock.jump(400 * DAY);
        expect((await life.collect()).failed).toEqual([]);
        expect(life.names().filter((name) => name !== "rules")).toEqual([OTHER]);
        await life.create(ROOT);
        await life.log.close();
      },
    });
  },
  LIMIT_MS,
);
