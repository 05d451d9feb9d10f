// The codec of each provider; a bare LLM has none, since it has no process.
// CO1. What a terminated agent prints no longer matters, and may be what it was set aside for: it is not decoded.
import type { Agent } from "../../core/agent/agent.ts";
import type { Codec, ProviderName } from "../../core/agent/provider.ts";
import { acp } from "../../wire/provider/acp.ts";
import { claude } from "../../wire/provider/claude.ts";
import { command } from "../../wire/provider/command.ts";
import { scripted } from "../../wire/provider/scripted.ts";

const CODECS: Readonly<Record<Exclude<ProviderName, "openai">, Codec>> = { claude, acp, command, scripted };

export function codecOf(provider: ProviderName): Codec | undefined {
  return provider === "openai" ? undefined : CODECS[provider];
}

/** The codec for the process of an agent. */
export function codecFor({ plan, terminated }: Agent): Codec | undefined {
  const codec = codecOf(plan.recipe.provider);
  return terminated === undefined ? codec : codec && { launch: codec.launch, ...DEAF };
}

/** CO1 */
const DEAF = { encode: () => undefined, decode: () => ({ events: [], replies: [] }) };
