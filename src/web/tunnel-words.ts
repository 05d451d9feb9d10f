// What people are told of clocks that differ: a home and its relay judge each other's certificates by their own.
import { timeText } from "../base/time-text.ts";
import type { TunnelEnd } from "../world/tunnel.ts";

/** More than a welcome is on its way, and less than does harm. */
const DIFFER_MS = 60_000;
/** By which TLS says that the relay's certificate is not valid at the time of this machine. */
const WRONG_TIMES: readonly string[] = ["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"];

/** Empty if both show the same. */
export function clockWords(now: number, relayNow: number): string {
  if (Math.abs(now - relayNow) < DIFFER_MS) return "";
  return `One of two clocks is wrong: this machine's says ${timeText(now)}, and the relay's ${timeText(relayNow)}.`;
}

export function endWords({ code, message }: TunnelEnd, now: number): string {
  const words = `${message} (${code})`;
  if (!WRONG_TIMES.includes(code)) return words;
  return `The relay's certificate is not valid at ${timeText(now)}, the time of this machine; one of the two clocks may be wrong: ${words}`;
}
