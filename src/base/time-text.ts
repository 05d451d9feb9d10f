// Times as texts (ISO 8601 in UTC).
// T1. A time that another program gave may be any number: it becomes the nearest one that a text can say. A Date alone
//     would throw, at every start again if the number is on record.

const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** `ms` since 1970; not a number is 1970. */
export function timeText(ms: number): string {
  return new Date(Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LAST_MS)).toISOString();
}
