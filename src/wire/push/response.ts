// The head of an HTTP/1.1 response, as far as a sender of notifications needs it: the body is never read.

export type ResponseHead = { readonly status: number; readonly retryAfter: string | undefined };

const STATUS = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |\r\n|$)/;
const RETRY_AFTER = /\r\nretry-after:[ \t]*([^\r\n]{1,64})/i;
const END = "\r\n\r\n";

/** Undefined: there is more to come. "wrong": it is no response. What is only provisional (1xx) is skipped. */
export function responseIn(text: string): ResponseHead | "wrong" | undefined {
  const end = text.indexOf(END);
  if (end < 0) return "HTTP/1.".startsWith(text.slice(0, 7)) ? undefined : "wrong";
  const head = text.slice(0, end);
  const [, digits] = STATUS.exec(head) ?? [];
  if (digits === undefined) return "wrong";
  if (digits.startsWith("1")) return responseIn(text.slice(end + END.length));
  return { status: Number(digits), retryAfter: RETRY_AFTER.exec(head)?.[1]?.trim() };
}

/** How long the other side wants us to wait; undefined if it does not say. `most`: no more than this counts. */
export function retryAfterMs(text: string | undefined, now: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), most);
}
