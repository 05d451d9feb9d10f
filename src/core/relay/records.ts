// What a relay keeps: enrolment tokens, the homes that enrolled with them, their certificates, and which are revoked.
// Pure; src/relay/records-store.ts makes the events durable.
// RG1. A token is used once and expires. Only the hash of its secret is kept.
// RG2. A revoked home stays known, so that it is told why; it never becomes enrolled again.
// RG3. A label names one home for good: it is part of an address that people keep.
// RG4. A home's last visit is kept to the hour, so that a home that connects often does not fill the log.
import { ok, type Result, refused } from "../../base/result.ts";

/** Times are in milliseconds. */
export type Token = {
  /** SHA-256 of its secret. */
  readonly hash: string;
  /** What the home will be called; null: it says so itself. */
  readonly name: string | null;
  readonly until: number;
  readonly used: boolean;
};

export type Issued = { readonly serial: string; readonly notAfter: number };

export type EnrolledHome = {
  readonly id: string;
  /** The first part of its host name. */
  readonly label: string;
  readonly name: string;
  readonly enrolledAt: number;
  readonly seenAt: number;
  /** The newest one is the last. */
  readonly certificates: readonly Issued[];
  readonly revokedAt: number | null;
};

export type Records = {
  readonly tokens: ReadonlyMap<string, Token>;
  readonly homes: ReadonlyMap<string, EnrolledHome>;
  /** The ids of homes. */
  readonly byLabel: ReadonlyMap<string, string>;
};

type At = { readonly at: number };
export type Enrolment = At &
  Issued & { readonly home: string; readonly label: string; readonly name: string; readonly token: string };
export type Renewal = At & Issued & { readonly home: string };

export type RelayEvent =
  | { readonly event: "relay.token.made"; readonly data: At & Omit<Token, "used"> }
  | { readonly event: "relay.home.enrolled"; readonly data: Enrolment }
  | { readonly event: "relay.certificate.issued"; readonly data: Renewal }
  | { readonly event: "relay.home.revoked"; readonly data: At & { readonly home: string } }
  | { readonly event: "relay.home.seen"; readonly data: At & { readonly home: string } }
  | { readonly event: "relay.home.replaced"; readonly data: At & { readonly home: string } };

export const EMPTY: Records = { tokens: new Map(), homes: new Map(), byLabel: new Map() };

/** Of one home. A home renews a few times in a certificate's life; older ones have ended long ago. */
const MAX_CERTIFICATES = 100;
/** More than a person makes before they are used. */
const MAX_TOKENS = 100;
/** One process serves them all; revoked ones count, because they stay known (RG2). */
const MAX_HOMES = 2_000;
const HOUR_MS = 3_600_000;
const MAX_SLUG = 30;

export function apply(before: Records, event: RelayEvent): Records {
  const { data } = event;
  switch (event.event) {
    case "relay.token.made":
      return { ...before, tokens: withToken(before.tokens, { ...event.data, used: false }, data.at) };
    case "relay.home.enrolled":
      return enrolled(before, event.data);
    case "relay.certificate.issued":
      return changed(before, event.data.home, (home) => ({
        ...home,
        certificates: [...home.certificates, issuedIn(event.data)].slice(-MAX_CERTIFICATES),
      }));
    case "relay.home.revoked":
      return changed(before, event.data.home, (home) => ({ ...home, revokedAt: home.revokedAt ?? data.at }));
    case "relay.home.seen":
      return changed(before, event.data.home, (home) => ({ ...home, seenAt: data.at }));
    case "relay.home.replaced":
      return before; // For the people who read the log.
  }
}

/** Those that have expired are forgotten. */
function withToken(tokens: Records["tokens"], { hash, name, until, used }: Token, now: number): Records["tokens"] {
  const kept = [...tokens].filter(([, one]) => one.until > now);
  return new Map([...kept, [hash, { hash, name, until, used }]]);
}

