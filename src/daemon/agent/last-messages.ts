// The last messages of all agents, from their logs: for people who want to see what agents tell each other.
// LM1. The cost is bounded, however many agents there are, and however much they say: the logs that were written last
//      are read from their ends, and not further than the oldest message that would be shown.
// LM2. Only what is durable is in it, newest first. An entry that cannot be read is left out: its agent's view says so.
import { agentSession } from "../../core/agent/agent.ts";
import { cut } from "../../core/agent/limits.ts";
import type { EventLog } from "../../log/event-log.ts";
import type { Entry } from "../../log/session/entry.ts";
import { type ListedMessage, listedMessageIn } from "../../wire/rpc/messages.ts";

/** More than a window shows. */
const MAX_LIMIT = 200;
/** LM1 */
const MAX_LOGS = 64;
const MAX_BYTES = 4 << 20;
const MAX_BYTES_OF_LOG = 128 << 10;
/** As much as a row shows. */
const MAX_TEXT = 500;

type Logs = Pick<EventLog, "lastSeq" | "readBack">;
type Found = { readonly seq: number; readonly message: ListedMessage };

/** `ids`: of the agents whose logs are looked at. */
export function lastMessages(log: Logs, ids: Iterable<string>, limit = MAX_LIMIT): ListedMessage[] {
  const most = Math.min(Math.max(1, limit), MAX_LIMIT);
  const logs = [...ids].map((id) => ({ session: agentSession(id), last: log.lastSeq(agentSession(id)) }));
  const newest = logs.sort((one, other) => other.last - one.last).slice(0, MAX_LOGS);
  let found: Found[] = [];
  let left = MAX_BYTES;
  for (const { session, last } of newest) {
    const oldest = found.length < most ? 0 : (found.at(-1)?.seq ?? 0);
    if (last <= oldest || left <= 0) break;
    const budget = Math.min(left, MAX_BYTES_OF_LOG);
    const { messages, bytes } = messagesIn(log, session, { oldest, budget });
    left -= bytes;
    found = [...found, ...messages].sort((one, other) => other.seq - one.seq).slice(0, most);
  }
  return found.map(({ message }) => message);
}

function messagesIn(log: Logs, session: string, { oldest, budget }: { oldest: number; budget: number }) {
  let bytes = 0;
  const stop = (seq: number, length: number) => {
    bytes += length;
    return seq <= oldest || bytes > budget;
  };
  const messages: Found[] = [];
  for (const reading of log.readBack(session, stop)) {
    const message = reading.kind === "entry" ? messageOf(reading.entry) : undefined;
    if (reading.kind === "entry" && message !== undefined) messages.push({ seq: reading.entry.seq, message });
  }
  return { messages, bytes };
}

/** LM2 */
function messageOf({ event, data }: Entry): ListedMessage | undefined {
  const message = event === "message.enqueued" ? listedMessageIn(data) : undefined;
  return message && { ...message, text: cut(message.text, MAX_TEXT) };
}
