// The fleet's queue on a real PostgreSQL: three homes claim what three others ask for, and die again and again between
// a claim and what comes of it, or in the middle of a call. And two real daemons.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { ok } from "../../src/base/result.ts";
import { workOf } from "../../src/core/fleet/queue.ts";
import { FleetQueue } from "../../src/daemon/fleet/queue.ts";
import { ENROL, type Take } from "../../src/fleet/calls.ts";
import type { Database } from "../../src/fleet/database.ts";
import { ENQUEUE, QUEUE } from "../../src/fleet/queue-calls.ts";
import { initDatabase } from "../../src/fleet/schema.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { takeHome } from "../../src/fleet/take.ts";
import { encodeQueued } from "../../src/wire/fleet/queued.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { type DaemonHome, daemonHomes } from "../daemon/home.ts";
import { ours } from "../ours.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { idOf } from "../sim/holdfast/script.ts";
import { SimRandom } from "../sim/random.ts";
import { until } from "../until.ts";
import { databaseAt, HAS_POSTGRES, startTestServer, type TestServer } from "./server.ts";

const newHome = daemonHomes();
const LEASE_MS = 60_000;
const CAPACITY = 4;
const KEY = FleetSeal.newFile(realRandom());
let place: TestServer;
const opened: Database[] = [];

function open(): Database {
  const database = databaseAt(place.url);
  opened.push(database);
  return database;
}

const seal = new FleetSeal(realRandom(), [Uint8Array.from(Buffer.from(KEY.trim(), "hex"))]);
const request = { kind: "agent", name: "a", instructions: "", provider: null, model: null, systemPrompt: "" } as const;

/** Asks for so many items; `from`: the number of the first one, in the order of all. */
async function asks(asker: string, from: number, many: number): Promise<void> {
  const database = open();
  for (let number = from; number < from + many; number += 1) {
    const bytes = seal.queued(idOf(number), encodeQueued(request));
    await database.call(ENQUEUE, { id: idOf(number), asker, kind: "agent", labels: ["claims"], bytes });
  }
}

