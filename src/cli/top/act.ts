// Does what a key on the screen has asked for.
// AC1. Answers and messages have an id that is chosen once: if the daemon dies meanwhile, the next one gets the same.
import { newId } from "../../base/ids.ts";
import type { Result } from "../../base/result.ts";
import { onDaemon } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { typeInto } from "../terminal/send.ts";
import { nameOf, receiverOf, type Target } from "./rows.ts";
import type { Act } from "./state.ts";

export type AskedAct = Extract<Act, { kind: "answer" | "send" | "interrupt" }>;

const CTRL_C = "\u0003";
const ENTER = "\r";

export async function perform(world: DaemonCommandWorld, home: string, act: AskedAct): Promise<Result<unknown>> {
  const fresh = newId(world.random.bytes(16)); // AC1
  if (act.kind === "answer") {
    const answer = { prompt: act.prompt.id, answer: fresh, decision: act.decision, message: "", always: false };
    return onDaemon<unknown>(world, home, (client) => client.call("prompt.answer", answer));
  }
  if (act.kind === "send") return send(world, home, act, fresh);
  return interrupt(world, home, act.of);
}

function send(
  world: DaemonCommandWorld,
  home: string,
  { to, text }: AskedAct & { readonly kind: "send" },
  message: string,
): Promise<Result<unknown>> {
  const { id, name } = to.of;
  if (to.kind === "terminal") return typeInto(world, { home, id, name }, Buffer.from(`${text}${ENTER}`));
  const words = { id: agentOf(to), message, text, replyTo: null };
  return onDaemon<unknown>(world, home, (client) => client.call("agent.send", words));
}

function interrupt(world: DaemonCommandWorld, home: string, target: Target): Promise<Result<unknown>> {
  const { id, name } = target.of;
  if (target.kind === "terminal") return typeInto(world, { home, id, name }, Buffer.from(CTRL_C));
  return onDaemon<unknown>(world, home, (client) =>
    target.kind === "run"
      ? client.call("workflow.interrupt", { id })
      : client.call("agent.interrupt", { id: agentOf(target) }),
  );
}

function agentOf(target: Target): string {
  return target.kind === "prompt" ? target.of.agent : target.of.id;
}

/** `open`: how many prompts wait. */
export function doneText(act: AskedAct, open: number): string {
  if (act.kind === "send") return `Sent to ${receiverOf(act.to)}.`;
  if (act.kind === "interrupt") return `${receiverOf(act.of)} was interrupted.`;
  const done = act.decision === "allow" ? "Allowed" : "Denied";
  return `${done} ${nameOf({ kind: "prompt", of: act.prompt })}.${open === 0 ? "" : " p goes to the next prompt."}`;
}
