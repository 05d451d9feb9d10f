// Limits of agents, each with its reason. A transaction of the log has at most 1 MiB (log/wal/wal.ts), and these stay
// below.

/** One message, or an agent's instructions. */
export const MAX_PAYLOAD = 128 << 10;
/** The same as in the log. A transaction may have it three times, as one has a broadcast's text (MAX_BROADCAST). */
export const MAX_PAYLOAD_BYTES = 288 << 10;
/** The messages in one turn's prompt, as in the log; the others wait for the next. */
export const MAX_PROMPT = 256 << 10;
export const MAX_MESSAGES_A_TURN = 64;
/** The inbox of an agent that does not read must not grow without limit. */
export const MAX_INBOX = 1000;
/** How many message ids are remembered, to detect a repeat: a client repeats its last message, not its last hundred. */
export const MAX_SEEN = 128;
/**
 * The copies of a broadcast in one transaction, as in the log. A recipient that begins a turn has its text three times:
 * in its inbox, in its turn and in what its process gets.
 */
export const MAX_BROADCAST = 256 << 10;
export const MAX_COPIES = 64;
/** The text of one, as in the log, where it is beside the ids and names of up to MAX_AGENTS recipients. */
export const MAX_BROADCAST_TEXT = 512 << 10;
/** How many of one agent may be on their way: each takes some milliseconds, unless the disk is full. */
export const MAX_BROADCASTS = 16;
/** What an event keeps of a piece of output of an agent with its own transcript, and of one answer of a bare LLM. */
export const MAX_PIECE = 32 << 10;
export const MAX_ANSWER = 256 << 10;
/** The input of a permission prompt; more is refused, because a person could not see what they allow. */
export const MAX_INPUT = 128 << 10;
/** The id that a process gives to a question or a call, and which the reply repeats; providers' own have up to 64. */
export const MAX_REQUEST_ID = 256;
/** The name of a tool, and the choices that come with a question: more than any provider has. */
export const MAX_TOOL = 256;
export const MAX_OPTIONS = 16 << 10;
/** What a rule of `answer --always` can be about: an agent may have a thousand of them. */
export const MAX_PINNED = 16 << 10;
/** How many open prompts one agent has, and how many closed ones it remembers (to say why one cannot be answered). */
export const MAX_PROMPTS = 64;
export const MAX_CLOSED_PROMPTS = 16;
/** How many answered calls are remembered: those of the current and the last turn. */
export const MAX_CALLS = 128;
export const MAX_REMINDERS = 64;
export const MAX_RULES = 1000;
/** All of them may be terminated in one transaction. */
export const MAX_AGENTS = 4000;
export const MAX_DEPTH = 16;
export const MAX_NAME = 64;
/** A reason, or a message to the process that asked. */
export const MAX_REASON = 1000;
/** The last text of an agent, as `inspect` shows it. */
export const MAX_LAST_TEXT = 4 << 10;
/** How long a provider may say that it waits, before its silence counts. */
export const MAX_PROVIDER_WAIT_MS = 3_600_000;
/** How often a bare LLM's request is tried before its turn fails. */
export const MAX_TRIES = 6;
/** The time between SIGTERM and SIGKILL. */
export const STOP_GRACE_MS = 10_000;
/** Activity moves a prompt's deadline only by more than this, so that looking at a list does not fill the log. */
export const REFRESH_MS = 60_000;
/** A reminder is due within a year. */
export const MAX_REMINDER_MS = 366 * 24 * 3_600_000;

export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… (${text.length - most} more characters)`;
}
