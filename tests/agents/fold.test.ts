// Agents are read from the log in slices (EL-5): whoever asks meanwhile is answered, and what an earlier try left does no harm.
import { expect, test } from "bun:test";
import { PLAIN_HOUSE } from "../../src/core/agent/draft.ts";
import { AgentCheckpoints } from "../../src/daemon/agents/checkpoints.ts";
import { type AgentHandlerPorts, agentHandlers } from "../../src/daemon/agents/handlers.ts";
import type { Read } from "../../src/daemon/agents/part.ts";
import { AgentTurn } from "../../src/daemon/agents/turn.ts";
import { foldAgents, type Reading } from "../../src/daemon/fold.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { Clock } from "../../src/world/clock.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";

const IDS = ["a", "b", "c"].map((letter) => letter.repeat(32));
const RECIPE = { provider: "openai", model: "m", command: [], flags: [], permissionMode: null, options: {} } as const;
const PLAN = { recipe: RECIPE, system_prompt: "", cwd: "/", environment: {}, workspace: null };

function broken(error: unknown): never {
  throw error;
}

async function life(disk: SimDisk) {
  const place = { disk, clock: new SimClock(), home: "/h" };
  const log = await EventLog.open(place, { segmentBytes: 64 << 10, ballastBytes: 0 });
  const nothing = () => undefined;
  const turn = new AgentTurn(log, place.clock, () => PLAIN_HOUSE, { publish: nothing, perform: nothing, broken });
  const checkpoints = new AgentCheckpoints(place, { isOff: () => false, say: nothing, broken });
  return { log, turn, checkpoints };
}

/** Three bare models that have had a turn each. */
async function lived(): Promise<SimDisk> {
  const disk = new SimDisk();
  const { log, turn } = await life(disk);
  for (const id of IDS) {
    const wish = { id, name: id.slice(0, 4), parent: undefined, instructions: "", plan: PLAN, settings: {} };
    await turn.submit({ kind: "create", ...wish });
    await turn.submit({ kind: "send", id, message: id, payload: "hello", replyTo: undefined });
    await turn.submit({ kind: "read", id, generation: 0, offset: 1, events: [{ kind: "done", response: "hi" }] });
  }
  await log.close();
  return disk;
}

/** Each look at it is a slice later. */
function hurried(turns: () => void): Clock {
  const clock = new SimClock();
  const elapsed = () => {
    clock.advance(100);
    return clock.elapsed();
  };
  const soon = (fn: () => void) => {
    turns();
    clock.soon(fn);
  };
  return { now: () => clock.now(), elapsed, after: (ms, fn) => clock.after(ms, fn), soon };
}

test("EL-5 agents are folded in slices: others have a turn in the middle of a log, and hear how far it is", async () => {
  const { log, turn, checkpoints } = await life(await lived());
  const heard: Reading[] = [];
  let turns = 0;
  const clock = hurried(() => {
    turns += 1;
  });
  expect(await foldAgents(log, turn, { checkpoints, clock, progressed: (so) => heard.push(so) })).toEqual([]);
  expect([...turn.agents()].map(({ turns: had }) => had)).toEqual([1, 1, 1]);
  expect(turns).toBe(heard.length);
  for (const done of [0, 1, 2]) expect(heard.filter((so) => so.done === done).length).toBeGreaterThan(3);
  expect(heard.every(({ total }) => total === 3)).toBe(true);
  await log.close();
});

test("RS-5 what a reading that was broken off left of an agent is forgotten when it is read again", async () => {
  const { log, turn, checkpoints } = await life(await lived());
  const clock = new SimClock();
  const progressed = () => undefined;
  await foldAgents(log, turn, { checkpoints, clock, progressed });
  const once = structuredClone([...turn.states]);
  await foldAgents(log, turn, { checkpoints, clock, progressed });
  expect(structuredClone([...turn.states])).toEqual(once);
  expect(turn.tree.agents).toBe(3);
  await log.close();
});

test("AG-2 until all agents are read nobody is shown a part of them", async () => {
  const { log, turn } = await life(await lived());
  let read: Read = { kind: "reading", done: 1, total: 3 };
  const parts = () => ({ turn, read });
  const handlers = agentHandlers({ parts } as unknown as AgentHandlerPorts);
  const looks = ["agent.list", "agent.show", "agent.inbox", "prompt.list", "rule.list"];
  for (const look of looks)
    expect(await handlers[look]?.({ id: IDS[0] })).toMatchObject({ ok: false, error: { code: "not-live" } });
  read = { kind: "read" };
  expect(await handlers["agent.list"]?.({})).toEqual({ ok: true, value: [] });
  expect(await handlers["agent.show"]?.({ id: IDS[0] })).toMatchObject({ ok: false, error: { code: "unknown" } });
  await log.close();
});
