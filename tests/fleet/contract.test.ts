// The simulated database keeps the contract that PostgreSQL keeps (postgres.test.ts).
import { expect, test } from "bun:test";
import { LOOK } from "../../src/fleet/calls.ts";
import { Database } from "../../src/fleet/database.ts";
import { readBatches } from "../../src/fleet/history.ts";
import type { Postgres, PostgresConnection, PostgresOutcome } from "../../src/world/postgres.ts";
import { SimClock } from "../sim/clock.ts";
import { driven, SimPostgres } from "../sim/postgres.ts";
import { SimRandom } from "../sim/random.ts";
import { CONTRACT } from "./contract.ts";
import { NO_TARGET } from "./model.ts";

for (const [claim, check] of Object.entries(CONTRACT)) {
  test(`simulated: ${claim}`, async () => {
    const clock = new SimClock();
    const postgres = new SimPostgres({ clock, random: new SimRandom(1), mode: "sync", rate: 0 });
    const database = new Database({ postgres, target: NO_TARGET, clock });
    await driven(clock, check({ database, home: "home" }));
  });
}

/** Always the same answer, to what follows the first statement of a session. */
class Answering implements Postgres {
  connects = 0;
  closes = 0;
  readonly #outcome: PostgresOutcome;
  readonly #fsync: string;

  constructor(outcome: PostgresOutcome, fsync = "on") {
    this.#outcome = outcome;
    this.#fsync = fsync;
  }

  async connect() {
    this.connects += 1;
    let isOpen = true;
    const connection: PostgresConnection = {
      host: "a test",
      get isOpen() {
        return isOpen;
      },
      run: async ({ name }) => {
        if (name === "holdfast.session") return { kind: "done", rows: [[this.#fsync]], notices: [] };
        if (this.#outcome.kind === "unknown") isOpen = false;
        return this.#outcome;
      },
      cancel: async () => undefined,
      close: () => {
        isOpen = false;
        this.closes += 1;
      },
    };
    return { ok: true, value: connection } as const;
  }
}

function databaseOn(postgres: Postgres, clock = new SimClock()): Database {
  return new Database({ postgres, target: NO_TARGET, clock });
}

test("CB-1d calls that lose their connection open the breaker, and then nothing is sent until one may try", async () => {
  const [clock, postgres] = [new SimClock(), new Answering({ kind: "unknown", why: "cut" })];
  const database = databaseOn(postgres, clock);
  for (let call = 0; call < 5; call++) expect((await database.call(LOOK, "home")).kind).toBe("unknown");
  const refused = await database.call(LOOK, "home");
  expect(refused).toMatchObject({ kind: "refused", message: expect.stringContaining("cut") });
  expect(postgres.connects).toBe(5);
  clock.advance(300);
  expect((await database.call(LOOK, "home")).kind).toBe("unknown");
  expect(postgres.connects).toBe(6);
});

test("CB-1d a refusal of the database is an answer, however often it comes", async () => {
  const postgres = new Answering({ kind: "refused", sqlstate: "42P01", message: "no such table" });
  const database = databaseOn(postgres);
  for (let call = 0; call < 20; call++) expect(await database.call(LOOK, "x")).toMatchObject({ sqlstate: "42P01" });
  expect(postgres.connects).toBe(1);
});

test("DB3 a server that does not sync is refused", async () => {
  const postgres = new Answering({ kind: "done", rows: [], notices: [] }, "off");
  const answer = await databaseOn(postgres).call(LOOK, "home");
  expect(answer).toMatchObject({ kind: "refused", message: expect.stringContaining("fsync = off") });
  expect(postgres.closes).toBe(1);
});

test("rows that no statement of ours returns end the connection, and their outcome is unknown", async () => {
  for (const rows of [[["1"]], [["x", "a", "1", "1", "1"]], [[null, "a", "1", "1", "1"]]]) {
    const postgres = new Answering({ kind: "done", rows, notices: [] });
    expect((await databaseOn(postgres).call(LOOK, "home")).kind).toBe("unknown");
    expect(postgres.closes).toBe(1);
  }
});

test("HI1 a hole in what is read is never passed over", async () => {
  const row = (first: number, last: number) => [`${first}`, `${last}`, new Uint8Array()];
  const read = (after: number, ...rows: [number, number][]) => {
    const stored = rows.map(([first, last]) => row(first, last));
    return readBatches(databaseOn(new Answering({ kind: "done", rows: stored, notices: [] })), "home", after);
  };
  expect((await read(0, [1, 2], [3, 3])).ok).toBe(true);
  expect((await read(3, [2, 5], [6, 6])).ok).toBe(true);
  for (const found of [await read(0, [2, 3]), await read(0, [1, 2], [4, 4]), await read(0, [1, 2], [2, 4])]) {
    expect(found).toMatchObject({ ok: false, error: { code: "fleet-hole" } });
  }
});
