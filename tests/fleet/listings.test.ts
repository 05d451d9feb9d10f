// What homes show of themselves to the other hosts: when it is stored, and what is read of it.
import { expect, test } from "bun:test";
import { ENROL, TAKE, type Take } from "../../src/fleet/calls.ts";
import { Database } from "../../src/fleet/database.ts";
import { Lister, type OwnRows } from "../../src/fleet/lister.ts";
import { LIST_HOME } from "../../src/fleet/listing-calls.ts";
import { LISTING_RENEWED_MS, readListings } from "../../src/fleet/listings.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import type { ListedRun } from "../../src/wire/rpc/workflow.ts";
import { pause } from "../../src/world/wait.ts";
import { SimClock } from "../sim/clock.ts";
import { driven, SimPostgres } from "../sim/postgres.ts";
import { SimRandom } from "../sim/random.ts";
import { NO_TARGET } from "./model.ts";

const NONE: OwnRows = { terminals: [], runs: [], agents: [], prompts: [], closed: [] };
const PLACE = { directory: "/h", command: ["holdfast"], ssh: "me@there" };
const random = new SimRandom(5);
const clock = new SimClock();
const database = new Database({
  postgres: new SimPostgres({ clock, random: new SimRandom(1), mode: "sync", rate: 0 }),
  target: NO_TARGET,
  clock,
});
const seal = new FleetSeal(random, [new Uint8Array(32).fill(1)]);

/** Only what every version has. */
function runs(...names: string[]): ListedRun[] {
  return names.map((name) => ({ id: name, name, state: "running", startedAt: "", needs: [] }) as unknown as ListedRun);
}

async function owned(home: string): Promise<Take> {
  const take = { home, epoch: 1, id: `${home} 1` };
  await driven(clock, database.call(ENROL, { home, lastSeq: 0 }));
  await driven(clock, database.call(TAKE, { take, owner: "a", leaseMs: 60_000, ifExpired: true }));
  return take;
}

/** `home: its runs, or why there are none; its age`, of each. */
async function seen(): Promise<string[]> {
  const read = await driven(clock, readListings(database, seal));
  if (!read.ok) throw new Error(read.error.message);
  return read.value.map(({ home, listing, why, ageMs }) => {
    const words = listing?.runs.map(({ name }) => name).join(" ") ?? why;
    return `${home}: ${words}; ${ageMs === undefined ? "" : Math.floor(ageMs / 1_000)}`;
  });
}

test("LI1 a listing is stored when it has changed, and again after a minute, under each take", async () => {
  const take = await owned("one");
  let now: OwnRows | undefined = { ...NONE, runs: runs("build") };
  const changed = async () => {
    const given = now;
    now = undefined;
    return given;
  };
  const lister = new Lister({ database, seal, clock, place: PLACE, lists: { changed, close: () => undefined } });
  const round = () => driven(clock, lister.round(take));
  expect(await round()).toEqual({ ok: true, value: true });
  expect(await seen()).toEqual(["one: build; 0"]);
  await driven(clock, pause(clock, 5_000));
  await round();
  expect(await seen()).toEqual(["one: build; 5"]);
  now = { ...NONE, runs: runs("build", "ship") };
  await round();
  expect(await seen()).toEqual(["one: build ship; 0"]);
  await driven(clock, pause(clock, LISTING_RENEWED_MS));
  await round();
  expect(await seen()).toEqual(["one: build ship; 0"]);
});

test("FL1 a listing that does not open, or that is unknown, is its home's trouble alone", async () => {
  const [two, three, four] = [await owned("two"), await owned("three"), await owned("four")];
  const store = (take: Take, bytes: Uint8Array) => driven(clock, database.call(LIST_HOME, { take, bytes }));
  await store(two, seal.note(["listing", "one"], Buffer.from("x")));
  await store(three, seal.note(["listing", "three"], Buffer.from("{}")));
  await store(four, new FleetSeal(random, [new Uint8Array(32).fill(2)]).note(["listing", "four"], Buffer.from("{}")));
  const lines = await seen();
  expect(lines).toHaveLength(4);
  expect(lines).toContainEqual(expect.stringMatching(/^one: build ship; /));
  expect(lines).toContainEqual(expect.stringMatching(/^two: listing of two does not open/));
  expect(lines).toContainEqual(expect.stringMatching(/^three: a newer version/));
  expect(lines).toContainEqual(expect.stringMatching(/^four: listing of four is sealed with another key/));
});

test("LG1 a row without what every version has is left out and counted", async () => {
  const take = await owned("odd");
  const odd = [...runs("fine"), { id: 7 } as unknown as ListedRun];
  const lists = { changed: async () => ({ ...NONE, runs: odd }), close: () => undefined };
  await driven(clock, new Lister({ database, seal, clock, place: PLACE, lists }).round(take));
  const read = await driven(clock, readListings(database, seal));
  const found = read.ok ? read.value.find(({ home }) => home === "odd")?.listing : undefined;
  expect(found?.runs.map(({ name }) => name)).toEqual(["fine"]);
  expect(found?.more.runs).toBe(1);
});
