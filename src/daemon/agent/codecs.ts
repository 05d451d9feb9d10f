// The codec of each provider; a bare LLM has none, since it has no process.
import type { Codec, ProviderName } from "../../core/agent/provider.ts";
import { acp } from "../../wire/provider/acp.ts";
import { claude } from "../../wire/provider/claude.ts";
import { command } from "../../wire/provider/command.ts";
import { scripted } from "../../wire/provider/scripted.ts";

const CODECS: Readonly<Record<Exclude<ProviderName, "openai">, Codec>> = { claude, acp, command, scripted };

export function codecOf(provider: ProviderName): Codec | undefined {
  return provider === "openai" ? undefined : CODECS[provider];
}
