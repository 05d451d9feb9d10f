// The standby program's way from a dead host to a home that runs here, on a simulated database and disk.
import { expect, test } from "bun:test";
import { HOLD, MOVE_TO } from "../../src/fleet/calls.ts";
import { sampleOf, seeded } from "../sim/fuzz/profile.ts";
import { HOMES_AT, SimFleet, SimHost } from "./sim-fleet.ts";

const LEASE_MS = 3_000;

async function until(fleet: SimFleet, what: string, is: () => Promise<boolean>): Promise<number> {
  const began = fleet.clock.elapsed();
  for (let looks = 0; looks < 600; looks++) {
    if (await is()) return fleet.clock.elapsed() - began;
    await fleet.wait(200);
  }
  throw new Error(`never true: ${what}. ${Bun.inspect([fleet.events(), await fleet.row("a")])}`);
}

function runsOn(fleet: SimFleet, host: string, home = "a") {
  return async () => {
    const row = await fleet.row(home);
    return row?.owner === host && row.take.startsWith("daemon");
  };
}

test("a dead host's home is taken, made, started, and then its daemon's", async () => {
  const fleet = new SimFleet(1);
  await fleet.enrol("a", LEASE_MS);
  const host = new SimHost(fleet, "one");
  await host.start();
  await until(fleet, "it runs here", runsOn(fleet, "one"));
  await until(fleet, "that is known", async () => fleet.events("running").length === 1);
  expect(await fleet.row("a")).toMatchObject({ epoch: 3, name: "w-a", takeover: "auto" });
  expect(host.made.map(({ directory, from }) => [directory, from])).toEqual([[`${HOMES_AT}/w-a`, "elsewhere"]]);
  expect(fleet.events()).toEqual([
    "w-a was taken over from elsewhere by one",
    `w-a is made at ${HOMES_AT}/w-a`,
    `w-a is started at ${HOMES_AT}/w-a`,
    "w-a runs on one",
  ]);
  expect(JSON.parse(Buffer.from(readAll(host, `${HOMES_AT}/.host/taking.json`)).toString()).wishes).toEqual([]);
  await fleet.wait(20 * LEASE_MS);
  expect(await fleet.row("a")).toMatchObject({ epoch: 3, owner: "one" });
});

test("MI3 a home that falls silent is fetched before it may be taken; if it is heard of again, that copy is removed", async () => {
  const fleet = new SimFleet(4);
  const take = await fleet.enrol("a", LEASE_MS);
  const database = fleet.database();
  const renew = () => fleet.do(database.call(HOLD, { take, leaseMs: LEASE_MS }));
  const host = new SimHost(fleet, "one");
  await host.start();
  for (let seconds = 0; seconds < 20; seconds++) {
    await renew();
    await fleet.wait(1_000);
    expect(host.copies.size).toBe(0);
  }
  await until(fleet, "it is fetched", async () => host.copies.has("a"));
  expect(await fleet.row("a")).toMatchObject({ epoch: 1 });
  await renew();
  await until(fleet, "its copy is removed", async () => !host.copies.has("a"));
  await until(fleet, "it runs here", runsOn(fleet, "one"));
});

test("RV1 RV2 a home that was taken over is started again after its machine, unless it was stopped on purpose", async () => {
  for (const wanted of ["up", "down"]) {
    const fleet = new SimFleet(7);
    await fleet.enrol("a", LEASE_MS);
    const host = new SimHost(fleet, "one");
    const life = await host.start();
    await until(fleet, "it runs here", runsOn(fleet, "one"));
    await until(fleet, "that is known", async () => fleet.events("running").length === 1);
    const directory = `${HOMES_AT}/w-a`;
    host.disk.makeDirectory(`${directory}/recovery`);
    const file = host.disk.open(`${directory}/recovery/wanted.json`, "create");
    file.write(Buffer.from(JSON.stringify({ v: 1, wanted })), 0);
    file.close();
    life.end();
    fleet.powerOff(host.disk, directory);
    await host.start();
    await fleet.wait(10 * LEASE_MS);
    const row = await fleet.row("a");
    expect([row?.epoch, (row?.leaseMs ?? 0) > 0]).toEqual(wanted === "up" ? [4, true] : [3, false]);
    const again = fleet.events("started").filter((words) => words.includes("it is started again"));
    expect(again).toHaveLength(wanted === "up" ? 1 : 0);
  }
});

function readAll(host: SimHost, path: string): Uint8Array {
  const file = host.disk.open(path, "read");
  const bytes = new Uint8Array(file.size());
  file.read(bytes, 0);
  return bytes;
}

test("a home that was released is left alone, and one that was released in order to move here is taken at once", async () => {
  const fleet = new SimFleet(2);
  const take = await fleet.enrol("a", 60 * LEASE_MS);
  const host = new SimHost(fleet, "one");
  await host.start();
  await fleet.release(take);
  await fleet.wait(10 * LEASE_MS);
  expect(await fleet.row("a")).toMatchObject({ epoch: 1 });
  await fleet.do(fleet.database().call(MOVE_TO, { home: "a", host: "one" }));
  const took = await until(fleet, "it is taken", async () => ((await fleet.row("a"))?.epoch ?? 0) > 1);
  expect(took).toBeLessThan(LEASE_MS);
  await until(fleet, "it runs here", runsOn(fleet, "one"));
  await until(fleet, "the wish is fulfilled", async () => (await fleet.row("a"))?.moveTo === "");
});

