// What an agent needs from the world, derived from its state: after a crash, effects without an outcome are requested
// again.
import { type Agent, type AgentRecord, type Entry, isAside, isNamed, needOf } from "./agent.ts";
import type { AgentEffect } from "./commands.ts";
import { type CodecFacts, type Input, styleOf } from "./provider.ts";
import { timerOf } from "./times.ts";

export function agentEffectsOf(agentRecord: AgentRecord): AgentEffect[] {
  if (agentRecord.kind !== "agent" || isAside(agentRecord)) return [];
  const { id } = agentRecord;
  const effects = ofProcess(agentRecord);
  const at = timerOf(agentRecord);
  if (at !== undefined) effects.push({ kind: "timer", id, at });
  if (agentRecord.broadcasts.length > 0) effects.push({ kind: "pass-on", id });
  if (agentRecord.terminated !== undefined) return effects.length === 0 ? [{ kind: "finish", id }] : effects;
  return [...effects, ...ofRequest(agentRecord)];
}

function ofProcess(agent: Agent): AgentEffect[] {
  const { id, generation, process: program, outbox } = agent;
  switch (program.kind) {
    case "Spawning":
      return [{ kind: "start", id, generation }];
    case "Running":
      return outbox.entries.length === 0 ? [] : [{ kind: "send", id, generation, from: outbox.confirmed + 1 }];
    case "Hung":
    case "Stopping":
      return [
        program.signal === null
          ? { kind: "suspend", id, generation }
          : { kind: "stop", id, generation, signal: program.signal },
      ];
    case "PermanentlyFailed":
      return [{ kind: "crashed", id, reason: program.reason, at: program.at }];
    default:
      return [];
  }
}

function ofRequest(agent: Agent): AgentEffect[] {
  const { id, turn, session, sleep, held, consumed } = agent;
  if (styleOf(agent.plan.recipe) !== "request" || turn === undefined || session.kind !== "active") return [];
  if (sleep !== undefined || held !== undefined || turn.retryAt !== undefined || needOf(agent) !== undefined) return [];
  return [{ kind: "ask", id, turn: turn.number, request: consumed + 1 }];
}

/** The entries of the outbox from number `from` on, with their numbers, as the process is to get them. */
export function inputsFrom(agent: Agent, from: number): { readonly number: number; readonly input: Input }[] {
  const first = agent.outbox.confirmed + 1;
  return agent.outbox.entries
    .map((entry, at) => ({ number: first + at, input: inputOf(entry) }))
    .filter(({ number }) => number >= from);
}

function inputOf(entry: Entry): Input {
  if (entry.kind === "prompt") return { kind: "prompt", ...entry.handed };
  if (entry.kind === "answer") return { kind: "answer", ...entry.input };
  return entry;
}

/** What a codec may know of it, except for what only the daemon knows. */
export function factsOf(agent: Agent): CodecFacts {
  const { id, plan, generation, providerSession: session, resumable: resume, open } = agent;
  const { recipe, system_prompt: systemPrompt, cwd } = plan;
  return { agent: id, recipe, systemPrompt, cwd, generation, session, resume, named: isNamed(agent), open };
}
