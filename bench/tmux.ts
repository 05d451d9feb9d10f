// tmux as a peer: its own server, on a socket in the run's directory, without a user's configuration.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { commandMs, environment } from "./home.ts";
import type { Bench } from "./scratch.ts";

export class Tmux {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;

  /** Undefined if it is unavailable; prints the reason. */
  static find(bench: Bench, names: readonly string[]): Tmux | undefined {
    const program = Bun.which("tmux") ?? installed(bench);
    if (program !== null) return new Tmux(bench, program);
    bench.say(`skipped, because there is no tmux on the PATH (Debian: apt-get install tmux): ${names.join(", ")}`);
    return undefined;
  }

  private constructor(bench: Bench, program: string) {
    const place = join(bench.directory, "tmux");
    mkdirSync(place, { recursive: true, mode: 0o700 });
    this.env = environment(place);
    this.words = [program, "-S", join(place, "socket"), "-f", "/dev/null"];
  }

  run(...words: readonly string[]): Promise<number> {
    return commandMs([...this.words, ...words], this.env);
  }

  async end(): Promise<void> {
    await this.run("kill-server");
  }
}

/** Installs it if possible (root, apt), as the test command does for the tests; null if it is still missing. */
function installed(bench: Bench): string | null {
  if (process.getuid?.() !== 0 || Bun.which("apt-get") === null) return null;
  bench.say("installing the peer tmux, once (apt-get install tmux)");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const words of [["update"], ["install", "-y", "--no-install-recommends", "tmux"]]) {
    Bun.spawnSync(["apt-get", ...words], { env, stdio: ["ignore", "ignore", "inherit"] });
  }
  return Bun.which("tmux");
}
