// What is removed, and when: things that are no longer needed, by age, number and size. Pure.
// RT1. Only what is over can be chosen: the survey names nothing that is running or that a recovery needs.
// RT2. Something without a time counts as new: its age never removes it.
// RT3. Size and number never remove anything that has just become useless (`graceMs`): a mistake can be noticed for a
//      day.
// RT4. Ended sessions that a person may still be looking at stay at hand, in memory: for a while, and only the newest
//      of many. The rest can be archived. Archiving loses nothing, so one without a time is not kept for it.

/** `at`: when it became useless, in wall-clock milliseconds; undefined if unknown. */
export type Thing = {
  readonly what: string;
  /** What to remove: files, then their directories. */
  readonly paths: readonly string[];
  readonly bytes: number;
  readonly at: number | undefined;
};

export type Limits = {
  readonly ageMs: number;
  readonly bytes?: number;
  readonly count?: number;
};

export type Because<T extends Thing> = T & { readonly reason: string };
export type Chosen = Because<Thing>;

const DAY_MS = 24 * 60 * 60 * 1000;
/** RT3 */
const GRACE_MS = DAY_MS;

/** The things to remove, oldest first. */
export function beyond<T extends Thing>(things: readonly T[], limits: Limits, now: number): Because<T>[] {
  const age = (thing: Thing) => now - (thing.at ?? now); // RT2
  let bytes = 0;
  const chosen: Because<T>[] = [];
  for (const [index, thing] of things.toSorted((a, b) => age(a) - age(b)).entries()) {
    const reason = whyNot(age(thing), limits, { count: index + 1, bytes: bytes + thing.bytes });
    if (reason === undefined) bytes += thing.bytes;
    else chosen.push({ ...thing, reason });
  }
  return chosen.reverse();
}

/** `upTo`: how many there are up to this one, and how many bytes are kept with it. */
function whyNot(age: number, limits: Limits, upTo: { count: number; bytes: number }): string | undefined {
  if (age > limits.ageMs) return `older than ${days(limits.ageMs)}`;
  if (age < Math.min(GRACE_MS, limits.ageMs)) return undefined; // RT3
  if (upTo.count > (limits.count ?? Number.POSITIVE_INFINITY)) return `more than ${limits.count} of them`;
  const room = limits.bytes ?? Number.POSITIVE_INFINITY;
  return upTo.bytes > room ? `more than ${limits.bytes} bytes of them` : undefined;
}

export function daysMs(count: number): number {
  return count * DAY_MS;
}

function days(ms: number): string {
  const count = Math.round(ms / DAY_MS);
  return `${count} ${count === 1 ? "day" : "days"}`;
}

/** RT4. So long each of them stays, however many there are: `run` and `workflows` show them. */
const AT_HAND_MS = 60_000;

/** RT4. Those that need not be at hand any more, oldest first. */
export function notAtHand<T extends { readonly at: number | undefined }>(
  ended: readonly T[],
  limits: { readonly ageMs: number; readonly count: number },
  now: number,
): T[] {
  const age = ({ at }: T) => now - (at ?? 0);
  const newestFirst = ended.toSorted((one, other) => age(one) - age(other));
  const isOld = (one: T, index: number) =>
    age(one) >= limits.ageMs || (index >= limits.count && age(one) >= AT_HAND_MS);
  return newestFirst.filter(isOld).reverse();
}
