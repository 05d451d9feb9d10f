// The default settings of agents.
import type { AgentSettings } from "./events.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** AG-7 */
export const RECOVERY_PROMPT =
  "You were interrupted in the middle of your last turn and have been resumed. Look at what is already done before " +
  "you go on, and do not repeat what has had its effect.";

export const DEFAULT_SETTINGS: AgentSettings = {
  recovery: "auto",
  recovery_prompt: RECOVERY_PROMPT,
  hung_after_ms: 5 * MINUTE,
  prompt_ttl_ms: 7 * DAY,
  prompt_default: null,
  sleep_on_limit: true,
};

/** The maximum number of processes of one provider (AG-5). */
export const DEFAULT_SLOTS = 8;
