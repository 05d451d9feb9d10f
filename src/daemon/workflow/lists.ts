// Reads the list of a map's items: from a file, from the output of a command, or from the paths that match a pattern.
// LS1. If the list cannot be read, that is a refusal with a reason, and the run fails with it; it is never an empty
//      list.
// LS2. In a pattern, `*` and `?` match within a name, `**` matches any directories; names that begin with a dot match
//      only if the pattern does too.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { inputPlace, itemPages, type Listing } from "../../core/workflow/items.ts";
import type { Run } from "../../core/workflow/run.ts";
import { readWhole } from "../../log/file/file.ts";
import type { Disk } from "../../world/disk.ts";
import { outputBytes } from "./attempt-files.ts";

/** Enough for a million short items. */
const MAX_BYTES = 64 << 20;
/** A pattern that matches more is a mistake, and would keep the daemon busy. */
const MAX_NAMES = 200_000;

type HomeWorld = { readonly disk: Disk; readonly home: string };

/** The items that the run does not have yet, as JSON texts of a page each. */
export function listPages(place: HomeWorld, run: Run, attempt: string | undefined): Result<readonly string[]> {
  const listing = listingOf(place, run, attempt);
  return listing.ok ? itemPages(run, listing.value, run.items.all.length) : listing;
}

function listingOf({ disk, home }: HomeWorld, run: Run, attempt: string | undefined): Result<Listing> {
  if (attempt !== undefined) {
    const { bytes, end } = outputBytes(disk, home, { repo: run.repo, attempt }, MAX_BYTES);
    return end > MAX_BYTES ? tooLong(end) : ok({ kind: "text", bytes });
  }
  const input = inputPlace(run);
  if (!input.ok) return input;
  if (input.value === undefined) return refused("no-input", "The map has no input.", "This is a mistake of ours.");
  return input.value.kind === "file" ? fileOf(disk, input.value.path) : namesOf(disk, input.value.path);
}

function fileOf(disk: Disk, path: string): Result<Listing> {
  try {
    const size = disk.stat(path)?.size ?? 0;
    if (size > MAX_BYTES) return tooLong(size);
    const bytes = readWhole(disk, path);
    return bytes === undefined
      ? refused("no-file", `There is no ${path}.`, "Create it in setup, or name another.")
      : ok({ kind: "text", bytes });
  } catch (error) {
    if (isFault(error)) return refused(error.code, error.message, error.hint); // LS1
    throw error;
  }
}

function tooLong(bytes: number): Result<never> {
  return refused("too-long", `The list has ${bytes} bytes.`, `At most ${MAX_BYTES} are read.`);
}

/** LS2 */
function namesOf(disk: Disk, pattern: string): Result<Listing> {
  let found = ["/"];
  try {
    for (const part of pattern.split("/").filter((name) => name !== "")) {
      found = found.flatMap((at) => (part === "**" ? below(disk, at) : fitting(disk, at, part)));
      if (found.length > MAX_NAMES) return refused("too-many", `${pattern} matches too many files.`, "Narrow it down.");
    }
  } catch (error) {
    if (isFault(error)) return refused(error.code, error.message, error.hint); // LS1
    throw error;
  }
  return ok({ kind: "paths", paths: [...new Set(found)] });
}

function fitting(disk: Disk, at: string, part: string): string[] {
  const path = joinPath(at, part);
  if (!/[*?]/.test(part)) return disk.stat(path) === undefined ? [] : [path];
  const source = part
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]");
  const fits = new RegExp(`^${source}$`, "s");
  return seen(disk, at, part.startsWith("."))
    .filter((name) => fits.test(name))
    .map((name) => joinPath(at, name));
}

function seen(disk: Disk, at: string, hidden: boolean): string[] {
  if (disk.stat(at)?.kind !== "directory") return [];
  return disk.list(at).filter((name) => hidden || !name.startsWith("."));
}

/** The directory itself and all directories below it. */
function below(disk: Disk, at: string): string[] {
  const found = [at];
  for (const directory of found) {
    const names = seen(disk, directory, false).map((name) => joinPath(directory, name));
    found.push(...names.filter((path) => disk.stat(path)?.kind === "directory"));
    if (found.length > MAX_NAMES) break;
  }
  return found;
}
