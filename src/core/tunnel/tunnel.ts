// A home's tunnel to its relay: what to do next. Pure; web/tunnel.ts dials, sends and waits.
// TM1. Every change goes through the table (machine.ts). States that are only passed are passed in one step.
// TM2. Waits are 1, 2, 4 … 60 s with 20 % jitter after consecutive failures (TN-2). A connection that is lost soon
//      after it was made counts as a failure: a relay that accepts and drops is not dialled in a loop.
// TM3. A failed renewal and a revocation end: only a new enrolment starts again (TN-3). A connection that is lost while
//      a renewal is asked for has not failed: it is tried again.
// TM4. Turned off (by the operator, or in safe mode), nothing is dialled; turned on, it starts at once.
// TM5. A try that the circuit breaker does not admit was none: it comes again when the breaker admits one.
import { assert } from "../../base/assert.ts";
import { backoffMs } from "../../base/backoff.ts";
import { type TunnelEvent, type TunnelState, tunnelMachine } from "./machine.ts";

export type TunnelView = {
  readonly state: TunnelState;
  /** When it came into this state. */
  readonly since: number;
  readonly failures: number;
  /** When to dial next: in Disconnected (null: turned off) and in BackoffWait. */
  readonly dialAt: number | null;
  /** What went wrong last; empty if nothing did since it was connected. */
  readonly why: string;
};

export type TunnelChance = { readonly now: number; readonly chance: number };

/** What has happened to the tunnel, as far as it changes what to do. */
export type TunnelNews =
  | { readonly kind: "turned on" | "turned off" | "due" | "established" | "welcomed" }
  /** The relay asks for a renewal first. */
  | { readonly kind: "expired" }
  | { readonly kind: "renewed" }
  /** The circuit breaker does not let it dial before this time. */
  | { readonly kind: "barred"; readonly until: number; readonly why: string }
  /** `why` is for people. */
  | { readonly kind: "renewal denied" | "revoked" | "refused" | "lost" | "silent"; readonly why: string };

/** TM2. A relay that kept a connection this long works. */
const STABLE_MS = 30_000;

export const NEW_TUNNEL: TunnelView = { state: tunnelMachine.initial, since: 0, failures: 0, dialAt: null, why: "" };

/** The same if the news changes nothing, for example because it is late. */
export function stepTunnel(before: TunnelView, news: TunnelNews, world: TunnelChance): TunnelView {
  const path = pathOf(before, news);
  if (path.length === 0) return switched(before, news, world.now);
  const state = path.reduce(follow, before.state); // TM1
  const why = "why" in news ? news.why : news.kind === "welcomed" ? "" : before.why;
  const failures = news.kind === "barred" ? before.failures : failuresAfter(before, state, world.now); // TM5
  return { state, since: world.now, failures, why, dialAt: dialAt(state, news, failures, world) };
}

/** TM4. It waits, or is off. */
function switched(before: TunnelView, { kind }: TunnelNews, now: number): TunnelView {
  if (before.state !== "Disconnected") return before;
  if (kind === "turned on" && before.dialAt === null) return { ...before, dialAt: now };
  return kind === "turned off" && before.dialAt !== null ? { ...before, dialAt: null } : before;
}

function follow(state: TunnelState, event: TunnelEvent): TunnelState {
  const next = tunnelMachine.next(state, event);
  assert(next.ok, `a tunnel only takes steps its table has: ${event} in ${state}`);
  return next.value;
}

/** The events of the table that the news stands for, here. */
function pathOf({ state }: TunnelView, news: TunnelNews): readonly TunnelEvent[] {
  if (news.kind === "turned on") return [];
  if (news.kind === "turned off") return tunnelMachine.allows(state, "turned off") ? ["turned off"] : [];
  return PATHS[news.kind][state] ?? [];
}

type Paths = { readonly [state in TunnelState]?: readonly TunnelEvent[] };

const REJECTED = "certificate rejected";
const PATHS: { readonly [kind in Exclude<TunnelNews["kind"], "turned on" | "turned off">]: Paths } = {
  due: { Disconnected: ["initiate connection"], BackoffWait: ["backoff elapsed"] },
  established: { Connecting: ["TCP established"] },
  welcomed: { Authenticating: ["mTLS success"] },
  expired: { Authenticating: [REJECTED, "cert expired", "auto-renew"] },
  renewed: { RequestRenewal: ["new cert obtained"] },
  "renewal denied": {
    Authenticating: [REJECTED, "cert expired", "auto-renew", "renewal failed"],
    RequestRenewal: ["renewal failed"],
  },
  revoked: {
    Authenticating: [REJECTED, "cert revoked", "manual re-registration"],
    Connected: ["connection lost"], // The next connection is told the same.
  },
  refused: { Authenticating: [REJECTED, "transient error"], Connected: ["connection lost"] },
  lost: {
    Connecting: ["connection failed"],
    Authenticating: ["connection failed"],
    Connected: ["connection lost"],
    RequestRenewal: ["connection failed"], // TM3
  },
  barred: { Connecting: ["connection failed"] },
  silent: { Connected: ["no response", "assume dead"] },
};

/** TM2 */
function failuresAfter({ state, since, failures }: TunnelView, next: TunnelState, now: number): number {
  if (next === "BackoffWait") return failures + 1;
  if (state !== "Connected") return failures;
  return now - since >= STABLE_MS ? 0 : failures + 1;
}

function dialAt(state: TunnelState, news: TunnelNews, failures: number, { now, chance }: TunnelChance): number | null {
  const waits = state === "BackoffWait" || (state === "Disconnected" && news.kind !== "turned off");
  if (!waits) return null;
  if (news.kind === "barred") return news.until; // TM5
  return failures === 0 ? now : now + backoffMs(failures, chance); // TM2
}
