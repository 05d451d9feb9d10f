// The part of contract.ts about what homes show of themselves, and ask of each other.
import { expect } from "bun:test";
import { ASK, ASK_ANSWER, ASKS, FORGET_ASK, REPLY } from "../../src/fleet/ask-calls.ts";
import { DESCRIBE, HOLD } from "../../src/fleet/calls.ts";
import { LIST_HOME, LISTINGS } from "../../src/fleet/listing-calls.ts";
import { entries, LEASE_MS, type Place, Sure } from "./sure.ts";

export const BETWEEN_HOMES: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  "a home's listing is replaced by its owner alone, and all homes are read": async ({ database, home }) => {
    const sure = new Sure(database);
    const take = await sure.owned(home);
    await sure.do(DESCRIBE, { take, name: `n ${home}`, takeover: "auto", host: "h" });
    const see = async () => (await sure.do(LISTINGS, { after: "" })).find((row) => row.home === home);
    const plain = { home, name: `n ${home}`, owner: "a", hostId: "h" };
    expect(await see()).toMatchObject({ ...plain, ageMs: undefined, bytes: Uint8Array.of() });
    for (const bytes of [entries(1, 3), entries(4, 9)]) expect(await sure.do(LIST_HOME, { take, bytes })).toBe(true);
    expect(await sure.do(LIST_HOME, { take: { ...take, id: "no" }, bytes: entries(1, 1) })).toBe(false);
    const { leaseMs = 0, ageMs = -1, ...row } = (await see()) ?? {};
    expect(row).toEqual({ ...plain, bytes: entries(4, 9) });
    expect(leaseMs).toBeGreaterThan(LEASE_MS / 2);
    expect([ageMs >= 0, ageMs < LEASE_MS]).toEqual([true, true]);
    expect((await sure.do(LISTINGS, { after: home })).some((other) => other.home === home)).toBe(false);
  },

  "what others ask is seen by the owner alone, until it is answered or nobody waits": async ({ database, home }) => {
    const sure = new Sure(database);
    const take = await sure.owned(home);
    const stale = { ...take, id: "no" };
    const id = `ask of ${home}`;
    const ask = { id, home, host: "b", bytes: entries(1, 3), forMs: LEASE_MS };
    const isAsked = async () => (await sure.do(HOLD, { take, leaseMs: LEASE_MS }))?.isAsked;
    expect(await sure.do(ASK, { ...ask, home: `no ${home}` })).toBeUndefined();
    expect(await sure.do(ASK_ANSWER, id)).toBeUndefined();
    expect(await isAsked()).toBe(false);
    expect(await sure.do(ASK, { ...ask, id: `late ${id}`, forMs: -1 })).toEqual(Uint8Array.of());
    expect(await isAsked()).toBe(false);
    expect(await sure.do(ASK, ask)).toEqual(Uint8Array.of());
    expect(await sure.do(ASK, { ...ask, bytes: entries(7, 9) })).toEqual(Uint8Array.of());
    expect(await sure.do(ASK_ANSWER, id)).toEqual(Uint8Array.of());
    expect(await isAsked()).toBe(true);
    expect(await sure.do(ASKS, { take: stale })).toEqual([]);
    expect(await sure.do(ASKS, { take })).toEqual([{ id, host: "b", bytes: entries(1, 3) }]);
    const reply = entries(4, 5);
    expect(await sure.do(REPLY, { take: stale, id, bytes: reply })).toBe(false);
    expect(await sure.do(REPLY, { take, id: `no ${id}`, bytes: reply })).toBe(false);
    for (const _ of [1, 2]) expect(await sure.do(REPLY, { take, id, bytes: reply })).toBe(true);
    expect(await isAsked()).toBe(false);
    expect(await sure.do(ASKS, { take })).toEqual([]);
    expect(await sure.do(ASK, ask)).toEqual(reply);
    expect(await sure.do(ASK_ANSWER, id)).toEqual(reply);
    for (const one of [id, `late ${id}`]) await sure.do(FORGET_ASK, one);
    expect(await sure.do(ASK_ANSWER, id)).toBeUndefined();
    expect(await sure.do(ASK_ANSWER, `late ${id}`)).toEqual(Uint8Array.of());
  },
};
