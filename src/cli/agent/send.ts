// `holdfast agent send`: puts a message into an agent's inbox, durably, which wakes an idle agent.
// SE1. The message's id is chosen before it is sent: a retry after a daemon died sends the same message.
import { newId } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { printJson } from "../print.ts";
import { onAgent } from "./find.ts";
import { givenText } from "./input.ts";
import { rowOf } from "./row.ts";

export type SendAgentFlags = DataFlags & { readonly replyTo?: string };

async function send(world: DaemonCommandWorld, flags: SendAgentFlags, key: string, words: string): Promise<Exit> {
  const text = await givenText(words);
  const message = newId(world.random.bytes(16)); // SE1
  const replyTo = flags.replyTo ?? null;
  const sent = await onAgent(world, flags, key, (client, { id }) =>
    client.call("agent.send", { id, message, text, replyTo }),
  );
  if (!sent.ok) return sent;
  if (flags.json) await printJson(world.console, { ...rowOf(sent.value), message });
  return ok(EXIT.ok);
}

export const sendAgentCommand = withDaemonWorld(send);
