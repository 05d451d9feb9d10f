// What may be done about a lost terminal: restore, accept, roll back, and set its policy for the next time.
// TR1. A restoration names the generation that was found lost: of two callers that find it, one starts the next
//      generation.
// TR2. A terminal that is running, or starting, is never restored; the caller that finds it lost reports that in the
//      same decision.
// TR3. A restoration can be rolled back until a person has accepted it.
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
      `${name} was not restored: there is nothing to roll back.`,
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
