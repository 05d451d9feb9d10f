// Waits for a fact, and fails with its name.

const PATIENCE_MS = 20_000;

export async function until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await look())) {
    if (performance.now() - began > PATIENCE_MS) throw new Error(`waited in vain for: ${what}`);
    await Bun.sleep(5);
  }
}
