// Counts what a process and everything that it starts has to wait for the disk for: fsync, fdatasync and their like,
// with the file of each. With strace.
import { readFileSync } from "node:fs";

const CALLS = "fsync,fdatasync,sync,syncfs,sync_file_range,msync";
const FLUSH = /\b(?:fsync|fdatasync|syncfs|sync_file_range)\(\d+<([^>]*)>|\b(?:sync|msync)\(/;
const LOOK_MS = 20;

/** Attached to a process that runs, and to what it starts from now on. */
export class FlushTrace {
  readonly #strace: Bun.Subprocess;
  readonly #file: string;

  /** `file` is new. */
  static async attach(pid: number, file: string): Promise<FlushTrace> {
    const words = ["strace", "-f", "-y", "-s", "0", "-e", `trace=${CALLS}`, "-e", "signal=none", "-o", file];
    const strace = Bun.spawn([...words, "-p", String(pid)], { stdio: ["ignore", "ignore", "ignore"] });
    while (!isTraced(pid)) {
      if (strace.exitCode !== null) throw new Error("strace does not work here");
      await Bun.sleep(LOOK_MS);
    }
    return new FlushTrace(strace, file);
  }

  private constructor(strace: Bun.Subprocess, file: string) {
    this.#strace = strace;
    this.#file = file;
  }

  /** How many there were so far. */
  get count(): number {
    return this.#paths().length;
  }

  /** The files of all of them, from the `from`th on. */
  async end(from: number): Promise<string[]> {
    this.#strace.kill("SIGINT"); // It lets go of everyone.
    await this.#strace.exited;
    return this.#paths().slice(from);
  }

  #paths(): string[] {
    const lines = readFileSync(this.#file, "utf8").split("\n");
    return lines.flatMap((line) => {
      const found = FLUSH.exec(line);
      return found === null ? [] : [found[1] ?? ""];
    });
  }
}

function isTraced(pid: number): boolean {
  return !/^TracerPid:\s+0$/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}
