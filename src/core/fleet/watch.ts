// When this host may take over a home of another: what the home's row says, and for how long it was watched. Times are
// monotonic milliseconds of this process.
// WA1. Whoever takes has watched the database for a whole lease without a gap, and in all that time the home's row did
//      not change: not its epoch, its take, the end of its lease or of its log. What counts is from the first answer
//      that had this row to the last question that was answered with it.
// WA2. A gap starts the count again: an answer that came late, or a look that was due and not sent. So a database that
//      stood still, and a process that was paused, count for nothing. A gap that is not noticed is shorter than half a
//      lease, and a healthy owner renews three times in one.
// WA3. After a gap, and at first sight, the count is at least as long as a healthy owner may wait between two tries to
//      reach the database (RETRIES of fleet/database.ts): owners come first.
// WA4. An owner with a longer lease than ours is given all of it, whatever the clock of the database says by now.
// WA5. Never by itself: a home on this host, one that nobody ever had, one whose takeover is `manual`, one that no
//      pattern names, and one that was released, which means that it was stopped on purpose.
// WA6. Its operator may wish a home here (`moveTo`). If it was released it is then taken at once; otherwise, in
//      whatever way it is taken over, its owner must be gone (WA1).
// WA7. Of several hosts that may take, each waits for a time of its own, up to a quarter of a lease.
// WA8. A home whose owner has missed a renewal may be got ready for, and nothing else follows from that.

export type HomeFacts = {
  readonly id: string;
  readonly name: string;
  readonly take: string;
  readonly epoch: number;
  /** The id of the host that it is on. */
  readonly host: string;
  readonly leaseMs: number;
  /** Changes with each renewal; empty: it was released, or never taken. */
  readonly leaseEnd: string;
  readonly lastSeq: number;
  readonly takeover: string;
  readonly moveTo: string;
};

/** One answer of the database: when it was asked for, when it was here, and what it said. */
export type Look = { readonly sentAt: number; readonly gotAt: number; readonly homes: readonly HomeFacts[] };

type Unchanged = { readonly row: string; readonly since: number; readonly needMs: number };

/** What was seen so far. */
export type Watch = {
  readonly last: Pick<Look, "sentAt" | "gotAt"> | undefined;
  readonly homes: ReadonlyMap<string, Unchanged>;
};

export const NOTHING_WATCHED: Watch = { last: undefined, homes: new Map() };

/** `takes`: whether a pattern of this host names it. */
export type TakingHost = { readonly id: string; readonly name: string; takes(name: string): boolean };

export type WatchVerdict =
  | { readonly kind: "take"; readonly why: "moved" | "expired" }
  /** It may be taken if a look that is sent then, or later, finds it unchanged. */
  | { readonly kind: "wait"; readonly until: number }
  | { readonly kind: "no"; readonly why: "here" | "nobody's" | "released" | "manual" | "not wanted" };

/** Three looks in one lease. */
export function lookEveryMs(leaseMs: number): number {
  return leaseMs / 3;
}

/** A host that has not announced itself for so many leases is not there; a busy one may be late. */
const MISSED_LEASES = 3;
const MIN_AWAY_MS = 60_000;

/** Since when a host that was not heard of is away: it announces itself once in a lease. */
export function awayMs(leaseMs: number): number {
  return Math.max(MIN_AWAY_MS, MISSED_LEASES * leaseMs);
}

/** WA3: 5 s and a fifth, and the call itself. */
const OWNERS_RETURN_MS = 7_000;

/** `chance`: in [0, 1), for WA7. */
export function afterLook(watch: Watch, look: Look, leaseMs: number, chance: number): Watch {
  const isGap = watch.last === undefined || isLate(watch.last, look, leaseMs);
  const known = isGap ? NOTHING_WATCHED.homes : watch.homes; // WA2
  const homes = look.homes.map((home): [string, Unchanged] => {
    const row = `${home.epoch} ${home.take} ${home.leaseEnd} ${home.lastSeq}`;
    const before = known.get(home.id);
    if (before?.row === row) return [home.id, before];
    const returnMs = before === undefined ? OWNERS_RETURN_MS : 0; // WA3
    const needMs = Math.max(leaseMs, returnMs, home.leaseMs) + chance * (leaseMs / 4); // WA4, WA7
    return [home.id, { row, since: look.gotAt, needMs }];
  });
  return { last: { sentAt: look.sentAt, gotAt: look.gotAt }, homes: new Map(homes) };
}

/** WA2 */
function isLate(last: Pick<Look, "sentAt">, { sentAt, gotAt }: Look, leaseMs: number): boolean {
  return gotAt - sentAt > leaseMs / 3 || gotAt - last.sentAt > leaseMs / 2;
}

/** `home`: as the last look found it. */
export function mayTake(watch: Watch, home: HomeFacts, host: TakingHost): WatchVerdict {
  if (home.epoch === 0) return { kind: "no", why: "nobody's" };
  if (home.leaseEnd === "" && home.moveTo === host.name) return { kind: "take", why: "moved" }; // WA6
  const why = whyNever(home, host);
  if (why !== undefined) return { kind: "no", why };
  const unchanged = watch.homes.get(home.id);
  if (unchanged === undefined || watch.last === undefined) return { kind: "wait", until: Number.POSITIVE_INFINITY };
  const until = unchanged.since + unchanged.needMs;
  if (watch.last.sentAt < until) return { kind: "wait", until }; // WA1
  if (home.leaseMs > 0) return { kind: "wait", until: watch.last.gotAt + home.leaseMs };
  return { kind: "take", why: "expired" };
}

/** WA5 */
function whyNever(home: HomeFacts, host: TakingHost) {
  if (home.host === host.id) return "here";
  if (home.leaseEnd === "") return "released";
  if (home.moveTo === host.name) return undefined; // WA6
  if (home.takeover !== "auto") return "manual";
  return host.takes(home.name) ? undefined : "not wanted";
}

/** WA8. Half a lease has passed without a word of its owner, as it was watched and by the clock of the database. */
export function isSilent(watch: Watch, home: HomeFacts, host: TakingHost, leaseMs: number): boolean {
  const unchanged = watch.homes.get(home.id);
  if (unchanged === undefined || watch.last === undefined || mayTake(watch, home, host).kind === "no") return false;
  return watch.last.sentAt - unchanged.since >= leaseMs / 2 && home.leaseMs <= leaseMs / 2;
}

/** WA2. Whether what the last look said may still be acted upon: a process that was paused since looks again. */
export function isFresh(watch: Watch, now: number, leaseMs: number): boolean {
  return watch.last !== undefined && now - watch.last.sentAt <= leaseMs / 2;
}
