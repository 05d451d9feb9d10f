// Decides on reports about an agent's process (SP-1 … SP-3), and what recovery finds of it (AG-4).
import type { Refusal } from "../../base/result.ts";
import { type Agent, stateSize } from "./agent.ts";
import type { AgentCommand } from "./commands.ts";
import type { Draft } from "./draft.ts";
import type { ProcessOutcome } from "./events.ts";
import { holdUnresumable } from "./fresh.ts";
import { cut, MAX_REASON } from "./limits.ts";
import { tellParent } from "./messages.ts";
import { isAlive, judgeCrash, processMachine, REFUSED_MS } from "./process.ts";
import { stalePrompts } from "./prompts.ts";
import { styleOf } from "./provider.ts";
import { holdBack } from "./recovery.ts";
import { deliverTurn, endTurn, failTurn, settleInline } from "./turns.ts";

type Report = Extract<
  AgentCommand,
  { readonly kind: "started" | "start-failed" | "taken" | "ended" | "detach" | "adopted" }
>;

const REPORTS: ReadonlySet<string> = new Set<Report["kind"]>([
  "started",
  "start-failed",
  "taken",
  "ended",
  "detach",
  "adopted",
]);

export function isProcessReport(command: AgentCommand): command is Report {
  return REPORTS.has(command.kind);
}

export function decideProcess(draft: Draft, agent: Agent, report: Report): Refusal | undefined {
  if (report.kind === "detach") detach(draft, agent, report.hold);
  else if (report.generation !== agent.generation)
    return undefined; // W2 of decide.ts
  else if (report.kind === "started") started(draft, agent, report);
  else if (report.kind === "adopted") adopted(draft, agent, report);
  else if (report.kind === "start-failed") notStarted(draft, agent, report);
  else if (report.kind === "taken") taken(draft, agent, report);
  else ended(draft, agent, report);
  return undefined;
}

type ProcessSeen = Extract<Report, { readonly kind: "started" | "adopted" }>;

function started(draft: Draft, agent: Agent, report: ProcessSeen): void {
  if (processMachine.allows(agent.process.kind, "started")) running(draft, agent, report);
}

function running(draft: Draft, { id }: Agent, { generation, child, holder }: ProcessSeen): void {
  const { pid, startTime: start_time, bootId: boot_id } = child;
  draft.add(id, { event: "process.running", data: { generation, pid, start_time, boot_id, holder, at: draft.at } });
}

/** AG-4: the process survived, and gets what it has not taken yet. */
function adopted(draft: Draft, agent: Agent, report: ProcessSeen): void {
  if (!processMachine.allows(agent.process.kind, "adopted")) return;
  const { provider, model } = agent.plan.recipe;
  draft.add(agent.id, { event: "session.restored", data: { provider, model, adopted: true, at: draft.at } });
  running(draft, agent, report);
}

/** AG-4 */
function detach(draft: Draft, agent: Agent, hold: string | undefined): void {
  if (agent.terminated !== undefined) return;
  if (hold !== undefined && agent.held === undefined)
    draft.add(agent.id, { event: "agent.held", data: { reason: cut(hold, MAX_REASON), at: draft.at } });
  if (agent.session.kind !== "active") return;
  draft.add(agent.id, {
    event: "suspend.result",
    data: { state_size: stateSize(agent), reason: "recovery", at: draft.at },
  });
  if (styleOf(agent.plan.recipe) === "request") holdBack(draft, draft.agent(agent.id));
}

function taken(
  draft: Draft,
  agent: Agent,
  { through, pieces }: { readonly through: number; readonly pieces: number },
): void {
  const { id, generation, outbox } = agent;
  const count = Math.min(through, outbox.confirmed + outbox.entries.length) - outbox.confirmed;
  if (count <= 0 || !isAlive(agent.process)) return;
  const gone = outbox.entries.slice(0, count);
  draft.add(id, { event: "input.taken", data: { generation, through: outbox.confirmed + count, pieces } });
  for (const entry of gone) {
    if (entry.kind === "prompt" && entry.turn === agent.turn?.number) deliverTurn(draft, id);
    if (entry.kind === "answer") draft.add(id, { event: "prompt.delivered", data: { prompt_id: entry.prompt } });
  }
  const { turn } = draft.agent(id);
  if (turn?.taken === true && turn.early !== undefined) endTurn(draft, id, turn.early);
  if (draft.agent(id).turn === undefined) settleInline(draft, id);
}

