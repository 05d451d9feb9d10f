// Waiting in tests: for a fact and never for a time. A wait that fails says which fact never came and what was last
// seen.

/**
 * Longer than anything takes; a fact that is still missing then will not come. The test command measures how busy the
 * machine is, and sets HOLDFAST_PATIENCE to how many times as long to wait (scripts/patience.ts).
 */
export const PATIENCE_MS = 30_000 * Number(process.env["HOLDFAST_PATIENCE"] ?? "1");
/** Between the first looks, and at most between later ones. */
const LOOK_MS = 3;
const MAX_MS = 100;
/** Enough to see what went wrong, and no screen full of a log. */
const SEEN_CHARACTERS = 2_000;

type Found<T> = T | undefined | false;

/**
 * Waits before the next look: longer than the last one took, and the longer the longer the fact was waited for. Looking
 * must not keep the machine busy, since others wait for it too.
 */
export async function pause(tookMs: number, waitedMs: number): Promise<void> {
  await Bun.sleep(Math.max(LOOK_MS, 4 * tookMs, Math.min(MAX_MS, waitedMs / 10)));
}

/**
 * Returns what `look` finds as soon as that is neither undefined nor false. `seen` tells what is there instead if it
 * never is.
 */
export async function until<T>(
  fact: string,
  look: () => Found<T> | Promise<Found<T>>,
  seen: () => unknown,
  patienceMs: number = PATIENCE_MS,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const began = performance.now();
    const found = await look();
    if (found !== undefined && found !== false) return found;
    const now = performance.now();
    if (now - start > patienceMs) throw new Error(`never true: ${fact}\nlast seen: ${await described(seen)}`);
    await pause(now - began, now - start);
  }
}

/** A failing look is reported as well: it must not hide which fact was waited for. */
async function described(seen: () => unknown): Promise<string> {
  try {
    const value = await seen();
    return (typeof value === "string" ? value : Bun.inspect(value)).slice(-SEEN_CHARACTERS);
  } catch (error) {
    return `an error: ${String(error)}`;
  }
}