function enrolled(before: Records, given: Enrolment): Records {
  const { home: id, label, name, token, at } = given;
  const used = before.tokens.get(token);
  const home = { id, label, name, enrolledAt: at, seenAt: at, certificates: [issuedIn(given)], revokedAt: null };
  return {
    tokens: used === undefined ? before.tokens : new Map(before.tokens).set(token, { ...used, used: true }), // RG1
    homes: new Map(before.homes).set(id, home),
    byLabel: new Map(before.byLabel).set(label, id),
  };
}

function issuedIn({ serial, notAfter }: Issued): Issued {
  return { serial, notAfter };
}

function changed(before: Records, id: string, change: (home: EnrolledHome) => EnrolledHome): Records {
  const home = before.homes.get(id);
  return home === undefined ? before : { ...before, homes: new Map(before.homes).set(id, change(home)) };
}

export function makeToken(
  { tokens }: Records,
  given: { readonly hash: string; readonly name: string | null; readonly lifeMs: number },
  now: number,
): Result<readonly RelayEvent[]> {
  const open = [...tokens.values()].filter(({ until, used }) => !used && until > now);
  if (open.length >= MAX_TOKENS)
    return refused(
      "too-many-tokens",
      `There are ${MAX_TOKENS} tokens that nobody has used.`,
      "Wait until they expire.",
    );
  const { hash, name, lifeMs } = given;
  return ok([{ event: "relay.token.made", data: { hash, name, until: now + lifeMs, at: now } }]);
}

/** RG1. The token with this hash, if a home may enrol with it. */
export function usableToken({ tokens, homes }: Records, hash: string, now: number): Result<Token> {
  const token = tokens.get(hash);
  const hint = "Make a new one on the relay: holdfast relay token";
  if (token === undefined) return refused("no-token", "This token is not known here.", hint);
  if (token.used) return refused("used-token", "This token was used already.", hint);
  if (token.until <= now) return refused("old-token", "This token has expired.", hint);
  if (homes.size >= MAX_HOMES) return refused("full", "This relay has no room for another home.", "Ask its operator.");
  return ok(token);
}

export function enrol(before: Records, given: Omit<Enrolment, "at">, now: number): Result<readonly RelayEvent[]> {
  const token = usableToken(before, given.token, now);
  if (!token.ok) return token;
  const name = token.value.name ?? given.name;
  if (before.byLabel.has(given.label) || before.homes.has(given.home))
    return refused("taken", "This name was just given to another home.", "Try again."); // RG3
  return ok([{ event: "relay.home.enrolled", data: { ...given, name, at: now } }]);
}

export function renew(before: Records, given: Omit<Renewal, "at">, now: number): Result<readonly RelayEvent[]> {
  const home = before.homes.get(given.home);
  if (home === undefined || home.revokedAt !== null)
    return refused("not-enrolled", "This home is not enrolled.", "Enrol again with a new token.");
  return ok([{ event: "relay.certificate.issued", data: { ...given, at: now } }]);
}

/** Nothing to do if it is revoked already. */
export function revoke(before: Records, id: string, now: number): Result<readonly RelayEvent[]> {
  const home = before.homes.get(id);
  if (home === undefined) return refused("unknown", `There is no home ${id}.`, "See `holdfast relay ls`.");
  return ok(home.revokedAt === null ? [{ event: "relay.home.revoked", data: { home: id, at: now } }] : []);
}

/** RG4 */
export function seen(before: Records, id: string, now: number): readonly RelayEvent[] {
  const home = before.homes.get(id);
  if (home === undefined || Math.abs(now - home.seenAt) < HOUR_MS) return [];
  return [{ event: "relay.home.seen", data: { home: id, at: now } }];
}

/** A host name of letters, digits and dashes, which tells what the home is called. */
export function labelOf(name: string, suffix: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ["home"];
  return `${words.join("-").slice(0, MAX_SLUG).replace(/-$/, "")}-${suffix}`;
}
