// The refusals of the log, in words for people.
import type { Fault } from "../base/fault.ts";
import type { Refusal } from "../base/result.ts";

export const BUSY: Refusal = {
  code: "log.busy",
  message: "too much is waiting for the disk",
  hint: "Wait for room() and try again; nothing was written.",
};

export const EMPTY: Refusal = {
  code: "log.empty",
  message: "a transaction needs at least one entry",
  hint: "Append one or more entries.",
};

export const CLOSED: Refusal = { code: "log.closed", message: "the log is closed", hint: "Open it again." };

export function noSession(session: string): Refusal {
  const hint = "A session is agents/<id>, terminals/<id> or state/<repo>/sessions/<id>.";
  return { code: "log.no-session", message: `${JSON.stringify(session)} is not a session`, hint };
}

export function frozen(session: string, reason: string): Refusal {
  const hint = "Its log is kept as it is. See `holdfast log verify` and the quarantine.";
  return { code: "log.frozen", message: `${session} is frozen: ${reason}`, hint };
}

export function tooLarge(bytes: number, limit: number): Refusal {
  const hint = "Put large content into a file of its own and log its name, or split the transaction.";
  return { code: "log.too-large", message: `a transaction of ${bytes} bytes is over the limit of ${limit}`, hint };
}

export function blocked({ message, hint }: Fault): Refusal {
  return { code: "log.blocked", message, hint };
}

export function stopped(error: unknown): Refusal {
  const hint = "Start again: recovery reads what is on disk. Nothing acknowledged is lost.";
  return { code: "log.stopped", message: `the log stopped for good: ${String(error)}`, hint };
}
