// Waiting in tests: for a fact and never for a time, and with its name where it does not come.

/**
 * Longer than anything takes; a fact that is still missing then will not come. The test command measures how busy the
 * machine is, and sets HOLDFAST_PATIENCE to how many times as long to wait (scripts/test-run.ts).
 */
const PATIENCE_MS = 30_000 * Number(process.env["HOLDFAST_PATIENCE"] ?? "1");
const LOOK_MS = 3;

/** `seen` is told where it fails. */
export async function until(
  fact: string,
  holds: () => boolean | Promise<boolean>,
  seen: () => unknown = () => "",
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`never true: ${fact}\n${String(seen())}`);
    await Bun.sleep(LOOK_MS);
  }
}
