// The mutants in src/daemon (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const DAEMON: readonly Mutant[] = [
  {
    mutant: "a start is given up without being cancelled on disk",
    file: "src/daemon/held/held-programs.ts",
    from: `    if (await cancelStart(this.#world, place.directory, place.generation))
      await this.report(`,
    to: `    if (cancelStart !== undefined)
      await this.report(`,
    killedBy: {
      file: "src/daemon/held/held-programs.test.ts",
      test: "HE1 a launch that is refused, or that fails for good on disk, is cancelled before it is reported",
    },
    isSentinel: true,
  },
  {
    mutant: "an attempt of a workflow is reported as prevented without a claim",
    file: "src/daemon/workflow/attempts.ts",
    from: '    const found = await this.#held.adopt(attempt, "It was stopped before it began.");',
    to: `    const found = await this.#held.look(attempt);
    await this.#held.report(attempt, found.kind === "unstarted" ? { kind: "prevented", reason: "It was stopped before it began." } : found);`,
    killedBy: {
      file: "tests/workflow/attempts.test.ts",
      test: "an attempt stopped before it began is claimed by us before that is reported, and is never started",
    },
    isSentinel: true,
  },
  {
    mutant: "the daemon stays after its log broke: nobody is told that a decision is not durable",
    file: "src/daemon/session-store.ts",
    from: "      this.#hooks.onBug(error); // U2\n",
    to: "",
    killedBy: {
      file: "tests/daemon/session-store.test.ts",
      test: "U2 if what was decided cannot be made durable, the daemon is stopped, and none of it has left",
    },
    isSentinel: true,
  },
  {
    mutant: "the daemon stays after its log broke: it only says so",
    file: "src/daemon/run.ts",
    from: "      this.#ended.resolve(FAILED);\n",
    to: "",
    killedBy: {
      file: "tests/sim/holdfast/lives.test.ts",
      test: "a daemon whose log has stopped ends soon",
      says: /goes on reporting|lives on after its log stopped/,
    },
  },
  {
    mutant: "the socket is closed before the log when the daemon leaves",
    file: "src/daemon/daemon.ts",
    from: `    await this.#parts?.log.close();
    this.#server?.close(); // Only now: what became durable in the meantime was still acknowledged.
`,
    to: `    this.#server?.close();
    await this.#parts?.log.close();
`,
    killedBy: {
      file: "tests/sim/holdfast/stop.test.ts",
      test: "D2 what becomes durable while the daemon leaves is still acknowledged, and nothing else is",
    },
  },
];