type Ended = Extract<Report, { readonly kind: "ended" }>;

/** SP-1 */
function outcomeOf({ process: program, turn, plan, held }: Agent, { code, signal }: Ended): ProcessOutcome {
  if (program.kind === "Hung") return "killed";
  if (program.kind === "Stopping" || held?.unresumable === true) return "stopped";
  const busy = turn !== undefined && !turn.interrupted;
  if (program.kind === "Detached") return code === 0 && !busy ? "clean" : "lost";
  if (busy) return "crashed";
  if (styleOf(plan.recipe) === "turn") return "clean"; // A turn is one process: the turn says how it ended.
  return code === 0 && signal === null ? "clean" : "crashed";
}

function ended(draft: Draft, agent: Agent, report: Ended): void {
  if (!isAlive(agent.process)) return;
  const { id, process: program } = agent;
  const outcome = outcomeOf(agent, report);
  const reason = reasonOf(agent, report);
  const { generation, code, signal } = report;
  draft.add(id, { event: "process.ended", data: { generation, code, signal, outcome, reason, at: draft.at } });
  if (agent.terminated !== undefined) return;
  stalePrompts(draft, draft.agent(id), `The process that asked is gone. ${reason}`);
  if (program.kind === "Stopping" && (program.reason === "evicted" || program.reason === "asked"))
    draft.add(id, {
      event: "suspend.result",
      data: { state_size: stateSize(agent), reason: program.reason, at: draft.at },
    });
  if (agent.turn?.interrupted === true) failTurn(draft, id, "It was interrupted.");
  if (outcome === "crashed" || outcome === "killed") crashed(draft, draft.agent(id), reason);
  if (outcome === "lost") holdBack(draft, draft.agent(id));
}

function reasonOf({ process: program }: Agent, { code, signal }: Ended): string {
  if (program.kind === "Hung") return "It was silent for too long, and was killed.";
  if (code === null && signal === null) return "How it ended is not known.";
  return signal === null ? `It ended with exit code ${code}.` : `It was ended by ${signal}.`;
}

/** SP-2 */
function crashed(draft: Draft, agent: Agent, reason: string): void {
  const fruitless = agent.turn === undefined ? 0 : (agent.fruitless ?? 0) + 1;
  const verdict = judgeCrash(agent.crashes, fruitless, draft.now);
  if (verdict.kind === "permanent") {
    failForGood(draft, agent, `${reason} ${verdict.why}`);
    return;
  }
  const { crashes, waitMs } = verdict;
  draft.add(agent.id, { event: "process.backoff", data: { until: draft.in(waitMs), crashes, fruitless } });
}

/** SP-3. Its turn stays: `agent retry` continues it. */
function failForGood(draft: Draft, agent: Agent, reason: string): void {
  draft.add(agent.id, { event: "agent.crashed", data: { reason: cut(reason, MAX_REASON), at: draft.at } });
  tellParent(draft, agent, "child.crashed", cut(reason, MAX_REASON));
}

type StartFailed = Extract<Report, { readonly kind: "start-failed" }>;

function notStarted(draft: Draft, agent: Agent, { reason: why, passing, unresumable }: StartFailed): void {
  if (!isAlive(agent.process)) return;
  const { id, generation } = agent;
  const reason = cut(`It could not be started: ${why}`, MAX_REASON);
  const facts = { generation, code: null, signal: null, outcome: "not-started", reason, at: draft.at } as const;
  draft.add(id, { event: "process.ended", data: facts });
  if (agent.terminated !== undefined) return;
  stalePrompts(draft, draft.agent(id), reason);
  if (agent.process.kind === "Stopping") {
    if (agent.turn?.interrupted === true) failTurn(draft, id, "It was interrupted.");
    return;
  }
  if (agent.process.kind === "Detached") return; // The daemon died before it was started: not a crash.
  if (unresumable === true) holdUnresumable(draft, draft.agent(id), why);
  else if (passing !== true) failForGood(draft, draft.agent(id), reason);
  else
    draft.add(id, { event: "process.backoff", data: { until: draft.in(REFUSED_MS), crashes: agent.crashes, reason } });
}
