// The checks that catch the deliberate bugs of a fleet: whole daemons in one (tests/sim/holdfast/fleet.ts), a home's
// log on a disk and in a database at once, owners of one home, and hosts that watch each other. Each stops at the
// first broken promise, and returns how much it tried.

import { SecondLog } from "../../src/daemon/fleet/second-log.ts";
import { APPEND } from "../../src/fleet/calls.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { LogView } from "../../src/log/inspect.ts";
import { ManyHosts } from "../fleet/many-hosts.ts";
import { drive, HOME as LOG_HOME, Model } from "../fleet/model.ts";
import { SimDisk } from "../sim/disk.ts";
import { Crashed } from "../sim/faults.ts";
import { inFleet, planOf } from "../sim/holdfast/plan.ts";
import { Story } from "../sim/holdfast/story.ts";
import { BrokenPromise, ensure } from "../sim/log/oracle.ts";
import { SimRandom } from "../sim/random.ts";
import { nothing } from "../sim/survive.ts";

export const FLEET_CHECKS = {
  "fleet: lives of the whole daemon": livesInFleet,
  "fleet: both places of a log": bothPlaces,
  "fleet: owners of one home": ownersOfOne,
  "fleet: hosts that watch each other": watchers,
} as const satisfies Readonly<Record<string, () => Promise<number>>>;

/** Each of the bugs is met in one of these, by their seeds. */
const STORIES: readonly number[] = [...Array.from({ length: 45 }, (_, at) => at + 1), 1_363];

async function livesInFleet(): Promise<number> {
  let story: Story | undefined;
  process.on("unhandledRejection", (error) => {
    if (!(error instanceof Crashed)) story?.failed(error);
  });
  await import("../../src/wire/files/workflow-file.ts");
  for (const seed of STORIES) {
    story = new Story(inFleet(planOf(seed)));
    try {
      await story.tell();
    } catch (error) {
      throw new BrokenPromise(`story ${seed}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return STORIES.length;
}

const BATCHES = 40;

/**
 * What is acknowledged is in the database, as it was first sent, and on the disk, also if the power is cut now. What a
 * fenced owner sends is counted.
 */
async function bothPlaces(): Promise<number> {
  const model = new Model(11, { mode: "sync", rate: 0.2, troubles: ["refused", "cut before", "cut after", "warning"] });
  await drive(model, model.begin());
  const owner = model.owner;
  if (owner === undefined) throw new Error("there is an owner");
  const seal = new FleetSeal(model.random, [new Uint8Array(32)]);
  const sent = new Map<string, string>();
  let again: string | undefined;
  model.postgres.sent = (name, values) => {
    if (name !== APPEND.statement.name) return;
    const [key, bytes] = [`${values[2]} ${values[3]}`, Buffer.from(values[5] ?? "").toString("hex")];
    if ((sent.get(key) ?? bytes) !== bytes) again = `the batch behind ${key} is sent again with other bytes`;
    sent.set(key, bytes);
  };
  const place = { disk: new SimDisk(), clock: model.clock, home: "/h" };
  const log = await drive(model, EventLog.open(place, { segmentBytes: 64 << 10, pageBytes: 256, ballastBytes: 0 }));
  const broken = (error: Error) => log.halt(error);
  const ports = { clock: model.clock, home: LOG_HOME, seal, remote: owner.log, mayFallBehind: false };
  log.commitTo(new SecondLog({ ...ports, why: () => undefined, broken }));
  const append = () => {
    const ts = "2026-01-01T00:00:00.000Z";
    const ticket = log.append([{ session: "agents/a", ts, event: "message.enqueued", data: { text: "x" } }]);
    if (!ticket.ok) throw new Error(ticket.error.message);
    return drive(model, ticket.value.durable);
  };
  for (let seq = 1; seq <= BATCHES; seq += 1) {
    await append();
    ensure(again === undefined, again ?? "");
    const there = model.postgres.tables.batchesOf(LOG_HOME).at(-1)?.last ?? 0;
    ensure(there >= seq, `${seq} is acknowledged, and the database ends at ${there}`);
    const view = new LogView(place.disk.powerCut(nothing), place.home);
    const here = [...view.read("agents/a")].filter(({ kind }) => kind === "entry").length;
    ensure(here >= seq, `${seq} is acknowledged, and the disk has ${here} entries if the power is cut`);
  }
  await sendsNothing(model, append);
  return BATCHES;
}

/** Somebody else takes the home: of what follows, one statement finds out, and its renewals send nothing more. */
async function sendsNothing(model: Model, append: () => Promise<unknown>): Promise<void> {
  const [owner] = model.owners;
  model.postgres.sent = () => undefined;
  model.postgres.calm();
  await drive(model, model.take());
  const end = await append().then(
    () => "acknowledged",
    () => "refused",
  );
  ensure(end === "refused", "a batch of an owner that was fenced is acknowledged");
  const before = model.postgres.statements;
  await drive(model, owner?.log.renew() ?? Promise.resolve());
  if (owner !== undefined) await drive(model, owner.log.append(1_000, new Uint8Array(1)));
  const more = model.postgres.statements - before;
  ensure(more === 0, `an owner that was fenced has sent ${more} statements more`);
}

const HISTORIES = 200;
/** Warnings, each of which a fail-over may make true. */
const DOUBTFUL = { rate: 0.5, troubles: ["warning", "warning", "cut after", "fail-over before"] } as const;

async function ownersOfOne(): Promise<number> {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const model = new Model(seed, { mode: "sync", ...(seed % 2 === 0 ? { rate: 0.25 } : DOUBTFUL) });
    const random = new SimRandom(seed + 7);
    await drive(model, model.begin());
    for (let act = 0; act < ACTS; act += 1) await doSomething(model, random);
    await drive(model, model.finish());
    const [wrong] = model.check();
    ensure(wrong === undefined, wrong ?? "");
  }
  return HISTORIES;
}

const ACTS = 25;

async function doSomething(model: Model, random: SimRandom): Promise<void> {
  const dice = random.int(10);
  const ago = random.chance(0.2) ? random.int(3) : 0;
  if (dice < 7) model.append(model.owners.length - 1 - ago, 1 + random.int(4));
  else if (dice < 9) await drive(model, model.take());
  else model.clock.advance(random.int(200));
  await model.clock.settle();
}

const HOUR_MS = 3_600_000;

/** A database that stands still, or is away, again and again. */
async function watchers(): Promise<number> {
  const random = new SimRandom(3);
  const leaseMs = 10_000;
  const troubles = Array.from({ length: 60 }, (_, nth) => {
    const from = nth * 60_000 + random.int(20_000);
    return { from, to: from + 2_000 + random.int(30_000), kind: nth % 2 === 0 ? "frozen" : "away" } as const;
  });
  const many = new ManyHosts({ random, hosts: 200, leaseMs, forMs: HOUR_MS, troubles, deaths: 20, pauses: 40 });
  many.run();
  ensure(many.robbed.length === 0, `${many.robbed.length} healthy owners are robbed`);
  ensure(many.left.length === 0, `${many.left.length} homes of dead hosts are left`);
  return many.takings.length;
}
