// Which codec speaks with which provider; a bare LLM has none, since it has no process.
import type { Codec, ProviderName } from "../../core/agent/provider.ts";
import { acp } from "../../wire/agents/acp.ts";
import { claude } from "../../wire/agents/claude.ts";
import { command } from "../../wire/agents/command.ts";
import { scripted } from "../../wire/agents/scripted.ts";

const CODECS: Readonly<Record<Exclude<ProviderName, "openai">, Codec>> = { claude, acp, command, scripted };

export function codecOf(provider: ProviderName): Codec | undefined {
  return provider === "openai" ? undefined : CODECS[provider];
}
