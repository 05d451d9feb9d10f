// The files that the source documents name (docs/REQUIREMENTS.md says which documents H1, H2, B, S and P are), and ours
// that do their work. Each of ours has at least the line coverage that the documents ask for.
// NF1. A file that is missing, for example because it was renamed, is under the limit too: the list has to follow.
import { type Coverage, percent } from "./lcov.ts";

export type Named = { readonly document: string; readonly name: string; readonly ours: readonly string[] };

const checkpointFiles = ["check", "envelope", "fold-checkpoints", "keep", "load", "read", "store"];

export const NAMED: readonly Named[] = [
  {
    document: "H1",
    name: "watchdog.ts",
    ours: [
      "src/watchdog/watchdog.ts",
      "src/watchdog/watched-program.ts",
      "src/watchdog/watched-program-table.ts",
      "src/watchdog/heartbeat-server.ts",
      "src/watchdog/exit.ts",
      "src/watchdog/crash-record.ts",
      "src/watchdog/pace.ts",
      "src/watchdog/life.ts",
      "src/watchdog/run.ts",
      "src/watchdog/program.ts",
      "src/home/heartbeat-client.ts",
      "src/home/last-crash.ts",
    ],
  },
  {
    document: "H1",
    name: "safe-mode.ts",
    ours: ["src/watchdog/crash-loop.ts", "src/home/safe-mode.ts", "src/cli/system/safe-mode.ts"],
  },
  { document: "H1", name: "protocol/bus.ts", ours: ["src/daemon/bus.ts", "src/home/recovery-bus.ts"] },
  {
    document: "H2",
    name: "state-machine.ts",
    ours: [
      "src/core/recovery.ts",
      "src/daemon/recovery-run.ts",
      "src/daemon/recovery-state.ts",
      "src/daemon/terminal/recovery.ts",
      "src/daemon/agent/recovery.ts",
      "src/daemon/workflow/recovery.ts",
      "src/daemon/tmux/recovery.ts",
    ],
  },
  {
    document: "H2",
    name: "checkpoint.ts",
    ours: [
      "src/core/terminal/checkpoint.ts",
      "src/daemon/terminal/checkpoints.ts",
      "src/daemon/terminal/checkpoint-state.ts",
      "src/daemon/terminal/checkpoint-writer.ts",
      "src/daemon/terminal/checkpoint-reader.ts",
      ...checkpointFiles.map((name) => `src/log/checkpoint/${name}.ts`),
      "src/log/file/atomic-file.ts",
    ],
  },
  { document: "H2", name: "checkpoint-scheduler.ts", ours: ["src/daemon/terminal/checkpoint-scheduler.ts"] },
  { document: "B", name: "Daemon Startup Recovery", ours: ["src/core/startup.ts", "src/daemon/program.ts"] },
  {
    document: "B",
    name: "Subprocess Crash Recovery",
    ours: ["src/core/agent/decide-process.ts", "src/core/agent/apply-process.ts", "src/daemon/agent/process-ends.ts"],
  },
  {
    document: "B",
    name: "Tunnel Reconnection Recovery",
    ours: ["src/core/tunnel/machine.ts", "src/core/tunnel/tunnel.ts", "src/web/tunnel.ts"],
  },
  { document: "B", name: "Circuit Breaker State Machine", ours: ["src/base/breaker.ts"] },
  {
    document: "B",
    name: "Permission Request Lifecycle",
    ours: ["src/core/agent/prompt-machine.ts", "src/core/agent/prompts.ts", "src/core/agent/apply-prompts.ts"],
  },
  {
    document: "S",
    name: "events.jsonl",
    ours: [
      "src/log/event-log.ts",
      "src/log/recover.ts",
      "src/log/session/session-log.ts",
      "src/log/wal/wal.ts",
      "src/log/wal/wal-fold.ts",
    ],
  },
  {
    document: "S",
    name: "session.json, the tree, messages",
    ours: [
      "src/daemon/agent/records.ts",
      "src/core/agent/recovery.ts",
      "src/core/agent/tree.ts",
      "src/core/agent/messages.ts",
      "src/core/orphans.ts",
    ],
  },
  {
    document: "P",
    name: "workflow_execution.rs, execution_pipeline.rs",
    ours: ["src/core/workflow/advance.ts", "src/core/workflow/decide.ts", "src/daemon/workflow/engine.ts"],
  },
  { document: "P", name: "resume.rs", ours: ["src/core/workflow/resume.ts", "src/cli/workflow/resume.ts"] },
  {
    document: "P",
    name: "checkpoint_effects.rs",
    ours: ["src/core/workflow/checkpoint.ts", "src/daemon/workflow/checkpoints.ts", "src/home/checkpoint-storage.ts"],
  },
];

/** Those of ours that have less than `least` percent, or are not there (NF1), one line each. */
export function namedUnder(least: number, files: readonly Coverage[], named: readonly Named[] = NAMED): string[] {
  return named.flatMap(({ document, name, ours }) =>
    ours.flatMap((path) => {
      const file = files.find((one) => one.path === path);
      if (file === undefined) return [`${path} is not there (${document}: ${name})`];
      const covered = percent([file]);
      return covered < least ? [`${path} has ${covered.toFixed(1)} % (${document}: ${name})`] : [];
    }),
  );
}
