// strace: whether it works here, and how it makes one call of a running process fail.
// SX1. All threads of the process are traced, and none of its children: each of those is another victim.
// SX2. The trace proves that the fault was injected. `when=N` counts for each thread and each call on its own.
// SX3. A tracer that is gone leaves the process as it is; a hard limit ends one that is forgotten.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { until } from "../until.ts";

const LIMIT_MS = 120_000;
const DETACH_MS = 2_000;

/** It may be missing, and if it is not, ptrace may be forbidden. */
export function tryStrace(): { readonly ok: boolean; readonly why: string } {
  const strace = Bun.which("strace");
  if (strace === null) return { ok: false, why: "strace is not installed" };
  const tried = Bun.spawnSync([strace, "-f", "-o", "/dev/null", "true"]);
  return { ok: tried.exitCode === 0, why: `strace does not work here: ${tried.stderr.toString().trim()}` };
}

export class Injection {
  readonly #tracer: Bun.Subprocess;
  readonly #trace: string;

  /** `what`: as strace's `inject=` takes it, for example `fsync:error=EIO:when=2`. */
  private constructor(tracer: Bun.Subprocess, trace: string) {
    this.#tracer = tracer;
    this.#trace = trace;
  }

  /** Resolves when the process is traced. */
  static async into(pid: number, what: string, trace: string): Promise<Injection> {
    const threads = readdirSync(`/proc/${pid}/task`).flatMap((thread) => ["-p", thread]); // SX1
    const calls = what.slice(0, what.indexOf(":"));
    const words = ["strace", "-y", "-o", trace, "-e", `trace=${calls}`, "-e", `inject=${what}`, ...threads];
    const tracer = Bun.spawn(words, {
      stdio: ["ignore", "ignore", Bun.file(`${trace}.said`)],
      timeout: LIMIT_MS,
      killSignal: "SIGKILL", // SX3
    });
    const traced = () => readFileSync(`/proc/${pid}/status`, "utf8").includes(`TracerPid:\t${tracer.pid}`);
    await until("it is traced", traced, () => readFileSync(`${trace}.said`, "utf8"));
    return new Injection(tracer, trace);
  }

  /** The calls that failed, or at which the process was killed (SX2). */
  get hits(): string[] {
    if (!existsSync(this.#trace)) return [];
    return readFileSync(this.#trace, "utf8")
      .split("\n")
      .filter((line) => line.includes("(INJECTED)") || line.includes("killed by SIGKILL"));
  }

  /** It detaches, unless it waits for a thread of a process that was killed. */
  async end(): Promise<void> {
    if (this.#tracer.exitCode === null) this.#tracer.kill("SIGTERM");
    if ((await Promise.race([this.#tracer.exited, Bun.sleep(DETACH_MS)])) === undefined) this.#tracer.kill("SIGKILL");
    await this.#tracer.exited;
  }
}
