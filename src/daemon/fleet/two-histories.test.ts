// A daemon starts while the database of its fleet has lost that it had the home (ST2, ST3 of core/fleet/start.ts):
// after a fail-over to a standby that did not have everything.
import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { driven, SimPostgres } from "../../../tests/sim/postgres.ts";
import { SimRandom } from "../../../tests/sim/random.ts";
import { FleetSeal } from "../../fleet/seal.ts";
import { EventLog } from "../../log/event-log.ts";
import { realSelf } from "../../world/self.ts";
import { realWorld } from "../../world/world.ts";
import { FleetMember, type MemberPorts } from "./member.ts";

const HOME = "/h";
const ID = "1";
const SESSION = "terminals/t1";
const KEY = Buffer.from(FleetSeal.newFile(new SimRandom(1)));
const OPTIONS = { ballastBytes: 0, segmentBytes: 64 << 10, pageBytes: 256 };

/** Two hosts that may each have the home, and its database. */
class Story {
  readonly clock = new SimClock();
  readonly #random = new SimRandom(7);
  readonly postgres = new SimPostgres({ clock: this.clock, random: this.#random, mode: "sync", rate: 0 });

  newDisk(): SimDisk {
    const disk = new SimDisk();
    disk.plant(`${HOME}/fleet/x`, new Uint8Array());
    disk.plant("/key", KEY);
    return disk;
  }

  #memberOn(disk: SimDisk, host: string): FleetMember {
    const config: MemberPorts["config"] = {
      ...{ url: "postgres://a@/b?host=/s", keyFile: "/key", host, ssh: "", page: "", leaseS: 10, takeover: "auto" },
      ...{ take: [], mirror: [], homes: "/homes", labels: [], capacity: 0, tapeBytes: 0, carryBytes: 0 },
    };
    const world = { ...realWorld(), disk, clock: this.clock, random: this.#random, home: HOME, self: realSelf() };
    const ports = { world: world as never, postgres: this.postgres, config, home: ID, host };
    const member = FleetMember.of({ ...ports, say: () => undefined, gone: () => undefined });
    if (!member.ok) throw new Error(member.error.message);
    return member.value;
  }

  /** A life of a daemon that writes this, if the home is its own. Returns what it is, and what the log says. */
  async live(disk: SimDisk, host: string, ...texts: readonly string[]) {
    const member = this.#memberOn(disk, host);
    const role = await driven(this.clock, member.begin());
    const { why } = member.status();
    if (role === "owner") await this.#write(disk, member, texts);
    member.close();
    return { role, why, log: await this.read(disk) };
  }

  async #write(disk: SimDisk, member: FleetMember | undefined, texts: readonly string[]): Promise<void> {
    const log = await driven(this.clock, EventLog.open({ disk, clock: this.clock, home: HOME }, OPTIONS));
    if (member !== undefined) await driven(this.clock, member.join(log));
    for (const text of texts) {
      const done = log.append([{ session: SESSION, ts: "2026-01-01T00:00:00.000Z", event: "tested", data: { text } }]);
      if (!done.ok) throw new Error(done.error.message);
      await driven(this.clock, done.value.durable);
    }
    await driven(this.clock, log.close());
  }

  /** It is on this disk, and was lost in the database. */
  alone(disk: SimDisk, text: string): Promise<void> {
    return this.#write(disk, undefined, [text]);
  }

  async read(disk: SimDisk): Promise<string[]> {
    const log = await driven(this.clock, EventLog.open({ disk: disk.fork(), clock: this.clock, home: HOME }, OPTIONS));
    const texts = [...log.read(SESSION)].flatMap((one) =>
      one.kind === "entry" ? [String((one.entry.data as { text: string }).text)] : [one.kind],
    );
    await driven(this.clock, log.close());
    return texts;
  }

  /** A fail-over that loses the last take, and no batch. */
  forgetTake(): void {
    const row = this.postgres.tables.home([ID]);
    if (row === undefined) throw new Error("the home is not there");
    this.postgres.tables.change(ID, { ...row, epoch: row.epoch - 1, take: "an earlier one" });
  }

  get epoch(): number {
    return this.postgres.tables.home([ID])?.epoch ?? -1;
  }

  get ends(): number {
    return this.postgres.tables.home([ID])?.lastSeq ?? -1;
  }
}

async function begun() {
  const story = new Story();
  const one = story.newDisk();
  await story.live(one, "one", "a");
  await story.live(one, "one", "b");
  return { story, one };
}

test("ST2 a database that has lost the take, and nothing else, is taken again, also if this disk has more", async () => {
  const { story, one } = await begun();
  story.forgetTake();
  expect(await story.live(one, "one", "c")).toMatchObject({ role: "owner", log: ["a", "b", "c"] });
  story.forgetTake();
  await story.alone(one, "d");
  expect(await story.live(one, "one", "e")).toMatchObject({ role: "owner", log: ["a", "b", "c", "d", "e"] });
  expect([story.epoch, story.ends]).toEqual([2, 5]);
});

test("ST2 if another host has only added to what is here, it is taken, and that is here, too", async () => {
  const { story, one } = await begun();
  const two = one.fork();
  expect(await story.live(two, "two", "c")).toMatchObject({ role: "owner", log: ["a", "b", "c"] });
  story.forgetTake();
  story.forgetTake();
  expect(await story.live(one, "one")).toMatchObject({ role: "owner", log: ["a", "b", "c"] });
});

test("FM7 two histories are not mixed: who has another one than the database follows, says so, and keeps what it has", async () => {
  const { story, one } = await begun();
  const two = one.fork();
  await story.live(two, "two", "c of two");
  await story.alone(one, "c of one");
  story.forgetTake();
  story.forgetTake();
  const before = story.epoch;
  const said = await story.live(one, "one", "never");
  expect(said).toMatchObject({ role: "follower", log: ["a", "b", "c of one"] });
  expect(said.why).toContain("another history");
  expect([story.epoch, story.ends]).toEqual([before, 3]);
  expect(await story.live(two, "two", "d")).toMatchObject({ role: "owner", log: ["a", "b", "c of two", "d"] });
});

test("ST3 who was told that another host has the home leaves it to that host, also if the database has lost that", async () => {
  const { story, one } = await begun();
  const two = one.fork();
  await story.live(two, "two", "c");
  expect(await story.live(one, "one")).toMatchObject({ role: "follower" });
  story.forgetTake();
  story.forgetTake();
  expect(await story.live(one, "one")).toMatchObject({ role: "follower", log: ["a", "b"] });
  expect(await story.live(two, "two", "d")).toMatchObject({ role: "owner", log: ["a", "b", "c", "d"] });
});

test("FM7 where the database has nothing to compare with, this host's own home is taken, and that of another is not", async () => {
  for (const owner of ["one", "two"]) {
    const { story, one } = await begun();
    story.forgetTake();
    const row = story.postgres.tables.home([ID]);
    if (row === undefined) throw new Error("the home is not there");
    story.postgres.tables.setBatches(ID, []);
    story.postgres.tables.change(ID, { ...row, owner });
    const { role, why } = await story.live(one, "one");
    expect([owner, role]).toEqual([owner, owner === "one" ? "owner" : "follower"]);
    expect(why === null).toBe(owner === "one");
  }
});
