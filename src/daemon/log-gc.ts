// Which segments of the logs of sessions that go on garbage collection may delete, by `[retention] log_days` and
// `log_bytes`. Without it the log of an agent or a run that never ends would grow for ever.
// LG1. Only what two good checkpoints have is deleted: they are read now. If one of them is damaged later, the fold
//      begins with the other one, and the log after it is there. A session that was set aside loses nothing.
// LG2. A log loses its beginning, never a piece out of its middle: with a segment goes everything before it.
// LG3. What is to go is on disk before the first of it goes (SG3 of log/session/log-segments.ts). What a crash leaves
//      of it is deleted in the next round.
import { joinPath } from "../base/path.ts";
import { beyond, daysMs } from "../core/retention.ts";
import type { HomeWorld } from "../home/held/holder-files.ts";
import type { EventLog } from "../log/event-log.ts";
import { decodeEntry } from "../log/session/entry.ts";
import { type LogSegments, markTrimmed, segmentsIn } from "../log/session/log-segments.ts";
import { listSessions } from "../log/session/places.ts";
import { tailOf } from "../log/session/session-log.ts";
import type { Disk } from "../world/disk.ts";
import { type Garbage, sized, timeOf } from "./gc.ts";
import type { Part, Retention } from "./part.ts";

type Covering = readonly Pick<Part, "covered">[];
type SessionFiles = LogSegments & { readonly session: string };

const WHAT = "older lines of a log";

/** What garbage collection needs of the logs of these parts' sessions. */
export function logsOf(place: HomeWorld, log: Pick<EventLog, "frozen">, parts: Covering) {
  const covered = (session: string) => {
    const seqs = parts.map((part) => part.covered?.(session) ?? 0);
    return log.frozen(session) === undefined ? Math.max(0, ...seqs) : 0; // LG1
  };
  return { garbage: (rules: Retention) => logGarbage(place, covered, rules) };
}

function logGarbage(place: HomeWorld, covered: (session: string) => number, rules: Retention): Garbage[] {
  const { disk, home, clock } = place;
  const sessions = listSessions(disk, home);
  const logs = sessions.map((session) => ({ session, ...segmentsIn(disk, joinPath(home, session)) }));
  const things = logs.flatMap(({ session, segments }) =>
    segments.map(({ path, last }) => ({
      ...sized(disk, WHAT, [path]),
      ...{ session, last, at: writtenAt(disk, path) },
    })),
  );
  const limits = { ageMs: daysMs(rules.logDays), bytes: rules.logBytes };
  const due = Map.groupBy(beyond(things, limits, clock.now()), ({ session }) => session);
  return logs.flatMap((files) => {
    const chosen = due.get(files.session) ?? [];
    const newest = Math.max(0, ...chosen.map(({ last }) => last));
    const through = newest === 0 ? 0 : Math.min(newest, covered(files.session));
    return trimmedAt(place, files, through, chosen[0]?.reason ?? "");
  });
}

/** When the last entry of a segment was written, by itself: the times of files change when a home is copied. */
function writtenAt(disk: Disk, path: string): number | undefined {
  const line = tailOf(disk, path, Number.POSITIVE_INFINITY).findLast(({ head }) => head !== undefined);
  const entry = line && decodeEntry(line.bytes);
  return entry && timeOf(entry.ts);
}

/** LG2, LG3 */
function trimmedAt(place: HomeWorld, files: SessionFiles, through: number, reason: string): Garbage[] {
  const { disk, home } = place;
  const { session, segments, removed } = files;
  const gone = segments.filter(({ last }) => last <= through);
  const paths = [...removed, ...gone].map(({ path }) => path);
  const last = gone.at(-1)?.last;
  if (paths.length === 0) return [];
  const thing = { ...sized(disk, `${WHAT} of ${session}`, paths), at: undefined };
  if (last === undefined) return [{ ...thing, reason: "they were to be removed before" }];
  const work = {
    what: WHAT,
    look: async () => ({ bytes: 0 }),
    remove: async () => {
      await markTrimmed(disk, joinPath(home, session), last, new Date(place.clock.now()).toISOString()); // LG3
      return undefined;
    },
  };
  return [{ ...thing, reason, work }];
}
