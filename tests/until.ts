// Waiting in tests: for a fact and never for a time, and with its name where it does not come.

/**
 * Longer than anything takes; a fact that is still missing then will not come. The test command measures how busy the
 * machine is, and sets HOLDFAST_PATIENCE to how many times as long to wait (scripts/patience.ts).
 */
export const PATIENCE_MS = 30_000 * Number(process.env["HOLDFAST_PATIENCE"] ?? "1");
const LOOK_MS = 3;

/** Waits before the next look, at least as long as the last one took: looking must not keep the machine busy. */
export async function pause(tookMs: number): Promise<void> {
  await Bun.sleep(Math.max(LOOK_MS, tookMs));
}

/** `seen` is told where it fails. */
export async function until(
  fact: string,
  holds: () => boolean | Promise<boolean>,
  seen: () => unknown = () => "",
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let began = performance.now(); !(await holds()); began = performance.now()) {
    if (performance.now() > deadline) throw new Error(`never true: ${fact}\n${String(seen())}`);
    await pause(performance.now() - began);
  }
}
