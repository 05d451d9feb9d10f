// A home of agents with long histories, as a killed daemon leaves it: the logs of their sessions, a checkpoint of each,
// and later events. One agent's life is computed in memory by the daemon's own rules; the others get copies under other
// ids. Written file by file and not event by event: ten million events take a minute.
import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentRecord } from "../src/core/agent/agent.ts";
import { applyAgent } from "../src/core/agent/apply.ts";
import { storedOf } from "../src/core/agent/checkpoint.ts";
import type { AgentCommand } from "../src/core/agent/commands.ts";
import { decideAgent } from "../src/core/agent/decide.ts";
import type { AgentConfig } from "../src/core/agent/draft.ts";
import type { AgentEvent } from "../src/core/agent/events.ts";
import { Tree } from "../src/core/agent/tree.ts";
import { AgentCheckpoints } from "../src/daemon/agent/checkpoints.ts";
import { encodeMark } from "../src/log/wal/frame.ts";
import { residentOf } from "../src/wire/stored/agent.ts";
import { crc32, hex8 } from "../src/world/hash.ts";
import { realClock } from "../src/world/real/clock.ts";
import { realDisk } from "../src/world/real/disk.ts";
import { freshId } from "./agent-home.ts";

export type History = { readonly agents: number; readonly events: number };

/** Events after the checkpoint: about half of the number at which another one is written (AC2 of checkpoints.ts). */
const TAIL = 60;
/** Checkpoints that are saved at a time. */
const AT_ONCE = 50;

/** A message and its turn. */
const EVENTS_A_TURN = 5;

type Lived = { readonly id: string; readonly events: readonly AgentEvent[]; readonly before: AgentRecord };

export async function writeHistory(home: string, { agents, events: wanted }: History): Promise<void> {
  if (agents === 0) return;
  const lived = lifeOf(wanted);
  const { length: each } = lived.events;
  const lines = lived.events.map((event) => lineOf(event).split(lived.id));
  const ids = Array.from({ length: agents }, freshId);
  for (const [at, id] of ids.entries()) {
    const directory = join(home, `agents/${id}`);
    mkdirSync(directory, { recursive: true });
    writeSynced(join(directory, "events.jsonl"), logOf(id, lines, at * each));
  }
  const end = agents * each;
  mkdirSync(join(home, "wal"), { recursive: true });
  writeSynced(join(home, "wal/00000001.wal"), encodeMark({ gen: 1, durable: end, drained: end }, end + 1));
  const seqOf = (at: number) => (at + 1) * each - Math.min(TAIL, each >> 1);
  for (let at = 0; at < agents; at += AT_ONCE)
    await saveAll(home, lived, new Map(ids.slice(at, at + AT_ONCE).map((id, more) => [id, seqOf(at + more)])));
}

const SETTINGS: AgentConfig = { slots: {}, paused: false, rules: [], defaults: {}, recipes: {}, spawns: {} };

/** One agent, a bare model, that has talked for so long. */
function lifeOf(wanted: number): Lived {
  const id = freshId();
  const [agentRecords, tree] = [new Map<string, AgentRecord>(), new Tree()];
  const events: AgentEvent[] = [];
  let before: AgentRecord | undefined;
  const submit = (command: AgentCommand) => {
    const decided = decideAgent(
      { agentRecords, tree, settings: SETTINGS, keyed: (text) => text },
      command,
      "2026-01-01T00:00:00.000Z",
    );
    if (!decided.ok) throw new Error(decided.error.message);
    decided.value.undo?.();
    for (const event of decided.value.events) {
      const after = applyAgent(agentRecords.get(id), event);
      tree.note(agentRecords.get(id), after);
      agentRecords.set(id, after);
      events.push(event);
      if (events.length === wanted - Math.min(TAIL, wanted >> 1)) before = after;
    }
  };
  const recipe = { provider: "openai", model: "m", command: [], flags: [], permissionMode: null, options: {} } as const;
  const plan = { recipe, system_prompt: "", cwd: "/", environment: {}, workspace: null };
  submit({ kind: "create", id, name: `a${id}`, parent: undefined, instructions: "", plan, settings: {} });
  for (let turn = 1; events.length + EVENTS_A_TURN <= wanted; turn += 1) {
    const payload = `Message ${turn}, of about as many words as people write.`;
    submit({ kind: "send", id, message: freshId(), payload, replyTo: undefined });
    submit({ kind: "read", id, generation: 0, offset: turn, events: [{ kind: "done", response: `Answer ${turn}.` }] });
  }
  if (before === undefined) throw new Error(`${wanted} events are too few`);
  return { id, events, before };
}

/** A line of the log without the parts that depend on its position. */
function lineOf({ id, event, data }: AgentEvent): string {
  const ts = "2026-01-01T00:00:00.000Z";
  return `,"session_id":"${id}","ts":"${ts}","event":"${event}","data":${JSON.stringify(data)}`;
}

function logOf(id: string, lines: readonly (readonly string[])[], before: number): Buffer {
  let text = "";
  for (const [at, pieces] of lines.entries()) {
    const line = `{"seq":${before + at + 1},"prev":${at === 0 ? 0 : before + at}${pieces.join(id)}`;
    text += `${line},"sum":"${hex8(crc32(line))}"}\n`;
  }
  return Buffer.from(text, "utf8");
}

/** So that writing it back does not fall into the measurement. */
function writeSynced(path: string, bytes: Uint8Array): void {
  const file = openSync(path, "w");
  writeFileSync(file, bytes);
  fsyncSync(file);
  closeSync(file);
}

/** The checkpoints of some of them, each at its seq. */
async function saveAll(home: string, { id: first, before }: Lived, seqs: ReadonlyMap<string, number>): Promise<void> {
  const onBug = (error: unknown) => {
    throw error;
  };
  const place = { disk: realDisk(), clock: realClock(), home };
  const checkpoints = new AgentCheckpoints(place, { isOff: () => true, say: onBug });
  const text = JSON.stringify(storedOf(before));
  for (const [id, seq] of seqs) {
    const agentRecord = residentOf(JSON.parse(text.replaceAll(first, id)));
    if (agentRecord !== undefined) checkpoints.heard([id], { first: seq, bytes: 1 }, new Map([[id, agentRecord]]));
  }
  await checkpoints.finish();
}
