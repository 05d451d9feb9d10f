// Finds and reads the records of runs that older programs left.
// OF1. Read-only: nothing below the directory is ever changed.
// OF2. If there are several records of one run, the newest readable one counts; among equals, the format with most
//      detail.
// OF3. A run with its log beside its checkpoint is one of ours and complete: it is ignored.
// OF4. If one of the unreadable records may be newer, the run may have got further than the older one shows: its next
//      step counts as possibly begun.
import { isFault } from "../../base/fault.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { CHECKPOINT_FACTS } from "../../core/workflow/checkpoint.ts";
import { allItems } from "../../core/workflow/item-list.ts";
import type { Layout, OldRun } from "../../core/workflow/migrate-old.ts";
import { ItemPages } from "../../home/item-pages.ts";
import { JOURNALS } from "../../home/layout.ts";
import { readEnvelope } from "../../log/checkpoint/envelope.ts";
import { readWhole } from "../../log/file/file.ts";
import { EVENTS_FILE } from "../../log/session/places.ts";
import { fieldsIn } from "../../wire/old/fields.ts";
import { type OldPlace, readOldRun, readUnified, UNIFIED_VERSION } from "../../wire/old/runs.ts";
import { itemPagesIn } from "../../wire/stored/workflow.ts";
import type { Disk } from "../../world/disk.ts";
import { sha256 } from "../../world/hash.ts";

export type OldFile = { readonly path: string; readonly layout: OldPlace["layout"]; readonly id: string };

export type OldRecord = {
  readonly file: OldFile;
  readonly sha256: string;
  readonly read: Result<OldRun>;
};

/** The path of each kind of record below the directory; the group is the name of the run. */
const PLACES: readonly { readonly layout: OldPlace["layout"]; readonly name: RegExp }[] = [
  { layout: "unified", name: /(?:^|\/)sessions\/([^/]+)\/(?:checkpoint|history\/checkpoint-[^/]+)\.json$/ },
  { layout: "checkpoints", name: /(?:^|\/)([^/]+)\/checkpoints\/[^/]+\.checkpoint\.json$/ },
  { layout: "job", name: /(?:^|\/)mapreduce\/jobs\/([^/]+)\/[^/]+\.json$/ },
  { layout: "session", name: /(?:^|\/)sessions\/([^/]+)\.json$/ },
  { layout: "session", name: /(?:^|\/)sessions\/([^/]+)\/(?:session|state|session_state)\.json$/ },
];

/** Directories that cannot contain records, and may be large. */
const PASSED_OVER = new Set([
  ...["wal", "terminals", "agents", "tmux", "run", "quarantine", "recovery", "attempts"],
  JOURNALS,
]);
const FOREIGN = new Set(["node_modules", ".git", "worktrees", "events", "dlq", "locks"]);
/** state/<repo>/mapreduce/jobs/<id>/<file>, and one level more. */
const DEEPEST = 8;
const MAX_NAMES = 200_000;
/** Enough for a job of a million short items. */
const MAX_BYTES = 64 << 20;
/** OF2 */
const RANK: Readonly<Record<Layout, number>> = { holdfast: 4, unified: 3, checkpoints: 2, job: 1, session: 0 };

/** `known`: whether a run of this id is in our log. */
export function findOldFiles(disk: Disk, root: string, known: (id: string) => boolean): OldFile[] {
  const found: OldFile[] = [];
  const waiting = [""];
  let names = 0;
  // Directories appended during the loop are visited too, so this is the whole search.
  for (const at of waiting) {
    const isOurs = (name: string) => at.endsWith("sessions/") && known(name); // OF3
    const inside = disk
      .list(joinPath(root, at))
      .filter((name) => !isOurs(name))
      .sort();
    names += inside.length;
    const files = inside.flatMap((name) => oldFileAt(disk, root, at + name) ?? []);
    found.push(...files);
    if (names > MAX_NAMES) break;
    waiting.push(
      ...inside
        .filter(isWorthIt)
        .map((name) => `${at}${name}/`)
        .filter((below) => isNear(disk, root, below)),
    );
  }
  return found;
}

function isWorthIt(name: string): boolean {
  return !PASSED_OVER.has(name) && !FOREIGN.has(name) && !name.endsWith(".json");
}

function isNear(disk: Disk, root: string, below: string): boolean {
  return below.split("/").length <= DEEPEST && disk.stat(joinPath(root, below.slice(0, -1)))?.kind === "directory";
}

function oldFileAt(disk: Disk, root: string, below: string): OldFile | undefined {
  for (const { layout, name } of PLACES) {
    const id = name.exec(below)?.[1];
    if (id === undefined) continue;
    const path = joinPath(root, below);
    const ours = layout === "unified" && hasLog(disk, path); // OF3
    return ours || disk.stat(path)?.kind !== "file" ? undefined : { path, layout, id };
  }
  return undefined;
}

