// Ends a terminal's program: asks it, waits, and kills it if it does not react.
// EN1. An interactive shell ignores SIGTERM; it ends when its terminal hangs up, and so do its foreground jobs.
// EN2. A daemon that dies in between changes nothing: the signal is requested again, and an end stays an end.
import { ok, type Result, refused } from "../../base/result.ts";
import { isInteractiveShell } from "../../core/shell.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { terminalFiles } from "../../home/held/holder-files.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { within } from "../../world/wait.ts";
import { type Act, onDaemon } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { type LineEnd, ReconnectingHolder } from "./reconnecting-holder.ts";
import { writerName } from "./writer-name.ts";

/** The time a program gets to clean up, as with `docker stop`. */
const GRACE_MS = 10_000;
/** After SIGKILL only the kernel is left to wait for. */
const KILLED_MS = 10_000;

/** EN1 */
export function politeSignal(argv: readonly string[]): "SIGHUP" | "SIGTERM" {
  return isInteractiveShell(argv) ? "SIGHUP" : "SIGTERM";
}

export async function endTerminal(
  world: DaemonCommandWorld,
  home: string,
  terminal: ListedTerminal,
): Promise<Result<LineEnd>> {
  const { id, name, recipe, restored } = terminal;
  const line = new ReconnectingHolder(world, terminalFiles(world.disk, home, id), { writer: writerName(world, "end") });
  line.open();
  try {
    for (const [signal, ms] of [
      [politeSignal(restored?.argv ?? recipe.argv), GRACE_MS],
      ["SIGKILL", KILLED_MS],
    ] as const) {
      const asked = await signalTerminal(world, home, { id, signal });
      if (!asked.ok && asked.error.code !== "not-running") return asked;
      const end = await within(world.clock, ms, line.ended);
      if (end !== undefined) return ok(end);
    }
  } finally {
    line.close();
  }
  return refused(
    "still-running",
    `${name} does not end, even after SIGKILL.`,
    "It may be waiting for a disk: `ps` shows its state.",
  );
}

/** The signal is durable with the daemon when this returns. */
export function signalTerminal(
  world: DaemonCommandWorld,
  home: string,
  { id, signal }: { readonly id: string; readonly signal: string },
): Promise<Result<Terminal>> {
  const act: Act<Terminal> = (client) => client.call("terminal.signal", { id, signal }); // EN2
  return onDaemon(world, home, act);
}
