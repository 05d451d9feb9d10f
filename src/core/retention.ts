// What is thrown away, and when: things that nobody needs any more, by age, by number and by size. Pure.
// RT1. Only what is over can be chosen: the survey names nothing that runs, and nothing that a recovery needs.
// RT2. What has no time is as young as can be: no age makes it go.
// RT3. Size and number never make anything go that has only just become useless (`graceMs`): who made a mistake has a day to see it.

/** `at`: when it became useless, in wall-clock milliseconds; undefined where nobody knows. */
export type Thing = {
  readonly what: string;
  /** What is to be removed: files, then their directories. */
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

/** Those that have to go, oldest first. */
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
