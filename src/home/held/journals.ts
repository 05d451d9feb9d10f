// The journals of a home: claims and exits of attempts, as their holders have recorded them (holder/records.ts, E3).
// JL1. After a crash of the machine the files of an attempt may be gone or empty. Then they are made again of its
//      records, durably, before anyone looks at it. A file that is there and can be read stays as it is.
// JL2. A record names the directory of its attempt below the home. Anything else in a journal is not ours.
// JL3. Within a boot, a claim whose file is missing was withdrawn: nothing was started (E1 of holder/records.ts).
import { baseName, joinPath } from "../../base/path.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { type JournalContents, readJournal } from "../../log/file/journal.ts";
import { isSession } from "../../log/session/places.ts";
import { parseClaim, parseExit } from "../../wire/holder/json.ts";
import { isObject } from "../../wire/lines.ts";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/process.ts";
import { JOURNALS } from "../layout.ts";
import { CLAIM, EXIT, type HeldDirectory, makeHeldDirectory, readClaim, readExit } from "./holder-files.ts";

type InHome = { readonly disk: Disk; readonly home: string };

const NAME = /^\d{4}\.journal$/;
/** JL2 */
const OF = /^(.+)\/attempts\/(\d{1,15})$/;

/** An attempt that a journal has records of: its id, its directory and that of its run, below the home. */
export type Recorded = { readonly attempt: string; readonly of: string; readonly session: string };

export function journalPath(home: string, number: number): string {
  return joinPath(home, `${JOURNALS}/${String(number).padStart(4, "0")}.journal`);
}

export function journalPaths({ disk, home }: InHome): string[] {
  const names = disk.list(joinPath(home, JOURNALS)).filter((name) => NAME.test(name));
  return names.sort().map((name) => joinPath(home, `${JOURNALS}/${name}`));
}

export function recordedIn({ records }: JournalContents): Recorded[] {
  return records.flatMap(({ of }) => recordedAs(of) ?? []);
}

function recordedAs(of: unknown): Recorded | undefined {
  const [, session, number] = (typeof of === "string" && OF.exec(of)) || [];
  if (typeof of !== "string" || session === undefined || !isSession(session)) return undefined;
  return { attempt: `${baseName(session)}.${number}`, of, session };
}

/** JL1, for those attempts that `isMeant` names. Returns how many files were made. */
export async function restoreFiles(
  place: InHome & { readonly processes: Pick<Processes, "bootId"> },
  isMeant: (recorded: Recorded) => boolean,
): Promise<number> {
  let made = 0;
  for (const path of journalPaths(place)) {
    for (const { of, claim, exit } of readJournal(place.disk, path)?.records ?? []) {
      const recorded = recordedAs(of);
      if (recorded === undefined || !isMeant(recorded)) continue;
      const files = { disk: place.disk, directory: joinPath(place.home, recorded.of) };
      if (readExit(files) !== undefined) continue;
      made += await restore(place, files, [EXIT, exit]);
      if (readClaim(files) === undefined && isOfAnotherBoot(place, claim))
        // JL3
        made += await restore(place, files, [CLAIM, claim]);
    }
  }
  return made;
}

/** JL3 */
function isOfAnotherBoot({ processes }: { readonly processes: Pick<Processes, "bootId"> }, claim: unknown): boolean {
  return isObject(claim) && claim["bootId"] !== processes.bootId();
}

const PARSERS = { [CLAIM]: parseClaim, [EXIT]: parseExit } as const;

async function restore(
  { disk, home }: InHome,
  { directory }: HeldDirectory,
  [name, facts]: readonly [typeof CLAIM | typeof EXIT, unknown],
): Promise<number> {
  if (facts === undefined) return 0;
  const bytes = Buffer.from(`${JSON.stringify(facts)}\n`);
  if (PARSERS[name](bytes) === undefined) return 0; // JL2
  await makeHeldDirectory(disk, home, directory);
  await writeAtomic(disk, joinPath(directory, name), bytes);
  return 1;
}
