// When a run's checkpoint is written again.
// P1. At rest (waiting, uncertain, ended) it is written at once and is complete.
// P2. While it is small it follows within 100 ms, however fast the steps are.
// P3. Once it is large it is written again when the log since then has outgrown it: so all writing together costs at most about twice
//     what the log costs, and ten thousand steps or items cost the same each. In a long step it is written at an interval.

export type SinceCheckpoint = {
  /** The size of the last one; 0 where there is none. */
  readonly lastBytes: number;
  /** What the log has grown by since, and how long ago the first of that was. */
  readonly tailBytes: number;
  readonly tailMs: number;
  readonly atRest: boolean;
};

/** Written in a few milliseconds. */
const SMALL_BYTES = 64 << 10;
const FOLLOWS_MS = 100;
/** The interval of UC-3; also how old a large one may be while anything at all has happened since. */
export const INTERVAL_MS = 30_000;

/** In how many milliseconds it is due: 0 for now; undefined where nothing has happened since the last one. */
export function checkpointDueMs({ lastBytes, tailBytes, tailMs, atRest }: SinceCheckpoint): number | undefined {
  if (tailBytes === 0) return undefined;
  if (atRest || tailBytes >= Math.max(lastBytes, SMALL_BYTES)) return 0; // P1, P3
  return Math.max(0, (lastBytes <= SMALL_BYTES ? FOLLOWS_MS : INTERVAL_MS) - tailMs); // P2, P3
}
