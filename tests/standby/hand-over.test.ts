// Moves of a home that do not come about: wherever they stop, the home goes on where it was (HO1 to HO4).
import { expect, test } from "bun:test";
import { ok, type Result, refused } from "../../src/base/result.ts";
import { decideStart } from "../../src/core/fleet/start.ts";
import { ANNOUNCE, type Call, LOOK, MOVE_TO, TAKE, type Take } from "../../src/fleet/calls.ts";
import { writeOwner } from "../../src/home/fleet-files.ts";
import { HandOver } from "../../src/standby/hand-over.ts";
import { realWorld } from "../../src/world/world.ts";
import { SimDisk } from "../sim/disk.ts";
import { SimFleet } from "./sim-fleet.ts";

const LEASE_MS = 3_000;
const WISHED = "other";

/** The host that has the home, with a daemon that is played: it decides as the real one does at its start. */
class Source {
  readonly fleet: SimFleet;
  readonly said: string[] = [];
  readonly leaving: boolean[] = [];
  readonly #disk = new SimDisk();
  #take: Take = { home: "a", epoch: 1, id: "a 1" };
  role: "owner" | "follower" = "owner";
  rounds = 0;
  shipping: () => Promise<Result<undefined>> = async () => ok(undefined);

  constructor(seed: number) {
    this.fleet = new SimFleet(seed);
  }

  async begin(isThere = true): Promise<this> {
    this.#take = await this.fleet.enrol("a", LEASE_MS);
    for (const path of ["/h", "/h/fleet"]) this.#disk.makeDirectory(path);
    const { home, epoch, id } = this.#take;
    await writeOwner({ disk: this.#disk, home: "/h" }, { home, take: { epoch, id }, wished: null });
    if (isThere) await this.announce();
    const database = this.fleet.database();
    const facts = { id: "1", name: "elsewhere", address: "", labels: [], capacity: 0 };
    const host = { ...facts, leaseMs: LEASE_MS, takes: [], homes: "/homes" };
    const round = () => {
      this.rounds += 1;
      return this.shipping();
    };
    const handOver = new HandOver({
      ...{ world: { ...realWorld(), disk: this.#disk, clock: this.fleet.clock }, host, database, home: "/h" },
      shipper: { round, pauseMs: 1_000 },
      daemon: { role: async () => this.role, handOver: () => this.next() },
      leave: (isLeaving) => void this.leaving.push(isLeaving),
      say: (words) => void this.said.push(words),
      broken: (error) => {
        throw error;
      },
    });
    handOver.start();
    return this;
  }

  call<P, R>(call: Call<P, R>, parameters: P) {
    return this.fleet.do(this.fleet.database().call(call, parameters));
  }

  announce() {
    const host = { id: "2", name: WISHED, labels: [], capacity: 0, version: "1", address: "", takes: [] };
    return this.call(ANNOUNCE, host);
  }

  wish(host: string) {
    return this.call(MOVE_TO, { home: "a", host });
  }

  /** The next daemon, after this one has ended. */
  async next(): Promise<void> {
    const row = await this.fleet.database().call(LOOK, "a");
    const home = row.kind === "done" ? row.value : undefined;
    if (home === undefined) return;
    const { epoch, id } = this.#take;
    const decision = decideStart(home, { take: { epoch, id }, wished: null }, "elsewhere");
    this.role = decision.kind === "take" ? "owner" : "follower";
  }

  /** The last word about whether programs have to stand still. */
  get isStill(): boolean {
    return this.leaving.at(-1) === true;
  }

  async row() {
    const row = await this.fleet.row("a");
    if (row === undefined) throw new Error("it is gone");
    return row;
  }
}

/** It goes on here: the wish is gone, the next daemon takes the home, and what runs goes on. */
async function goesOn(source: Source): Promise<void> {
  expect((await source.row()).moveTo).toBe("");
  await source.fleet.do(source.next());
  await source.fleet.wait(2 * LEASE_MS);
  expect([source.role, source.isStill]).toEqual(["owner", false]);
}

test("a home is handed over: its daemon ends, what runs stands still, all is shipped, and then it is released", async () => {
  const source = await new Source(1).begin();
  await source.wish(WISHED);
  await source.fleet.wait(2 * LEASE_MS);
  expect([source.role, source.isStill, source.rounds]).toEqual(["follower", true, 1]);
  expect(await source.row()).toMatchObject({ leaseEnd: "", epoch: 1, moveTo: WISHED });
  expect(source.fleet.events("released")).toHaveLength(1);
  const take = { home: "a", epoch: 2, id: "theirs" };
  await source.call(TAKE, { take, owner: WISHED, leaseMs: LEASE_MS, ifExpired: true });
  await source.fleet.wait(200_000);
  expect([await source.row(), source.rounds]).toMatchObject([{ owner: WISHED, epoch: 2, moveTo: WISHED }, 1]); // HO2
});

test("HO4 a host that is away, or was never there, is handed nothing, and the daemon does not even end", async () => {
  for (const isThere of [false, true]) {
    const source = await new Source(2).begin(isThere);
    await source.fleet.wait(90_000);
    await source.wish(WISHED);
    await source.fleet.wait(2 * LEASE_MS);
    expect([source.role, source.isStill, source.rounds]).toEqual(["owner", false, 0]);
    expect(source.fleet.events("failed")[0]).toMatch(isThere ? /last seen 9\d s ago/ : /is not in the fleet/);
    await goesOn(source);
  }
});

test("HO1 a wish that is taken back at any step leaves the home running here", async () => {
  for (let step = 0; step < 12; step += 1) {
    const source = await new Source(3).begin();
    source.shipping = async () => refused("fleet-ship", "It does not go.", "");
    await source.wish(WISHED);
    await source.fleet.wait(150 * step);
    await source.wish("");
    await source.fleet.wait(2 * LEASE_MS);
    await goesOn(source);
  }
});

test("HO4 if the files are not shipped, or the other host is killed before it takes the home, it goes on here", async () => {
  for (const error of ["It does not go.", undefined]) {
    const source = await new Source(4).begin();
    if (error !== undefined) source.shipping = async () => refused("fleet-ship", error, "");
    await source.wish(WISHED);
    await source.fleet.wait(100_000);
    expect([source.role, source.isStill]).toEqual(["follower", true]);
    expect((await source.row()).leaseEnd === "").toBe(error === undefined);
    await source.fleet.wait(30_000);
    expect(source.fleet.events("failed")).toHaveLength(1);
    await goesOn(source);
  }
});

test("HO4 a database that is away in the middle of it, also for long, leaves the home running here", async () => {
  for (const awayMs of [5_000, 200_000]) {
    const source = await new Source(5).begin();
    const waiting = Promise.withResolvers<Result<undefined>>();
    source.shipping = () => waiting.promise;
    await source.wish(WISHED);
    await source.fleet.wait(2_000);
    source.fleet.postgres.always("cut before");
    waiting.resolve(refused("fleet-database", "It is away.", ""));
    source.shipping = async () => ok(undefined);
    await source.fleet.wait(awayMs);
    expect(source.isStill).toBe(true); // Another host may have it by then: who knows.
    source.fleet.postgres.calm();
    await source.fleet.wait(140_000);
    await goesOn(source);
  }
});
