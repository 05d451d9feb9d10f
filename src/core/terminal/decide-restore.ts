// What may be done about a terminal that was lost: restored, accepted, rolled back, and what its owner wants done the next time.
// TR1. A restoration names the generation that was found lost: of two who find it, one starts the next generation.
// TR2. What runs, or is about to, is never restored; whoever found it lost says so, in the same decision.
// TR3. A restoration can be taken back until somebody has accepted it; afterwards it is the terminal's life.
import { ok, type Result, refused } from "../../base/result.ts";
import type { TerminalEvent } from "./events.ts";
import type { RestorationCommand, Terminal, TerminalCommand } from "./terminal.ts";

export function isRestoration(command: TerminalCommand): command is RestorationCommand {
  return ["restore", "accept", "rollback", "policy"].includes(command.kind);
}

export function decideRestoration(
  terminal: Terminal,
  command: RestorationCommand,
  at: string,
): Result<TerminalEvent[]> {
  if (command.kind === "restore") return restore(terminal, command, at);
  if (command.kind === "rollback") return rollback(terminal, at);
  const { id, generation, restored } = terminal;
  if (command.kind === "policy") {
    const { policy } = command;
    return ok(policy === terminal.policy ? [] : [{ event: "terminal.policy.changed", id, data: { policy } }]);
  }
  if (restored === undefined || restored.accepted || terminal.rollingBack) return ok([]);
  return ok([{ event: "terminal.accepted", id, data: { generation, by: command.by, at } }]);
}

function restore(
  terminal: Terminal,
  command: RestorationCommand & { kind: "restore" },
  at: string,
): Result<TerminalEvent[]> {
  const { id, generation, state, name } = terminal;
  if (command.generation !== generation) return ok([]); // TR1
  if (terminal.rollingBack) return refused("not-yet", `${name} is being rolled back.`, "Try again in a moment.");
  const { lost } = command;
  if (lost === undefined && (state.kind === "running" || state.kind === "starting")) {
    return refused("still-running", `${name} is running.`, `holdfast attach ${name}`); // TR2
  }
  const found: TerminalEvent[] =
    lost === undefined || state.kind === "uncertain"
      ? []
      : [{ event: "terminal.uncertain", id, data: { ...lost, generation } }];
  const { screenAgeMs, ...start } = command.start;
  const data = { ...start, screen_age_ms: screenAgeMs, generation: generation + 1, at };
  return ok([...found, { event: "terminal.restored", id, data }]);
}

/** TR3 */
function rollback(terminal: Terminal, at: string): Result<TerminalEvent[]> {
  const { id, generation, restored, state, name } = terminal;
  if (restored === undefined) {
    return refused(
      "not-restored",
      `${name} was not restored: there is nothing to take back.`,
      "holdfast recovery report",
    );
  }
  if (restored.accepted) {
    const hint = `End it (holdfast kill ${name}), or open another: holdfast new`;
    return refused("accepted", `${name} was accepted as it is now.`, hint);
  }
  if (terminal.rollingBack) return ok([]);
  const over = state.kind === "ended" || state.kind === "uncertain";
  return ok([{ event: over ? "terminal.rolledback" : "terminal.rollback.requested", id, data: { generation, at } }]);
}
