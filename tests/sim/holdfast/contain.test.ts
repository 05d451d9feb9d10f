// PB2 of part.ts in the whole daemon: the codec of one agent throws. That agent is set aside, the daemon lives,
// everybody else goes on, and the next daemon tries it again.
import { afterEach, expect, spyOn, test } from "bun:test";
import type { Codec, SessionFacts } from "../../../src/core/agent/provider.ts";
import { SAFE_MODE } from "../../../src/home/layout.ts";
import { scripted } from "../../../src/wire/provider/scripted.ts";
import { HOME } from "../machine.ts";
import { idOf } from "./script.ts";
import { Site } from "./site.ts";

const [BAD, GOOD] = [idOf(1), idOf(2)];
/** How often the broken codec was called for its agent. */
let decoded = 0;
const undo: (() => void)[] = [];
afterEach(() => {
  for (const one of undo.splice(0)) one();
});

/** A bug in the codec, which only the output of one agent meets. */
function breakCodec(agent: string, half: "decode" | "encode" = "decode"): () => void {
  const { decode, encode } = scripted;
  decoded = 0;
  const fail = (facts: SessionFacts) => {
    decoded += facts.agent === agent ? 1 : 0;
    if (facts.agent === agent) throw new RangeError("Maximum call stack size exceeded.");
  };
  const broken: Pick<Codec, "decode" | "encode"> = {
    decode: (line, facts) => fail(facts) ?? decode(line, facts),
    encode: (input, facts) => fail(facts) ?? encode(input, facts),
  };
  const spy = spyOn(scripted, half).mockImplementation(broken[half]);
  undo.push(() => spy.mockRestore());
  return () => spy.mockRestore();
}

const POISON = '{"type":"text","text":"poison"}\n';

/** Each process of this agent prints a line before all others, at which the codec throws. */
function poisonOutput(site: Site, agent: string): { begun: number } {
  const processes = { begun: 0 };
  const { agents } = site.machine;
  const { decode } = scripted;
  const spy = spyOn(scripted, "decode").mockImplementation((line, facts) => {
    decoded += line === POISON.trimEnd() ? 1 : 0;
    if (line === POISON.trimEnd()) throw new RangeError("Maximum call stack size exceeded.");
    return decode(line, facts);
  });
  const start = agents.start.bind(agents);
  agents.start = (command, events, holder) => {
    const child = start(command, events, holder);
    if (command.env["HOLDFAST_TERMINAL"]?.startsWith(agent) !== true) return child;
    processes.begun += 1;
    void events.output(Buffer.from(POISON), "stdout");
    return child;
  };
  decoded = 0;
  undo.push(() => spy.mockRestore());
  return processes;
}

test("the codec of one agent throws: it is set aside with the reason, the others go on, also after a restart", async () => {
  const repair = breakCodec(BAD);
  const site = new Site();
  await site.live();
  await site.agent(BAD);
  await site.agent(GOOD);
  await site.is(GOOD, "idle", 1);
  const aside = await site.is(BAD, "crashed", 1);
  expect(aside.note).toBe("It is set aside: a bug of holdfast: Maximum call stack size exceeded.");
  expect(await site.machine.during(site.client.call("agent.retry", { id: BAD }))).toMatchObject({
    error: { code: "set-aside" },
  });
  await site.send(GOOD, 5);
  await site.is(GOOD, "idle", 2);
  await site.machine.during(site.client.sleep(60_000)); // Many rounds.
  expect([decoded, site.daemon.born.life.dead]).toEqual([1, false]);
  await site.again();
  await site.is(BAD, "crashed", 1);
  await site.send(GOOD, 3);
  await site.is(GOOD, "idle", 3);
  repair(); // An upgrade.
  await site.again();
  await site.is(BAD, "idle", 1);
  await site.send(BAD, 4);
  await site.is(BAD, "idle", 2);
});

test("an agent that was set aside can be terminated: its process ends, and it stays terminated", async () => {
  breakCodec(BAD);
  const site = new Site();
  await site.live();
  await site.agent(BAD);
  await site.agent(GOOD);
  const { pid } = await site.is(BAD, "crashed", 1);
  await site.is(GOOD, "idle", 1);
  const ended = await site.ask("agent.terminate", { id: BAD, reason: "" });
  expect(ended.state).toBe("terminated");
  const gone = async () => {
    const { processes } = site.machine.doors(site.client.me);
    while (pid !== null && processes.startTime(pid) !== undefined) await site.client.sleep(50);
  };
  expect(pid).not.toBeNull();
  await site.machine.during(gone());
  await site.again();
  expect(await site.ask("agent.show", { id: BAD })).toMatchObject({ state: "terminated", turns: 1 });
  await site.send(GOOD, 3);
  await site.is(GOOD, "idle", 2);
});

