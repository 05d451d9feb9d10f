// Whether a host has the key of a fleet: when the fleet is begun, a word is sealed and stored, which only that key
// opens. So another key is noticed before anything was sealed with it.
// CY1. It is stored once, among the blobs, below a name that no home has.
// CY2. Fleets that were begun by an older version have none: then the newest batches of their homes say it, and they
//      are asked in any case.
import { ok, type Result, refused } from "../base/result.ts";
import { sha256 } from "../world/hash.ts";
import { getBlob } from "./blobs.ts";
import { type Call, HOMES, READ } from "./calls.ts";
import { type Answer, type Database, whyOf } from "./database.ts";
import type { FleetSeal } from "./seal.ts";

/** CY1: the id of a home has 32 hex digits. */
const CANARY = { home: "fleet", path: "key", seq: 1 };
const WORD = Buffer.from("This is the key of the fleet.");

const STORE: Call<Uint8Array, undefined> = {
  statement: {
    name: "holdfast.canary",
    text: `insert into holdfast.blobs (home, path, seq, part, parts, hash, bytes)
      values ('${CANARY.home}', '${CANARY.path}', ${CANARY.seq}, 0, 1, $1::bytea, $2::bytea) on conflict do nothing`,
  },
  encode: (bytes) => [Buffer.from(sha256(bytes), "hex"), bytes],
  decode: () => undefined,
};

/** Whether anybody has begun a fleet in this database. */
export async function isBegun(database: Database): Promise<Result<boolean>> {
  const canary = await getBlob(database, CANARY.home, CANARY.path);
  if (!canary.ok) return canary;
  const homes = await answered(database.call(HOMES, undefined));
  return homes.ok ? ok(canary.value !== undefined || homes.value.length > 0) : homes;
}

/** CY1. Another one may have been quicker, so what is there is opened afterwards. */
export async function keepCanary(database: Database, seal: FleetSeal): Promise<Result<undefined>> {
  const stored = await answered(database.call(STORE, seal.blob(CANARY.home, { ...CANARY, bytes: WORD })));
  return stored.ok ? keyFits(database, seal) : stored;
}

/** Refuses a key that does not open what the fleet has. */
export async function keyFits(database: Database, seal: FleetSeal): Promise<Result<undefined>> {
  const canary = await getBlob(database, CANARY.home, CANARY.path);
  if (!canary.ok) return canary;
  const opened = canary.value === undefined ? ok(undefined) : seal.openBlob(CANARY.home, canary.value);
  return opened.ok ? batchesFit(database, seal) : WRONG_KEY;
}

/** CY2 */
async function batchesFit(database: Database, seal: FleetSeal): Promise<Result<undefined>> {
  const homes = await answered(database.call(HOMES, undefined));
  if (!homes.ok) return homes;
  for (const { id, lastSeq } of homes.value) {
    const rows = await answered(database.call(READ, { home: id, after: lastSeq - 1 }));
    if (!rows.ok) return rows;
    const last = rows.value.at(-1);
    if (last !== undefined && !seal.openBatches(id, last).ok) return WRONG_KEY;
  }
  return ok(undefined);
}

const WRONG_KEY = refused(
  "fleet-key",
  "The key of this host does not open what the fleet has in the database.",
  "Copy the file with the keys from a host of the fleet, or use another database.",
);

async function answered<T>(asked: Promise<Answer<T>>): Promise<Result<T>> {
  const answer = await asked;
  if (answer.kind === "done") return ok(answer.value);
  return refused("fleet-away", `The database of the fleet did not answer: ${whyOf(answer)}`, "Try it again.");
}
