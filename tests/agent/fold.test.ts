// Agents are read from the log in slices (EL-5): requests are answered meanwhile, and remains of an earlier attempt do
// no harm.
import { expect, test } from "bun:test";
import { itemsOf } from "../../src/base/vector.ts";
import { NOTHING_SAID } from "../../src/core/agent/conversation.ts";
import { AgentCheckpoints } from "../../src/daemon/agent/checkpoints.ts";
import { type AgentHandlerPorts, agentHandlers } from "../../src/daemon/agent/handlers.ts";
import { loadConversation } from "../../src/daemon/agent/load-conversation.ts";
import { AgentStore, type Agents, agentFolding } from "../../src/daemon/agent/store.ts";
import { foldSessions } from "../../src/daemon/fold.ts";
import type { Reading } from "../../src/daemon/part.ts";
import type { Hooks } from "../../src/daemon/session-store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { Clock } from "../../src/world/clock.ts";
import { liveBorder, nothingToFold, readBorder } from "../daemon/border.ts";
import { hurried, SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { AROUND } from "./house.ts";

const IDS = ["a", "b", "c"].map((letter) => letter.repeat(32));
const RECIPE = { provider: "openai", model: "m", command: [], flags: [], permissionMode: null, options: {} } as const;
const PLAN = { recipe: RECIPE, system_prompt: "", cwd: "/", environment: {}, workspace: null };

function onBug(error: unknown): never {
  throw error;
}

async function life(disk: SimDisk) {
  const place = { disk, clock: new SimClock(), home: "/h" };
  const log = await EventLog.open(place, { segmentBytes: 256 << 10, ballastBytes: 0 });
  const nothing = () => undefined;
  const checkpoints = new AgentCheckpoints(place, { isOff: () => true, say: nothing });
  const settled: Hooks<Agents>["settled"] = (events, _, ticket, after) =>
    checkpoints.heard(
      events.map(({ id }) => id),
      ticket,
      after,
    );
  const hooks = { publish: nothing, settled, perform: nothing, onBug };
  const store = new AgentStore(log, place.clock, () => AROUND, hooks);
  const border = liveBorder();
  const folded = (clock: Clock = place.clock, heard: Reading[] = []) =>
    border.foldAll(clock, foldSessions({ border, log, store }, agentFolding(checkpoints)), (so) => heard.push(so));
  return { log, store, checkpoints, clock: place.clock, border, folded };
}

async function create(store: AgentStore, id: string): Promise<void> {
  const wish = { id, name: id.slice(0, 4), parent: undefined, instructions: "", plan: PLAN, settings: {} };
  await store.submit({ kind: "create", ...wish });
}

/** A turn of a bare model: the question and the answer. */
async function talk(store: AgentStore, id: string, number: number): Promise<void> {
  const message = `${number}`.padStart(32, "0");
  await store.submit({ kind: "send", id, message, payload: `question ${number}`, replyTo: undefined });
  const events = [{ kind: "done", response: `answer ${number}` }] as const;
  await store.submit({ kind: "read", id, generation: 0, offset: number, events });
}

/** Three bare models with one turn each. */
async function lived(): Promise<SimDisk> {
  const disk = new SimDisk();
  const { log, store } = await life(disk);
  for (const id of IDS) {
    await create(store, id);
    await talk(store, id, 1);
  }
  await log.close();
  return disk;
}

const TURNS = 300;
const [TALKER] = IDS as [string];

/** A long conversation with a checkpoint before its last message; and its state then. */
async function talked() {
  const disk = new SimDisk();
  const { log, store, checkpoints } = await life(disk);
  await create(store, TALKER);
  for (let number = 1; number < TURNS; number += 1) await talk(store, TALKER, number);
  await checkpoints.finish();
  await talk(store, TALKER, TURNS);
  const was = store.agent(TALKER);
  await log.close();
  if (was === undefined) throw new Error("it is there");
  return { disk, was };
}

test("agents are folded in slices: other work runs in the middle of a log, and progress is reported", async () => {
  const { log, store, folded } = await life(await lived());
  const heard: Reading[] = [];
  let turns = 0;
  const clock = hurried(() => {
    turns += 1;
  });
  expect(await folded(clock, heard)).toEqual([]);
  expect([...store.agents()].map(({ turns: had }) => had)).toEqual([1, 1, 1]);
  expect(turns).toBe(heard.length);
  for (const done of [0, 1, 2]) expect(heard.filter((so) => so.done === done).length).toBeGreaterThan(3);
  expect(heard.every(({ total }) => total === 3)).toBe(true);
  await log.close();
});

test("an agent left by an aborted reading is forgotten when it is read again", async () => {
  const { log, store, folded } = await life(await lived());
  await folded();
  const once = structuredClone([...store.states]);
  await folded();
  expect(structuredClone([...store.states])).toEqual(once);
  expect(store.tree.agents).toBe(3);
  await log.close();
});

/** An archive with nothing in it. */
function alone(store: AgentStore) {
  return { agent: (id: string) => store.settledAgent(id) };
}

test("no agent is shown until all are read", async () => {
  const { log, store, border } = await life(await lived());
  const handlers = agentHandlers({
    border,
    store,
    archive: alone(store),
    trouble: () => undefined,
  } as unknown as AgentHandlerPorts);
  const looks = ["agent.list", "agent.show", "agent.inbox", "prompt.list", "prompt.find", "rule.list", "rule.find"];
  for (const look of looks)
    expect(await handlers[look]?.({ id: IDS[0], key: "k" })).toMatchObject({ ok: false, error: { code: "not-live" } });
  await border.foldAll(new SimClock(), nothingToFold(), () => undefined);
  expect(await handlers["agent.list"]?.({})).toEqual({ ok: true, value: [] });
  expect(await handlers["agent.show"]?.({ id: IDS[0] })).toMatchObject({ ok: false, error: { code: "unknown" } });
  await log.close();
});

test("with a checkpoint a recovery reads only it and the tail of the log, however long the history", async () => {
  const { disk, was } = await talked();
  const { log, store, folded } = await life(disk);
  let read = 0;
  disk.onCall = ({ operation, path, length }) => {
    if (operation === "read" && path.includes("agents/")) read += length;
  };
  expect(await folded()).toEqual([]);
  disk.onCall = undefined;
  const size = disk.stat(`/h/agents/${TALKER}/events.jsonl`)?.size ?? 0;
  expect(size).toBeGreaterThan(300_000);
  expect(read).toBeLessThan(60_000);
  const conversation = { ...NOTHING_SAID, earlier: 2 * TURNS, bytes: was.conversation.bytes };
  expect(store.agent(TALKER)).toEqual({ ...was, conversation });
  await log.close();
});

test("AG-6(b) the conversation before a recovery is read from the log when it is needed, and is unchanged", async () => {
  const { disk, was } = await talked();
  const { log, store, folded } = await life(disk);
  await folded();
  let turns = 0;
  const clock = hurried(() => {
    turns += 1;
    if (turns === 1) void talk(store, TALKER, TURNS + 1); // It goes on meanwhile.
  });
  expect(await loadConversation({ log, clock, store }, TALKER)).toMatchObject({ ok: true });
  const { earlier, said } = store.agent(TALKER)?.conversation ?? NOTHING_SAID;
  expect([earlier, turns > TURNS]).toEqual([0, true]);
  expect(itemsOf(said).slice(0, 2 * TURNS)).toEqual([...itemsOf(was.conversation.said)]);
  expect(itemsOf(said).slice(2 * TURNS)).toMatchObject([{ role: "user" }, { text: `answer ${TURNS + 1}` }]);
  await log.close();
});

test("AG-6(b) if part of the conversation is missing from the log, none of it is recalled", async () => {
  const { disk } = await talked();
  const file = disk.open(`/h/agents/${TALKER}/events.jsonl`, "write");
  file.write(Buffer.from("######"), 5_000);
  file.close();
  const { log, store, folded, clock: own } = await life(disk);
  expect(await folded()).toEqual([]);
  const before = store.agent(TALKER);
  expect(await loadConversation({ log, clock: own, store }, TALKER)).toMatchObject({
    error: { code: "agent.forgotten" },
  });
  expect(store.agent(TALKER)).toEqual(before as never);
  await log.close();
});

test("AH4 agents are shown only as far as they are durable: a decision appears in no answer before its sync completes", async () => {
  const disk = new SimDisk();
  const { log, store, clock } = await life(disk);
  const [first = "", second = ""] = IDS;
  // Makes the next syncs take long.
  disk.onCall = ({ operation }) => void (operation === "datasyncBlocking" && clock.advance(50));
  await create(store, first);
  const handlers = agentHandlers({
    agentConfig: { rules: [] },
    border: await readBorder(),
    store,
    archive: alone(store),
    trouble: () => undefined,
  } as unknown as AgentHandlerPorts);
  const shown = async () => [
    await handlers["agent.list"]?.({}),
    await handlers["agent.inbox"]?.({ id: first }),
    await handlers["rule.list"]?.({}),
    (await handlers["agent.show"]?.({ id: second }))?.ok,
  ];
  const before = structuredClone(await shown());
  const sync = Promise.withResolvers<void>();
  disk.gate = () => sync.promise;
  const rule = { rule_id: "r", decision: "allow", tool: "Bash", args: {}, message: "" };
  const message = "1".padStart(32, "0");
  const changes = [
    create(store, second),
    store.submit({ kind: "send", id: first, message, payload: "hello", replyTo: undefined }),
    store.submit({ kind: "rule-add", id: first, rule }),
  ];
  await clock.settle();
  expect(store.agent(second)?.id).toBe(second);
  expect(await shown()).toEqual(before);
  sync.resolve();
  await Promise.all(changes);
  const [agents, inbox, rules, there] = await shown();
  expect(agents).toMatchObject({ value: [{ id: first }, { id: second }] });
  expect([inbox, rules]).toMatchObject([{ value: [{}] }, { value: [{ agent: first }] }]);
  expect(there).toBe(true);
  await log.close();
});