async function command(home: DaemonHome, ...words: readonly string[]) {
  const env = { PATH: "/usr/bin:/bin", HOME: home.path };
  const argv = [...ours("src/cli/main.ts"), ...words, "--home", home.path];
  const at = words.indexOf("--");
  if (at >= 0)
    argv.splice(
      0,
      argv.length,
      ...ours("src/cli/main.ts"),
      ...words.slice(0, at),
      "--home",
      home.path,
      ...words.slice(at),
    );
  const child = Bun.spawn(argv, { cwd: home.path, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, code };
}

async function stateOf(home: DaemonHome, item: string): Promise<string | undefined> {
  return (await home.must("fleet.queue", { after: 0 })).find(({ id }) => id === item)?.state;
}

/** A home that claims: its log, which outlives its daemons, and the daemon that lives. */
class Claimer {
  readonly #home: string;
  readonly #random: SimRandom;
  /** Every start of work, by its id: the log of the home. */
  readonly made: string[] = [];
  readonly #over = new Set<string>();
  #epoch = 0;
  deaths = 0;

  constructor(home: string, seed: number) {
    this.#home = home;
    this.#random = new SimRandom(seed);
  }

  /** One life after the other, until nothing is open or claimed. */
  async live(isOver: () => Promise<boolean>): Promise<void> {
    while (!(await isOver())) {
      const life = await this.#begin();
      await Promise.race([life.died, life.work(isOver)]);
    }
  }

  async #begin() {
    const database = open();
    await database.call(ENROL, { home: this.#home, lastSeq: 0 });
    this.#epoch += 1;
    const take: Take = { home: this.#home, epoch: this.#epoch, id: `${this.#home} ${this.#epoch}` };
    const ports = { database, clock: realClock(), random: realRandom(), troubled: () => undefined };
    const wish = { take, owner: this.#home, leaseMs: LEASE_MS, ifExpired: false };
    const taken = await takeHome({ ...ports, isWanted: () => true }, wish);
    if (!taken.ok) throw new Error(taken.error.message);
    const { promise: died, resolve: die } = Promise.withResolvers<void>();
    const never = new Promise<never>(() => undefined);
    const mayDie = async (part: number) => {
      if (!this.#random.chance(part)) return;
      this.deaths += 1;
      database.drop();
      die();
      await never;
    };
    const queue = new FleetQueue({
      desk: {
        onAsked: () => undefined,
        database,
        seal,
        home: this.#home,
        host: this.#home,
        take: () => take,
        labels: ["claims"],
        capacity: CAPACITY,
      },
      clock: realClock(),
      isOff: () => false,
      make: async (id) => {
        await mayDie(0.15); // It is claimed, and nothing was made.
        this.made.push(id);
        await mayDie(0.1); // It was made, and nobody knows.
        return ok(undefined);
      },
      work: async (id) => {
        if (this.#random.chance(0.1)) setTimeout(() => database.drop(), 0); // The next call is cut.
        if (!this.made.includes(id)) return workOf(undefined);
        if (this.#random.chance(0.5)) this.#over.add(id);
        return workOf(this.#over.has(id) ? "done" : "running");
      },
      say: () => undefined,
    });
    const work = async (isOver: () => Promise<boolean>) => {
      while (!(await isOver())) await queue.look();
    };
    return { died, work };
  }
}

describe.if(HAS_POSTGRES)("on a real PostgreSQL (needs postgresql)", () => {
  beforeAll(async () => {
    place = await startTestServer();
    const ready = await initDatabase(open());
    if (!ready.ok) throw new Error(ready.error.message);
  }, 60_000);

  afterAll(async () => {
    for (const database of opened) database.drop();
    await place.stop();
  });

  test(
    "three homes that die between claim and work: nothing is done twice, nothing is lost, and who asks for little waits little",
    async () => {
      const parts = { many: 3 * amount(10, 100), some: 2 * amount(10, 100), few: amount(10, 100) };
      const all = parts.many + parts.some + parts.few;
      await asks("many", 0, parts.many);
      await asks("some", parts.many, parts.some);
      await asks("few", parts.many + parts.some, parts.few);
      const database = open();
      const isOver = async () => {
        const answer = await database.call(QUEUE, { after: 0 });
        const rows = answer.kind === "done" ? answer.value : [];
        return rows.length === all && rows.every(({ state }) => state === "done");
      };
      const claimers = [1, 2, 3].map((seed) => new Claimer(`claimer-${seed}`, seed));
      const order: string[] = [];
      for (const { made } of claimers) {
        const push = made.push.bind(made);
        made.push = (id) => {
          order.push(id);
          return push(id);
        };
      }
      await Promise.all(claimers.map((claimer) => claimer.live(isOver)));
      const wanted = Array.from({ length: all }, (_, number) => idOf(number));
      expect(order.toSorted()).toEqual(wanted.toSorted());
      expect(claimers.reduce((sum, { deaths }) => sum + deaths, 0)).toBeGreaterThan(3);
      for (const { made } of claimers) expect(made.length).toBeGreaterThan(0);
      // A queue in order would do `few` last. What a home had claimed when it died is made late.
      const few = wanted.slice(parts.many + parts.some).map((id) => order.indexOf(id));
      expect(few.toSorted((a, b) => a - b)[Math.floor(few.length / 2)]).toBeLessThan(all * 0.7);
    },
    amount(60_000, 600_000),
  );

  test("a run and what came of it, on another home than the one that asked; a secret does not travel", async () => {
    const [asker, worker] = [newHome(), newHome()];
    for (const [at, home] of [asker, worker].entries()) {
      const id = `${at + 1}`.padStart(32, "0");
      writeFileSync(home.file("recovery/home.json"), JSON.stringify({ v: 1, id, directory: "", path: home.path }));
      writeFileSync(home.file("fleet.key"), KEY, { mode: 0o600 });
      const own = at === 0 ? [] : ["capacity = 1", 'labels = ["gpu", "big"]'];
      const fleet = [
        "[fleet]",
        `url = "${place.url}"`,
        `key_file = "${home.file("fleet.key")}"`,
        `host = "h${at}"`,
        ...own,
      ];
      appendFileSync(home.file(".config/holdfast/config.toml"), `\n${fleet.join("\n")}\n`);
      await home.live();
    }
    const source = `name: far\nparameters: { x: { type: string } }\nsteps:\n  - shell: echo \${x} > ${worker.file("effect")}\n`;
    const wish = { labels: ["gpu"], name: "far.yml", source, texts: { x: "hello" }, values: {} };
    const ids = [idOf(0xaa1), idOf(0xaa2)];
    for (const id of [...ids, ...ids]) await asker.must("fleet.queue-run", { id, ...wish });
    const mine = async () =>
      (await asker.must("fleet.queue", { after: 0 }))
        .filter(({ id }) => ids.includes(id))
        .map(({ state, words }) => [state, words]);
    await until("both are done", async () => (await mine()).every(([state]) => state === "done"), mine);
    expect(await mine()).toEqual([
      ["done", "done"],
      ["done", "done"],
    ]);
    expect(worker.text("effect")).toBe("hello\n");
    const runs = await worker.must("workflow.list", {});
    expect(runs.map(({ id, state }) => [id, state]).toSorted()).toEqual(ids.map((id) => [id, "done"]));
    expect(await asker.must("workflow.list", {})).toEqual([]);
    const secret = source.replace("type: string", "type: string, secret: true");
    const refused = await asker.ask("fleet.queue-run", { ...wish, id: idOf(0xaa3), source: secret });
    expect(refused).toMatchObject({ ok: false, error: { code: "fleet-secret" } });
    writeFileSync(asker.file("far.yml"), source);
    const typed = await command(
      asker,
      "run",
      asker.file("far.yml"),
      "--any",
      "--label",
      "big",
      "-p",
      "x=typed",
      "--json",
    );
    const { id } = JSON.parse(typed.out);
    await until(
      "it is done",
      async () => (await stateOf(asker, id)) === "done",
      () => stateOf(asker, id),
    );
    expect(worker.text("effect")).toBe("typed\n");
    const agent = await command(asker, "agent", "new", "far", "--any", "--provider", "scripted");
    await until(
      "it cannot be made",
      async () => (await stateOf(asker, agent.out.trim())) === "failed",
      () => stateOf(asker, agent.out.trim()),
    );
    for (const words of [
      ["run", asker.file("far.yml"), "--any", "--worktree"],
      ["run", asker.file("far.yml"), "--label", "gpu"],
      ["agent", "new", "x", "--any", "--cwd", "/"],
      ["agent", "new", "x", "--any", "--", "sh"],
    ])
      expect([words, (await command(asker, ...words)).code]).toEqual([words, 2]);
    const far = { ...wish, id: idOf(0xaa4), labels: ["tape-drive"] };
    await asker.must("fleet.queue-run", far);
    const waiting = await command(asker, "fleet", "queue", "--json");
    expect(JSON.parse(waiting.out)).toMatchObject([{ id: far.id, state: "open", labels: ["tape-drive"] }]);
    expect((await command(asker, "fleet", "queue", "cancel", far.id)).code).toBe(0);
    expect((await command(asker, "fleet", "queue", "--ended")).out).toMatch(new RegExp(`^${far.id} .*cancelled`, "m"));
    const done = await asker.ask("fleet.queue-cancel", { id: ids[0] ?? "" });
    expect(done).toMatchObject({ ok: false, error: { code: "not-open" } });
  }, 120_000);
});
