// `holdfast __step`: what an `agent:` or `claude:` step of a workflow runs as its program. It has an agent do the work, and waits for it.
// ST1. The agent and its messages are named by the step's key: a waiter that was lost (with the machine, for example) is simply started
//      again, finds the same agent, and takes the answer that is there or on its way. Nothing is asked twice.
// ST2. A message whose turn failed was a try; the next try is another message to the same agent.
// ST3. Where a person is asked, or the agent waits for one, it says so and waits as well: the step goes on when they have answered.
// ST4. An agent whose step is done is ended. One whose step failed or was stopped stays, for the next try and for whoever looks why.
import { ok, type Result, refused } from "../../base/result.ts";
import { derivedId } from "../../core/agent/derive.ts";
import type { AgentEvent } from "../../core/agent/events.ts";
import type { ListedAgent, NewAgent } from "../../wire/agents/agent-rpc.ts";
import { onDaemon } from "../client.ts";
import type { HomeFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { EXIT, type Exit } from "../outside.ts";
import { say } from "../print.ts";
import { type Reach, reaching } from "../reach.ts";
import { terminalEnvironment } from "../terminals/environment.ts";
import { givenText } from "./input.ts";
import { MessageWatch, type Outcome } from "./outcome.ts";
import { eventsOf, followEvents, fromNow, openAgentLog } from "./session.ts";

export type StepFlags = HomeFlags & { readonly provider: string };

/** As long as an agent's name may be. */
const MOST_NAME = 64;
const DONE = "Its step is done.";

async function step(reach: Reach, flags: StepFlags): Promise<Exit> {
  const home = existingHome(reach, flags.home);
  const key = reach.console.env("HOLDFAST_KEY");
  if (!home.ok) return home;
  if (key === undefined) return refused("usage", "This is for steps of workflows.", "holdfast agent ask");
  const text = await givenText("-");
  const stopped = reach.console.told().then(() => "stopped" as const);
  const made = await onDaemon<ListedAgent>(reach, home.value, (client) =>
    client.call("agent.new", wishOf(reach, key, flags.provider)),
  );
  if (!made.ok) return made;
  const { id } = made.value;
  const ended = await Promise.race([stopped, answered(reach, { home: home.value, id, text })]);
  if (ended === "stopped") {
    await onDaemon(reach, home.value, (client) => client.call("agent.interrupt", { id })); // ST4
    return ok(EXIT.failed);
  }
  return ended.ok ? report(reach, { home: home.value, id }, ended.value) : ended;
}

function wishOf(reach: Reach, key: string, provider: string): NewAgent {
  const [run = "", ...place] = key.split("/");
  const name = `step-${run.slice(0, 8)}-${place.join("-")}`.replaceAll(/[^A-Za-z0-9._-]/g, "-").slice(0, MOST_NAME);
  return {
    ...{ id: derivedId("step", key), name, parent: null, instructions: "", provider, model: null }, // ST1
    ...{
      systemPrompt: "",
      cwd: reach.console.absolute("."),
      env: terminalEnvironment(reach.self.environment(), "dumb"),
    },
    ...{ command: [], flags: [], permissionMode: null, settings: {} },
  };
}

type Asked = { readonly home: string; readonly id: string; readonly text: string };

async function answered(reach: Reach, { home, id, text }: Asked): Promise<Result<Outcome>> {
  const log = await openAgentLog(reach, { home }, id);
  if (!log.ok) return log;
  const { entries, following } = fromNow(reach, log.value.opened, Number.MAX_SAFE_INTEGER);
  const before = eventsOf(entries);
  const last = tryIn(id, before);
  const earlier = watchOf(id, last, before);
  const anew = last === 0 || earlier.outcome?.kind === "failed"; // ST2
  const watch = anew ? new MessageWatch(messageOf(id, last + 1), []) : earlier;
  const sent = anew ? await send(reach, { home, id, text, message: messageOf(id, last + 1) }) : ok(undefined);
  if (!sent.ok) return sent;
  let told = "";
  const isOver = async (events: readonly AgentEvent[]) => {
    for (const event of events) watch.note(event);
    const words = waitWords(watch.outcome);
    if (words !== "" && words !== told) await say(reach.console, words); // ST3
    told = words;
    return watch.outcome !== undefined && words === "";
  };
  if (!(await isOver([]))) await followEvents(reach, following, isOver);
  return watch.outcome === undefined ? refused("stopped", "It was stopped.", "holdfast resume") : ok(watch.outcome);
}

function messageOf(id: string, number: number): string {
  return derivedId(id, "try", `${number}`);
}

/** The number of the last message that was sent; 0 before the first. */
function tryIn(id: string, events: readonly AgentEvent[]): number {
  const sent = new Set(events.flatMap((one) => (one.event === "message.enqueued" ? [one.data.message_id] : [])));
  let number = 0;
  while (sent.has(messageOf(id, number + 1))) number += 1;
  return number;
}

function watchOf(id: string, number: number, events: readonly AgentEvent[]): MessageWatch {
  const watch = new MessageWatch(messageOf(id, number), []);
  for (const event of events) watch.note(event);
  return watch;
}

type Message = Asked & { readonly message: string };

/** One that crashed for good in an earlier try is tried again with this one. */
function send(reach: Reach, { home, id, text, message }: Message): Promise<Result<unknown>> {
  return onDaemon<unknown>(reach, home, async (client) => {
    const sent = await client.call("agent.send", { id, message, text, replyTo: null });
    return sent.ok && sent.value.state === "crashed" ? client.call("agent.retry", { id }) : sent;
  });
}

function waitWords(outcome: Outcome | undefined): string {
  if (outcome?.kind === "asks") return `it asks you something: holdfast answer ${outcome.prompts[0]} allow|deny`;
  return outcome?.kind === "held" ? `it waits: ${outcome.reason}` : "";
}

async function report(reach: Reach, { home, id }: Omit<Asked, "text">, outcome: Outcome): Promise<Exit> {
  if (outcome.kind === "complete") {
    await reach.console.out.write(outcome.response);
    await onDaemon(reach, home, (client) => client.call("agent.terminate", { id, reason: DONE })); // ST4
    return ok(EXIT.ok);
  }
  const reason = "reason" in outcome ? outcome.reason : "";
  return refused(outcome.kind, `The agent's turn came to nothing: ${reason}`, `holdfast agent log ${id}`);
}

export const stepCommand = reaching(step);
