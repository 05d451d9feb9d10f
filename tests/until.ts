// Waiting in tests: for a fact and never for a time, and with its name where it does not come.

/**
 * Longer than anything takes; a fact that is still missing then will not come. The test command measures how busy the
 * machine is, and sets HOLDFAST_PATIENCE to how many times as long to wait (scripts/patience.ts).
 */
export const PATIENCE_MS = 30_000 * Number(process.env["HOLDFAST_PATIENCE"] ?? "1");
/** Between the first looks, and at most between later ones. */
const LOOK_MS = 3;
const MOST_MS = 100;

/**
 * Waits before the next look: longer than the last one took, and the longer the longer the fact was waited for. Looking
 * must not keep the machine busy, since others wait for it too.
 */
export async function pause(tookMs: number, waitedMs: number): Promise<void> {
  await Bun.sleep(Math.max(LOOK_MS, 2 * tookMs, Math.min(MOST_MS, waitedMs / 20)));
}

/** `seen` is told where it fails. */
export async function until(
  fact: string,
  holds: () => boolean | Promise<boolean>,
  seen: () => unknown = () => "",
): Promise<void> {
  const start = performance.now();
  for (let began = start; !(await holds()); began = performance.now()) {
    const now = performance.now();
    if (now - start > PATIENCE_MS) throw new Error(`never true: ${fact}\n${String(seen())}`);
    await pause(now - began, now - start);
  }
}
