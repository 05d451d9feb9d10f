// Tables of what a relay decides: tokens, enrolment, renewal, revocation, and who is let in.
import { describe, expect, test } from "bun:test";
import { type Admission, admit, type ShownCertificate } from "./admission.ts";
import {
  apply,
  EMPTY,
  enrol,
  labelOf,
  makeToken,
  type Records,
  type RelayEvent,
  renew,
  revoke,
  seen,
} from "./records.ts";

const [NOW, HOUR] = [1_000_000_000_000, 3_600_000];
const GRACE = 10 * HOUR;

function after(before: Records, events: readonly RelayEvent[]): Records {
  return events.reduce(apply, before);
}

function withToken(before = EMPTY, hash = "t", name: string | null = null): Records {
  const made = makeToken(before, { hash, name, lifeMs: HOUR }, NOW);
  if (!made.ok) throw new Error(made.error.code);
  return after(before, made.value);
}

const GIVEN = { home: "h", label: "laptop-1", name: "laptop", token: "t", serial: "4a", notAfter: NOW + HOUR };

function enrolled(): Records {
  const made = enrol(withToken(), GIVEN, NOW);
  if (!made.ok) throw new Error(made.error.code);
  return after(withToken(), made.value);
}

describe("tokens", () => {
  test("RG1 one that is unknown, used or expired enrols nobody", () => {
    const cases: [Records, string, number, string][] = [
      [withToken(), "other", NOW, "no-token"],
      [enrolled(), "t", NOW, "used-token"],
      [withToken(), "t", NOW + HOUR, "old-token"],
    ];
    for (const [records, token, now, code] of cases) {
      const done = enrol(records, { ...GIVEN, token, home: "h2", label: "l2" }, now);
      expect(done.ok ? "ok" : done.error.code).toBe(code);
    }
  });

  test("one that has expired is forgotten when the next is made, and too many open ones are refused", () => {
    const later = after(withToken(), [
      { event: "relay.token.made", data: { hash: "u", name: null, until: NOW + 9 * HOUR, at: NOW + 2 * HOUR } },
    ]);
    expect([...later.tokens.keys()]).toEqual(["u"]);
    let records = EMPTY;
    for (let count = 0; count < 100; count += 1) records = withToken(records, `t${count}`);
    const more = makeToken(records, { hash: "more", name: null, lifeMs: HOUR }, NOW);
    expect(more.ok ? "ok" : more.error.code).toBe("too-many-tokens");
  });

  test("a token's name is the home's, else the home says it", () => {
    const named = enrol(withToken(EMPTY, "t", "desk"), GIVEN, NOW);
    expect(named.ok && named.value[0]?.data).toMatchObject({ name: "desk" });
    expect(enrolled().homes.get("h")?.name).toBe("laptop");
  });
});

test("RG3 a label and an id belong to one home for good", () => {
  const records = after(withToken(enrolled(), "t2"), [{ event: "relay.home.revoked", data: { home: "h", at: NOW } }]);
  for (const taken of [
    { home: "h", label: "new" },
    { home: "h2", label: "laptop-1" },
  ]) {
    const done = enrol(records, { ...GIVEN, ...taken, token: "t2" }, NOW);
    expect(done.ok ? "ok" : done.error.code).toBe("taken");
  }
});

test("RG2 a revoked home is not renewed, and revoking it again changes nothing", () => {
  const [first] = [revoke(enrolled(), "h", NOW)];
  const records = after(enrolled(), first.ok ? first.value : []);
  expect(records.homes.get("h")?.revokedAt).toBe(NOW);
  expect(revoke(records, "h", NOW + 1)).toEqual({ ok: true, value: [] });
  expect(revoke(records, "other", NOW).ok).toBe(false);
  expect(renew(records, { home: "h", serial: "4b", notAfter: NOW }, NOW).ok).toBe(false);
  expect(after(records, [{ event: "relay.home.revoked", data: { home: "h", at: NOW + 5 } }])).toEqual(records);
});

test("RG4 visits are recorded by the hour", () => {
  expect(seen(enrolled(), "h", NOW + HOUR - 1)).toEqual([]);
  expect(seen(enrolled(), "other", NOW + HOUR)).toEqual([]);
  expect(after(enrolled(), seen(enrolled(), "h", NOW + HOUR)).homes.get("h")?.seenAt).toBe(NOW + HOUR);
});

describe("admission", () => {
  const shown: ShownCertificate = { serial: "4a", name: "h", notBefore: NOW - HOUR, notAfter: NOW + HOUR };
  const revoked = after(enrolled(), [{ event: "relay.home.revoked", data: { home: "h", at: NOW } }]);
  const asked = (records: Records, given: Partial<ShownCertificate>, now: number, isOurs = true): string => {
    const found: Admission = admit(records, { isOurs, certificate: { ...shown, ...given } }, now, GRACE);
    return found.mode === "refused" ? found.reason : found.mode;
  };

  test("AM1 AM2 AM3 by certificate, records and time", () => {
    expect(admit(enrolled(), { isOurs: false, certificate: null }, NOW, GRACE)).toEqual({ mode: "enrol" });
    const cases: [string, string][] = [
      [asked(enrolled(), {}, NOW), "full"],
      [asked(enrolled(), {}, NOW + HOUR - 1), "full"],
      [asked(enrolled(), {}, NOW + HOUR), "renew"],
      [asked(enrolled(), {}, NOW + HOUR + GRACE - 1), "renew"],
      [asked(enrolled(), {}, NOW + HOUR + GRACE), "expired"],
      [asked(enrolled(), {}, NOW - HOUR - 1), "early"],
      [asked(enrolled(), {}, NOW, false), "unknown"],
      [asked(enrolled(), { serial: "4b" }, NOW), "unknown"],
      [asked(enrolled(), { name: "other" }, NOW), "unknown"],
      [asked(EMPTY, {}, NOW), "unknown"],
      [asked(revoked, {}, NOW), "revoked"],
      [asked(revoked, {}, NOW + HOUR), "revoked"],
    ];
    for (const [found, expected] of cases) expect(found).toBe(expected);
  });

  test("a renewed certificate is known beside the last one", () => {
    const more = renew(enrolled(), { home: "h", serial: "4b", notAfter: NOW + 9 * HOUR }, NOW);
    const records = after(enrolled(), more.ok ? more.value : []);
    expect([asked(records, {}, NOW), asked(records, { serial: "4b" }, NOW)]).toEqual(["full", "full"]);
  });
});

test("a label is a host name, whatever the home is called", () => {
  const cases = [
    ["My Laptop!", "my-laptop-x1"],
    ["", "home-x1"],
    ["日本", "home-x1"],
    ["--a--b--", "a-b-x1"],
    ["a".repeat(100), `${"a".repeat(30)}-x1`],
    [`${"a".repeat(29)} b`, `${"a".repeat(29)}-x1`],
  ] as const;
  for (const [name, label] of cases) expect(labelOf(name, "x1")).toBe(label);
});
