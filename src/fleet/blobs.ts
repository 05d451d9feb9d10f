// Blobs of a home in the database: what its log lacks, by path. A blob is stored in parts.
// BL1. A blob replaces the one before only once all of its parts are there: until then, the old one is read.
// BL2. What is read is what was stored, or nothing: the hash of the whole is checked.
import { ok, type Result, refused } from "../base/result.ts";
import { sha256 } from "../world/hash.ts";
import { type BlobPart, type BlobRow, DROP, GET, LIST, PUT, type Take, TIDY } from "./calls.ts";
import type { Database } from "./database.ts";
import { noAnswer } from "./history.ts";

const PART = 1 << 20;
/** Of one answer, a connection takes 64 MiB. */
const MAX_PARTS = 32;
/** It goes through all blobs of a home. */
const LIST_MS = 60_000;

/** `seq`: what it is a state of. Can be repeated. */
export type Blob = { readonly path: string; readonly seq: number; readonly bytes: Uint8Array };

export async function putBlob(database: Database, take: Take, blob: Blob): Promise<Result<undefined>> {
  const { path, seq, bytes } = blob;
  const parts = Math.max(1, Math.ceil(bytes.length / PART));
  if (parts > MAX_PARTS) return refused("fleet-blob-size", `${path} is larger than ${MAX_PARTS} MiB.`, TOO_LARGE);
  const hash = hashOf(bytes);
  for (let part = 0; part < parts; part++) {
    const one: BlobPart = { path, seq, part, parts, hash, bytes: bytes.subarray(part * PART, (part + 1) * PART) };
    const answer = await database.call(PUT, { take, part: one });
    if (answer.kind !== "done") return noAnswer(answer);
    if (!answer.value) return fenced(take);
    if (answer.isDoubtful) return refused("fleet-doubt", `${path} may not be on the standby.`, "Store it again.");
  }
  const tidied = await database.call(TIDY, { take, path, seq }); // BL1
  return tidied.kind === "done" ? ok(undefined) : noAnswer(tidied);
}

/** Undefined: there is none. */
export async function getBlob(database: Database, home: string, path: string): Promise<Result<Blob | undefined>> {
  const answer = await database.call(GET, { home, path });
  if (answer.kind !== "done") return noAnswer(answer);
  const [first] = answer.value;
  if (first === undefined) return ok(undefined);
  const bytes = Buffer.concat(answer.value.map((part) => part.bytes));
  if (!Buffer.from(first.hash).equals(hashOf(bytes))) return refused("fleet-damaged", `${path} is damaged.`, DAMAGED); // BL2
  return ok({ path, seq: first.seq, bytes });
}

export async function listBlobs(database: Database, home: string): Promise<Result<readonly BlobRow[]>> {
  const rows: BlobRow[] = [];
  for (;;) {
    const answer = await database.call(LIST, { home, after: rows.at(-1)?.path ?? "" }, LIST_MS);
    if (answer.kind !== "done") return noAnswer(answer);
    if (answer.value.length === 0) return ok(rows);
    rows.push(...answer.value);
  }
}

/** Can be repeated. */
export async function dropBlob(database: Database, take: Take, path: string): Promise<Result<undefined>> {
  const answer = await database.call(DROP, { take, path });
  if (answer.kind !== "done") return noAnswer(answer);
  return answer.value ? ok(undefined) : fenced(take);
}

function fenced({ home }: Take): ReturnType<typeof refused> {
  return refused("fleet-fenced", `${home} has another owner.`, "This host follows it now.");
}

function hashOf(bytes: Uint8Array): Buffer {
  return Buffer.from(sha256(bytes), "hex");
}

const TOO_LARGE = "It stays on this host.";
const DAMAGED = "It is left as it is. The database has changed what was stored.";