test("TN5 a home that was to move to another host when its owner died is taken, and runs here", async () => {
  const fleet = new SimFleet(5);
  await fleet.enrol("a", LEASE_MS);
  await fleet.do(fleet.database().call(MOVE_TO, { home: "a", host: "another" }));
  const host = new SimHost(fleet, "one");
  await host.start();
  await until(fleet, "it runs here", runsOn(fleet, "one"));
  expect(await fleet.row("a")).toMatchObject({ moveTo: "" });
});

test("TN3 TN4 what cannot be made is tried again, and is free for others meanwhile", async () => {
  const fleet = new SimFleet(3);
  await fleet.enrol("a", LEASE_MS);
  const host = new SimHost(fleet, "one");
  host.failures = 4;
  await host.start();
  await until(fleet, "it has failed", async () => fleet.events("failed").length > 0);
  expect(fleet.events("failed")[0]).toContain("There is a hole. Mend it.");
  await until(fleet, "its lease ends", async () => (await fleet.row("a"))?.leaseMs === 0);
  await until(fleet, "it runs here", runsOn(fleet, "one"));
  expect(host.made.length).toBeGreaterThan(4);
});

test("of several hosts one takes a home, and the others give way", async () => {
  const fleet = new SimFleet(4);
  await fleet.enrol("a", LEASE_MS);
  const hosts = ["one", "three", "seven"].map((name) => new SimHost(fleet, name));
  for (const host of hosts) await host.start();
  await until(fleet, "it runs", async () => fleet.events("running").length === 1);
  await fleet.wait(10 * LEASE_MS);
  expect([fleet.events("taken").length, fleet.events("running").length]).toEqual([1, 1]);
  expect(hosts.reduce((sum, { made }) => sum + made.length, 0)).toBe(1);
});

test("SB2 one program acts for a host, and the next one when it is gone", async () => {
  const fleet = new SimFleet(5);
  const host = new SimHost(fleet, "one");
  const first = await host.start();
  await host.start();
  await fleet.wait(3 * LEASE_MS);
  expect(host.said.filter((words) => words.includes("acts for this host")).length).toBe(1);
  first.end();
  await fleet.wait(3 * LEASE_MS);
  expect(host.said.filter((words) => words.includes("acts for this host")).length).toBe(2);
});

/** The standby is killed at its `at`th moment; returns false if there were fewer. */
async function killedAt(at: number): Promise<boolean> {
  const fleet = new SimFleet(6);
  await fleet.enrol("a", LEASE_MS);
  const host = new SimHost(fleet, "one");
  let moments = 0;
  const first = await host.start((life) => {
    if (moments++ === at) life.end();
  });
  for (let looks = 0; looks < 100 && !first.dead && fleet.events("running").length === 0; looks++)
    await fleet.wait(200);
  if (moments <= at) return false;
  first.end();
  const next = await host.start();
  await until(fleet, `it runs after a kill at moment ${at}`, runsOn(fleet, "one"));
  await until(fleet, "nothing is under way any more", async () => {
    const { wishes } = JSON.parse(Buffer.from(readAll(host, `${HOMES_AT}/.host/taking.json`)).toString());
    return wishes.length === 0;
  });
  expect(new Set(fleet.events("running"))).toEqual(new Set(["w-a runs on one"]));
  expect(new Set(host.made.map(({ directory }) => directory))).toEqual(new Set([`${HOMES_AT}/w-a`]));
  expect(new Set(host.made.map(({ take }) => take.id)).size).toBe(1);
  next.end();
  return true;
}

test("TN1 killed at any moment, the next program finishes what was begun: one take, one directory, one start", async () => {
  let kills = 0;
  for (let at = 0; ; at++) {
    if (sampleOf([at], 3, at).length === 0 && at < 300) continue;
    if (!(await killedAt(at))) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(20);
});

test("a healthy owner is never robbed, however the database stands still, and a dead one is taken", async () => {
  for (let turn = 0; turn < 6; turn++) {
    const troubles = ["no answer while frozen", "refused", "cut after", "cut, and committed later"] as const;
    const fleet = new SimFleet(seeded(turn).int(1_000_000), { troubles: [...troubles], rate: 0.02 });
    const [healthy] = [await fleet.enrol("a", LEASE_MS), await fleet.enrol("b", LEASE_MS)];
    const owner = fleet.owner(healthy);
    for (const name of ["one", "three"]) await new SimHost(fleet, name).start();
    await fleet.wait(300_000);
    expect([turn, owner.isFenced, (await fleet.row("a"))?.owner]).toEqual([turn, false, "elsewhere"]);
    expect((await fleet.row("b"))?.owner).not.toBe("elsewhere");
    owner.close();
  }
});
