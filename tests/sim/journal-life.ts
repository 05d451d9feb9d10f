// The life of a holder that records its attempts in a journal, crashed at every call: what it has told must be there
// when the files have been made again, and nothing else.

import { claim, recordExit } from "../../src/holder/records.ts";
import { readHeld } from "../../src/home/held/held-state.ts";
import { ONLY_GENERATION } from "../../src/home/held/holder-files.ts";
import { journalPath, journalPaths, restoreFiles } from "../../src/home/held/journals.ts";
import { Journal, makeJournal, readJournal } from "../../src/log/file/journal.ts";
import { Tape } from "../../src/log/tape/tape.ts";
import { SimDisk } from "./disk.ts";
import { everyCrash } from "./every-crash.ts";
import { ensure } from "./log/oracle.ts";
import { everything } from "./survive.ts";
import { simWorld } from "./world.ts";

export const HOME = "/h";
const RUN = `${HOME}/state/w/sessions/r1`;
const USES = [
  [1, 2, 3],
  [4, 5, 6],
] as const;

/** What was told, of the attempts of the present use: those before are recorded in the log. */
type Told = { readonly started: readonly number[]; readonly ended: readonly number[] };
const NOTHING: Told = { started: [], ended: [] };

export const attemptAt = (number: number) => `${RUN}/attempts/${number}`;

/** A home with an empty journal; both are durable. */
export async function homeWithJournal(): Promise<SimDisk> {
  const disk = new SimDisk();
  for (const path of ["", "/journals", "/state", "/state/w", "/state/w/sessions"]) disk.makeDirectory(`${HOME}${path}`);
  for (const path of [RUN, `${RUN}/attempts`]) disk.makeDirectory(path);
  await makeJournal(disk, journalPath(HOME, 1));
  return disk.powerCut(everything);
}

export const exitOf = (number: number) => ({
  ...{ v: 1, generation: ONLY_GENERATION, code: number, signal: null, bootId: "b", offset: number },
  at: `2026-01-01T00:00:0${number}.000Z`,
});

/** Every second attempt prints something. */
async function live(disk: SimDisk, promised: (told: Told) => void): Promise<void> {
  for (const [at, attempts] of USES.entries()) {
    const world = { ...simWorld(1, disk), home: HOME };
    const journal = Journal.open(world, { path: journalPath(HOME, 1), use: at + 1 });
    if (journal === undefined) throw new Error("the journal is free");
    let told = NOTHING;
    promised(told);
    for (const number of attempts) {
      const place = { ...world, directory: attemptAt(number), journal };
      disk.makeDirectory(place.directory);
      if (!(await claim(place, ONLY_GENERATION))) throw new Error("nobody else claims it");
      told = { ...told, started: [...told.started, number] };
      promised(told);
      if (number % 2 === 0) await print(disk, place.directory);
      await recordExit(place, exitOf(number), number % 2 === 0);
      told = { ...told, ended: [...told.ended, number] };
      promised(told);
    }
    journal.close();
  }
}

async function print(disk: SimDisk, directory: string): Promise<void> {
  const tape = Tape.open(disk, `${directory}/tape`, { segmentBytes: 4096, maxBytes: 4096 });
  tape.append(Buffer.from("printed"));
  await tape.sync();
  tape.close();
}

async function check(disk: SimDisk, { started, ended }: Told): Promise<void> {
  const world = { ...simWorld(2, disk), home: HOME };
  const issued = new Set(
    USES.flat().flatMap((number) => [`claim ${number}`, `exit ${JSON.stringify(exitOf(number))}`]),
  );
  for (const path of journalPaths(world))
    for (const record of readJournal(disk, path)?.records ?? [])
      ensure(issued.has(whatIs(record)), `only what was recorded is read, but ${JSON.stringify(record)} is`);
  const processes = { ...world.processes, bootId: () => "the next", alive: () => false, startTime: () => undefined };
  await restoreFiles({ disk, home: HOME, processes }, () => true);
  const held = (number: number) => readHeld({ disk, processes, directory: attemptAt(number) }, ONLY_GENERATION);
  for (const number of started)
    ensure(!["unclaimed", "cancelled"].includes(held(number).kind), `attempt ${number} was started, but is unclaimed`);
  for (const number of ended) {
    const found = held(number);
    const code = found.kind === "ended" ? found.exit.code : undefined;
    ensure(code === number, `the end of attempt ${number} was told, but it is ${JSON.stringify(found)}`);
    const printed = disk.peek(`${attemptAt(number)}/tape/0000000000000000.seg`);
    ensure(number % 2 === 1 || Buffer.from(printed ?? []).toString() === "printed", `attempt ${number} has its output`);
  }
}

function whatIs({ of, claim: made, exit }: Readonly<Record<string, unknown>>): string {
  const number = String(of).slice(String(of).lastIndexOf("/") + 1);
  const isClaim = typeof made === "object" && made !== null && "by" in made && made.by === "holder";
  return isClaim ? `claim ${number}` : `exit ${JSON.stringify(exit)}`;
}

/** Returns how many crashes were survived. */
export async function journalCrashes(): Promise<number> {
  return everyCrash({ start: await homeWithJournal(), nothingPromised: NOTHING, live, check });
}