function hasLog(disk: Disk, path: string): boolean {
  return disk.stat(joinPath(sessionAt(path), EVENTS_FILE)) !== undefined;
}

/** The directory of the run that a checkpoint, or one of its history, belongs to. */
function sessionAt(path: string): string {
  const beside = parentOf(path);
  return beside.endsWith("/history") ? parentOf(beside) : beside;
}

/** All records, grouped by run with the one that counts first (OF2); and those that cannot be read. */
export function readOldFiles(
  disk: Disk,
  files: readonly OldFile[],
): { readonly runs: OldRecord[][]; readonly bad: OldRecord[] } {
  const records = files.map((file) => readOldFile(disk, file));
  const runs = new Map<string, OldRecord[]>();
  for (const record of records) {
    if (!record.read.ok) continue;
    const { id } = record.read.value;
    runs.set(id, [...(runs.get(id) ?? []), record]);
  }
  const bad = records.filter(({ read }) => !read.ok);
  const inDoubt = new Set(bad.map(({ file }) => `${file.layout} ${file.id}`));
  const sorted = [...runs.values()].map((same) => same.sort(newestFirst));
  return { runs: sorted.map((same) => same.map((one) => doubted(one, inDoubt))), bad };
}

/** OF4 */
function doubted(record: OldRecord, inDoubt: ReadonlySet<string>): OldRecord {
  const { file, read } = record;
  if (!read.ok || !inDoubt.has(`${file.layout} ${file.id}`)) return record;
  const { status, map } = read.value;
  const over = status === "done" || status === "cancelled";
  const items = map?.items.map((item) => (item.state === "pending" ? { ...item, state: "working" as const } : item));
  const perhaps = { ...read.value, status: over ? status : ("running" as const) };
  return { ...record, read: ok({ ...perhaps, map: map === null || items === undefined ? map : { ...map, items } }) };
}

function newestFirst(a: OldRecord, b: OldRecord): number {
  if (!a.read.ok || !b.read.ok) return 0;
  const [left, right] = [a.read.value, b.read.value];
  return (
    right.updatedAt.localeCompare(left.updatedAt) ||
    RANK[right.layout] - RANK[left.layout] ||
    b.file.path.localeCompare(a.file.path)
  );
}

function readOldFile(disk: Disk, file: OldFile): OldRecord {
  try {
    const stat = disk.stat(file.path);
    if ((stat?.size ?? 0) > MAX_BYTES) return { file, sha256: "", read: tooLong(stat?.size ?? 0) };
    const bytes = readWhole(disk, file.path) ?? new Uint8Array(0);
    const place = { ...file, at: new Date(stat?.modifiedMs ?? 0).toISOString() };
    const own = file.layout === "unified" ? readOwn(disk, bytes, place) : undefined;
    return { file, sha256: sha256(bytes), read: own ?? readOldRun(bytes, place) };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { file, sha256: "", read: refused(error.code, error.message, error.hint) };
  }
}

function tooLong(bytes: number): Result<never> {
  return refused("too-long", `The file has ${bytes} bytes.`, `At most ${MAX_BYTES} are read: run the workflow anew.`);
}

/** Reads our own envelope without its log; undefined if the file is not one. */
function readOwn(disk: Disk, bytes: Uint8Array, place: OldPlace & OldFile): Result<OldRun> | undefined {
  if (!new TextDecoder().decode(bytes.subarray(0, 20)).startsWith('{"kind":"workflow"')) return undefined;
  const reading = readEnvelope(bytes, CHECKPOINT_FACTS);
  if (reading.kind === "whole") {
    const seal = { version: UNIFIED_VERSION, created_at: reading.head.time };
    const body = withItems(disk, place.path, reading.body);
    return body.ok ? readUnified({ ...fieldsIn(body.value), ...seal }, place, "holdfast") : body;
  }
  const message =
    reading.kind === "newer"
      ? `It is of the newer version ${reading.version}.`
      : `It cannot be used: ${reading.reason}.`;
  return refused(reading.kind, message, "It was left as it is. See history/ beside it for an older one.");
}

/** The checkpoint of a long map names pages of items, which are beside it. */
function withItems(disk: Disk, path: string, body: unknown): Result<unknown> {
  const named = itemPagesIn(body);
  if (named === undefined) return ok(body);
  const pages = new ItemPages(disk, sessionAt(path), () => undefined);
  const trouble = pages.trouble(body);
  if (trouble !== undefined)
    return refused("no-items", `It cannot be used: ${trouble}.`, "Keep items.jsonl beside checkpoint.json.");
  const map = { ...fieldsIn(fieldsIn(body)["mapreduce_state"]), all: allItems(pages.listIn(named)) };
  return ok({ ...fieldsIn(body), mapreduce_state: map });
}
