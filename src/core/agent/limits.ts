// Limits of agents, each with its reason. A transaction of the log has at most 1 MiB (log/wal/wal.ts): all of these together stay below.

/** One message, and what an agent is told to do. */
export const MAX_PAYLOAD = 128 << 10;
/** What one turn is told of its messages; the others wait for the next. */
export const MAX_PROMPT = 256 << 10;
export const MAX_MESSAGES_A_TURN = 64;
/** An agent that does not read is not written to without end. */
export const MAX_INBOX = 1000;
/** How many message ids are remembered, to know a repeat: a client repeats its last message, not its last hundred. */
export const MAX_SEEN = 128;
/** Every copy is an entry of the same transaction. */
export const MAX_BROADCAST = 256 << 10;
/** What an event keeps of a piece of output of an agent with a transcript of its own, and of one answer of a bare LLM. */
export const MAX_PIECE = 32 << 10;
export const MAX_ANSWER = 256 << 10;
/** Of a permission prompt's input; more is refused, because nobody could see what they allow. */
export const MAX_INPUT = 128 << 10;
/** How many open prompts one agent has, and how many of the closed ones it remembers (to say why one cannot be answered). */
export const MAX_PROMPTS = 64;
export const MAX_CLOSED_PROMPTS = 16;
/** How many answered calls are remembered at the most: those of the present and of the last turn. */
export const MAX_CALLS = 128;
export const MAX_REMINDERS = 64;
export const MAX_RULES = 1000;
/** All of them may be terminated in one transaction. */
export const MAX_AGENTS = 4000;
export const MAX_DEPTH = 16;
export const MAX_NAME = 64;
/** A reason, a message to the asker. */
export const MAX_REASON = 1000;
/** The last text that an agent said, as `inspect` shows it. */
export const MAX_LAST_TEXT = 4 << 10;
/** How often a bare LLM's request is tried before its turn fails. */
export const MAX_TRIES = 6;
/** A process that was asked to end has this long before it is made to. */
export const STOP_GRACE_MS = 10_000;
/** Activity moves a prompt's deadline only by more than this: so that looking at a list does not fill the log. */
export const REFRESH_MS = 60_000;
/** Nobody is reminded later than in a year. */
export const MAX_REMINDER_MS = 366 * 24 * 3_600_000;

export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… (${text.length - most} more characters)`;
}
