// Parses the settings of an agent from the command line.
import { ok, type Result, refused } from "../../base/result.ts";
import type { AgentSettings, RecoveryPolicy } from "../../core/agent/events.ts";
import { durationMs } from "../../wire/files/duration.ts";

export type SettingFlags = {
  readonly recovery?: RecoveryPolicy;
  readonly recoveryPrompt?: string;
  readonly hungAfter?: string;
  readonly promptTtl?: string;
  readonly promptAfter?: string;
  readonly promptDefault?: "allow" | "deny" | "none";
  readonly sleepOnLimit?: boolean;
};

/** A shorter time makes no sense for any setting. */
const MIN_MS = 1_000;

export function settingsOf(flags: SettingFlags): Result<Partial<AgentSettings>> {
  const hung = timeOf("--hung-after", flags.hungAfter);
  const ttl = timeOf("--prompt-ttl", flags.promptTtl);
  const unattended = defaultOf(flags);
  if (!hung.ok) return hung;
  if (!ttl.ok) return ttl;
  if (!unattended.ok) return unattended;
  const { recovery, recoveryPrompt, sleepOnLimit } = flags;
  return ok({
    ...(recovery === undefined ? {} : { recovery }),
    ...(recoveryPrompt === undefined ? {} : { recovery_prompt: recoveryPrompt }),
    ...(hung.value === undefined ? {} : { hung_after_ms: hung.value }),
    ...(ttl.value === undefined ? {} : { prompt_ttl_ms: ttl.value }),
    ...(unattended.value === undefined ? {} : { prompt_default: unattended.value }),
    ...(sleepOnLimit === undefined ? {} : { sleep_on_limit: sleepOnLimit }),
  });
}

function defaultOf({ promptAfter, promptDefault }: SettingFlags): Result<AgentSettings["prompt_default"] | undefined> {
  if (promptAfter === undefined && promptDefault === undefined) return ok(undefined);
  if (promptAfter === undefined && promptDefault === "none") return ok(null);
  const after = timeOf("--prompt-after", promptAfter);
  if (!after.ok) return after;
  if (after.value === undefined || promptDefault === undefined || promptDefault === "none") {
    const message = "--prompt-after and --prompt-default must be given together.";
    return refused("usage", message, "For example: --prompt-after 10m --prompt-default deny");
  }
  return ok({ after_ms: after.value, decision: promptDefault });
}

function timeOf(flag: string, given: string | undefined): Result<number | undefined> {
  if (given === undefined) return ok(undefined);
  const ms = durationMs(/^\d+$/.test(given) ? Number(given) : given);
  if (ms !== undefined && ms >= MIN_MS) return ok(ms);
  return refused("usage", `${flag} ${given} is not a time.`, "Give seconds, or a time such as 30s, 5m, 2h or 7d.");
}
