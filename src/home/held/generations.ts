// The generations of a terminal on disk: what belonged to an earlier one is kept beside the newest, under its number.
// GN1. Nothing is deleted: `claim.json`, `exit.json` and `holder.json` of generation g become `claim-g.json`, `exit-g.json` and
//      `holder-g.json`, durable before a holder of the next one is started.
// GN2. Only what is of an earlier generation moves, so that doing it again changes nothing, and a claim of this one is never touched.
//      A claim that cannot be read is taken for one of the generation before, as long as that one has none under its number.
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
  else if (disk.stat(kept) === undefined) disk.link(path, kept); // Clients find the socket and its token through it.
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
