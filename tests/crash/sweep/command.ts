// The real command line, on a home of the sweep.
import { join } from "node:path";
import { BUN, ours } from "../../ours.ts";

/** Preloaded into every program of the home, which pass it on. */
export const EARLY = join(import.meta.dir, "early.ts");

export type Answer = { readonly code: number; readonly out: string; readonly err: string };

/** A command that needs the daemon may start a watchdog. */
export async function command(home: string, ...words: readonly string[]): Promise<Answer> {
  const argv = ours("src/cli/main.ts", ...words, "--home", home);
  const flags = argv.indexOf(BUN) + 1;
  const env = { PATH: "/usr/bin:/bin", HOME: home };
  const child = Bun.spawn(argv.toSpliced(flags, 0, "--preload", EARLY), { env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}
