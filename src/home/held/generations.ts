// The generations of a terminal on disk: files of an earlier one are kept beside the newest, under its number.
// GN1. Nothing is deleted: `claim.json`, `exit.json` and `holder.json` of generation g become `claim-g.json`,
//      `exit-g.json` and `holder-g.json`, durably, before a holder of the next generation is started.
// GN2. Only files of an earlier generation are moved, so that repeating it changes nothing, and a claim of this
//      generation is never touched. An unreadable claim counts as one of the previous generation, unless that one
//      already has one.
import { joinPath } from "../../base/path.ts";
import { readWhole } from "../../log/file/file.ts";
import { parseClaim, parseExit, parseSpec } from "../../wire/holder/json.ts";
import type { HeldDirectory } from "./holder-files.ts";

type File = "claim" | "exit" | "holder";

const GENERATION_OF: Readonly<Record<File, (bytes: Uint8Array) => number | undefined>> = {
  claim: (bytes) => parseClaim(bytes)?.generation,
  exit: (bytes) => parseExit(bytes)?.generation,
  holder: (bytes) => {
    const spec = parseSpec(bytes);
    return spec.ok ? spec.value.generation : undefined;
  },
};

/** GN1 */
export async function setAsideBefore(place: HeldDirectory, generation: number): Promise<void> {
  if (generation <= 1) return;
  const moved = (["exit", "claim", "holder"] as const).filter((file) => setAside(place, file, generation));
  if (moved.length > 0) await place.disk.syncDirectory(place.directory);
}

function setAside({ disk, directory }: HeldDirectory, file: File, generation: number): boolean {
  const path = joinPath(directory, `${file}.json`);
  const bytes = readWhole(disk, path);
  if (bytes === undefined) return false;
  const found = GENERATION_OF[file](bytes);
  const kept = joinPath(directory, `${file}-${found ?? generation - 1}.json`);
  const earlier = found === undefined ? disk.stat(kept) === undefined : found < generation; // GN2
  if (!earlier) return false;
  if (file !== "holder") disk.rename(path, kept);
  else if (disk.stat(kept) === undefined) disk.link(path, kept); // Clients read the socket and its token from it.
  return true;
}

/** The claims of all generations. */
export function claimsOf({ disk, directory }: HeldDirectory) {
  const names = disk.list(directory).filter((name) => /^claim(?:-\d+)?\.json$/.test(name));
  return names.flatMap((name) => {
    const bytes = readWhole(disk, joinPath(directory, name));
    return (bytes === undefined ? undefined : parseClaim(bytes)) ?? [];
  });
}