test("recovery skip: a line that the codec cannot read is named, skipped from the next start on, and kept", async () => {
  const site = new Site();
  const processes = poisonOutput(site, BAD);
  await site.live();
  await site.agent(BAD);
  await site.agent(GOOD);
  await site.is(BAD, "crashed", 1);
  await site.is(GOOD, "idle", 1);
  const bytes = { kind: "output", generation: 1, from: 0, to: POISON.length };
  const [listed, ...others] = await site.ask("recovery.aside", {});
  expect(listed).toMatchObject({ what: "agent", id: BAD, bytes, skipped: null });
  expect(others).toEqual([]);
  const skip = (id: string) => site.machine.during(site.client.call("recovery.skip", { id }));
  expect(await skip(GOOD)).toMatchObject({ error: { code: "unknown", message: `"${GOOD}" is not set aside.` } });
  expect(await site.ask("recovery.skip", { id: BAD.slice(0, 12) })).toMatchObject({ id: BAD, bytes });
  const again = await site.ask("recovery.skip", { id: BAD });
  expect(again.skipped).not.toBeNull();
  await site.again();
  await site.is(BAD, "idle", 1);
  expect(processes.begun).toBe(1); // It went on all the time.
  await site.send(BAD, 3);
  await site.is(BAD, "idle", 2);
  expect([decoded, await site.ask("recovery.aside", {})]).toEqual([1, []]);
  await site.again(); // What was read past stays read.
  await site.is(BAD, "idle", 2);
});

test.each(["decode", "encode"] as const)(
  "V4 FO7 in safe mode the codec that threw (%s) is not run again, also after a restart",
  async (half) => {
    breakCodec(BAD, half);
    const site = new Site();
    await site.live();
    await site.agent(BAD);
    await site.agent(GOOD);
    const { note } = await site.is(BAD, "crashed", 1);
    await site.is(GOOD, "idle", 1);
    expect(decoded).toBe(1);
    const mode = { v: 1, active: true, reason: "it crashed", since: "2026-01-01T00:00:00.000Z" };
    site.machine.disk.plant(`${HOME}/${SAFE_MODE}`, Buffer.from(JSON.stringify(mode)));
    await site.again();
    expect((await site.is(BAD, "crashed", 1)).note).toBe(note);
    await site.machine.during(site.client.sleep(60_000)); // Many rounds.
    expect(decoded).toBe(1);
    expect((await site.ask("recovery.aside", {})).map(({ id }) => id)).toEqual([BAD]);
    await site.is(GOOD, "idle", 1);
    await site.ask("safe-mode.exit", {});
    await site.again(); // It is tried again.
    await site.is(BAD, "crashed", 1);
    expect(decoded).toBe(2);
  },
);

test("PB2 what fails while the records of one session are written sets that session aside, and nothing else", async () => {
  const site = new Site();
  await site.live();
  const recipe = { argv: ["sh"], cwd: "/u", env: {}, cols: 80, rows: 24 };
  const open = (name: string) => site.ask("terminal.new", { name, lane: "default", ...recipe });
  const [bad, good] = [await open("bad"), await open("good")];
  site.machine.beforeCall = (operation, path) => {
    const isRecord = operation === "create" && path.includes(`${BAD}/session.json`);
    const isReport = operation === "list" && path.endsWith("/recovery/reports");
    if (isRecord || isReport || path.includes(`${bad.id}/tape`)) throw new TypeError("a bug");
  };
  await site.agent(BAD);
  await site.agent(GOOD);
  await site.is(GOOD, "idle", 1);
  await site.machine.during(site.client.sleep(60_000)); // Several checkpoints.
  const states = (await site.ask("terminal.list", {})).map(({ id, state }) => [id, state.kind]);
  expect(new Map(states.map(([id = "", kind]) => [id, kind]))).toEqual(
    new Map([
      [bad.id, "uncertain"],
      [good.id, "running"],
    ]),
  );
  expect((await site.ask("agent.show", { id: BAD })).note).toBe("It is set aside: a bug of holdfast: a bug");
  expect(site.daemon.said.filter((words) => words.includes("a bug of holdfast: a bug"))).toHaveLength(2);
  const report = await site.machine.during(site.client.call("recovery.report", { name: null }));
  expect(report).toMatchObject({ ok: false, error: { code: "bug" } });
  expect(site.daemon.said.filter((words) => words.startsWith("a request (recovery.report)"))).toHaveLength(1); // Z4
  expect(site.daemon.born.life.dead).toBe(false);
});
