// A time has come: a deadline, a limit for silence, a reminder, or the end of a wait.
import type { Agent } from "./agent.ts";
import { derivedId } from "./derive.ts";
import type { Draft } from "./draft.ts";
import { STOP_GRACE_MS } from "./limits.ts";
import { enqueue, HOLDFAST } from "./messages.ts";
import { processMachine } from "./process.ts";
import { expirePrompts } from "./prompts.ts";
import { again } from "./slots.ts";
import { dueOf, hungAt } from "./times.ts";

/** `when` is "now" if a person does not want to wait for the end of a sleep. */
export function wake(draft: Draft, agent: Agent, when: "due" | "now" = "due"): void {
  const { id } = agent;
  for (const reminder of agent.reminders) if (draft.isDue(reminder.due)) remind(draft, id, reminder);
  expirePrompts(draft, draft.agent(id));
  escalateStop(draft, draft.agent(id));
  const { sleep, turn } = draft.agent(id);
  const until = sleep?.until ?? turn?.retryAt;
  if (until !== undefined && (when === "now" || draft.isDue(until))) awake(draft, draft.agent(id));
}

function remind(draft: Draft, id: string, { reminder_id, text }: Agent["reminders"][number]): void {
  const letter = {
    id: derivedId(id, "reminded", reminder_id),
    from: HOLDFAST,
    kind: "reminder",
    payload: text,
  } as const;
  if (enqueue(draft, draft.agent(id), letter) !== undefined) return; // Its inbox is full: it stays due.
  draft.add(id, { event: "reminder.fired", data: { reminder_id, at: draft.at } });
}

/** SP-1: silence, then SIGTERM, then SIGKILL; SP-2: the end of a backoff. */
export function escalateStop(draft: Draft, agent: Agent): void {
  const { id, process: program, generation } = agent;
  const due = dueOf(agent);
  if (due === undefined || !draft.isDue(due)) return;
  if (processMachine.allows(program.kind, "backoff over"))
    draft.add(id, { event: "process.rested", data: { at: draft.at } });
  else if (program.kind === "Hung" || program.kind === "Stopping") {
    const harder = program.signal === null ? "SIGTERM" : "SIGKILL";
    const kill_at = harder === "SIGKILL" ? null : draft.in(STOP_GRACE_MS);
    draft.add(id, { event: "process.stopping", data: { generation, reason: program.reason, signal: harder, kill_at } });
  } else if (hungAt(agent) !== undefined) {
    const stop = { generation, reason: "hung", signal: "SIGTERM", kill_at: draft.in(STOP_GRACE_MS) } as const;
    draft.add(id, { event: "process.stopping", data: stop });
  }
}

/** If its process is still there and had taken the prompt, it gets a prompt to continue. */
function awake(draft: Draft, { id, turn, process: program, settings, sleep }: Agent): void {
  const tell = sleep !== undefined && turn?.taken === true && program.kind === "Running";
  const prompt = tell && turn !== undefined ? again(id, turn, settings.recovery_prompt, draft.at) : null;
  draft.add(id, { event: "agent.woken", data: { prompt, at: draft.at } });
}
