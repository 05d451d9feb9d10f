// Waiting in tests: for a fact and never for a time. A wait that fails says which fact never came and what was last seen.

/**
 * Longer than anything takes; a fact that is still missing then will not come. The test command measures how busy the
 * machine is, and sets HOLDFAST_PATIENCE to how many times as long to wait (scripts/patience.ts).
 */
export const PATIENCE_MS = 30_000 * Number(process.env["HOLDFAST_PATIENCE"] ?? "1");
const LOOK_MS = 3;
/** Enough to see what went wrong, and no screen full of a log. */
const SEEN_CHARACTERS = 2_000;

type Found<T> = T | undefined | false;

/** Waits before the next look, at least as long as the last one took: looking must not keep the machine busy. */
export async function pause(tookMs: number): Promise<void> {
  await Bun.sleep(Math.max(LOOK_MS, tookMs));
}

/** Returns what `look` finds as soon as that is neither undefined nor false. `seen` tells what is there instead if it never is. */
export async function until<T>(
  fact: string,
  look: () => Found<T> | Promise<Found<T>>,
  seen: () => unknown,
  patienceMs: number = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const began = performance.now();
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`never true: ${fact}\nlast seen: ${await described(seen)}`);
    await pause(performance.now() - began);
  }
}

/** What cannot be looked at any more is told as well: it must not hide which fact was waited for. */
async function described(seen: () => unknown): Promise<string> {
  try {
    const value = await seen();
    return (typeof value === "string" ? value : Bun.inspect(value)).slice(-SEEN_CHARACTERS);
  } catch (error) {
    return `an error: ${String(error)}`;
  }
}
