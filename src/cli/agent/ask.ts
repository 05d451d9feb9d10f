// `holdfast agent ask`: sends a message and waits for the end of the turn that took it.
// AK1. The outcome is read from the agent's log on disk, starting before the message: a daemon crash loses nothing.
// AK2. Returns at once with exit code 3 and a hint if the agent cannot continue without a person.

import { newId } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { visible } from "../../base/visible.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { printJson, say } from "../print.ts";
import { onAgent } from "./find.ts";
import { givenText } from "./input.ts";
import { MessageWatch, type Outcome } from "./outcome.ts";
import { followEvents, fromNow, openAgentLog } from "./session.ts";

/** The exit code shells use for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

async function ask(world: DaemonCommandWorld, flags: DataFlags, key: string, words: string): Promise<Exit> {
  const text = await givenText(words);
  const meant = await onAgent(world, flags, key, async (_, agent) => ok(agent));
  if (!meant.ok) return meant;
  const { id } = meant.value;
  const log = await openAgentLog(world, flags, id);
  if (!log.ok) return log;
  const { home } = log.value.opened;
  const { following } = fromNow(world, log.value.opened, 0); // AK1
  const message = newId(world.random.bytes(16));
  const sent = await onDaemon<ListedAgent>(world, home, (client) =>
    client.call("agent.send", { id, message, text, replyTo: null }),
  );
  if (!sent.ok) return sent;
  const stuck = stuckAt(sent.value);
  if (stuck !== undefined) return report(world, flags, sent.value, stuck);
  const watch = new MessageWatch(message, idsOf(sent.value));
  let outcome: Outcome | undefined;
  const end = await followEvents(world, following, async (events) => {
    for (const event of events) watch.note(event);
    outcome = await confirmed(world, home, id, watch.outcome);
    return outcome !== undefined;
  });
  if (end === "enough" && outcome !== undefined) return report(world, flags, sent.value, outcome);
  await say(world.console, `${sent.value.name} continues; watch it with \`holdfast agent follow ${sent.value.name}\`.`);
  return ok(INTERRUPTED);
}

function idsOf({ prompts }: ListedAgent): string[] {
  return prompts.map(({ id }) => id);
}

/** The agent's state when the message was sent: neither of these continues by itself. */
function stuckAt({ state, note }: ListedAgent): Outcome | undefined {
  if (state === "crashed") return { kind: "crashed", reason: note ?? "" };
  return state === "suspended" && note !== null ? { kind: "held", reason: note } : undefined;
}

/** A rule may have answered in the same moment, so only prompts that the daemon still lists as open count. */
async function confirmed(
  world: DaemonCommandWorld,
  home: string,
  id: string,
  outcome: Outcome | undefined,
): Promise<Outcome | undefined> {
  if (outcome?.kind !== "asks" && outcome?.kind !== "held") return outcome;
  const now = await onDaemon<ListedAgent>(world, home, (client) => client.call("agent.show", { id }));
  if (!now.ok) return undefined;
  const { state, note } = now.value;
  const prompts = idsOf(now.value);
  if (prompts.length > 0) return { kind: "asks", prompts };
  return outcome.kind === "held" && state === "suspended"
    ? { kind: "held", reason: note ?? outcome.reason }
    : undefined;
}

async function report(
  world: DaemonCommandWorld,
  flags: DataFlags,
  { id, name }: ListedAgent,
  outcome: Outcome,
): Promise<Exit> {
  const { console } = world;
  if (flags.json) await printJson(console, { id, name, outcome: outcome.kind, ...outcome, kind: undefined });
  else if (outcome.kind === "complete") await console.out.write(`${visible(outcome.response)}\n`);
  else await say(console, wordsOf(name, outcome));
  if (outcome.kind === "complete") return ok(EXIT.ok);
  return ok(outcome.kind === "asks" || outcome.kind === "held" ? EXIT.waiting : EXIT.failed); // AK2
}

function wordsOf(name: string, outcome: Exclude<Outcome, { readonly kind: "complete" }>): string {
  switch (outcome.kind) {
    case "asks": {
      const answers = outcome.prompts.map((prompt) => `\n  → holdfast answer ${prompt} allow|deny`);
      return `${name} is waiting for your answer (holdfast prompts):${answers.join("")}`;
    }
    case "failed":
      return `turn ${outcome.turn} of ${name} failed: ${outcome.reason}\n  → holdfast agent retry ${name}`;
    case "dropped":
      return `the message was removed from the inbox of ${name}.`;
    case "terminated":
      return `${name} was terminated: ${outcome.reason}`;
    default:
      return `${name} cannot continue by itself: ${outcome.reason}\n  → holdfast agent retry ${name}`;
  }
}

export const askCommand = withDaemonWorld(ask);
