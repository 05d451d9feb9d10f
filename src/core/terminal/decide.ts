// Decides on a command about a terminal: events, or a refusal (T1 of terminal.ts).
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { decideRestoration, isRestoration } from "./decide-restore.ts";
import type { TerminalEvent } from "./events.ts";
import type { Ending, Recipe, Terminal, TerminalCommand, TerminalState, Terminals } from "./terminal.ts";

/** Letters, digits and a few marks, not starting with one: fit for a shell, a file name and a table. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** As the holder accepts them. */
const SIGNAL = /^SIG[A-Z0-9+]{2,10}$/;
/** The system counts rows and columns in 16 bits. */
const MAX_SIDE = 65_535;

export function decideTerminal(terminals: Terminals, command: TerminalCommand, at: string): Result<TerminalEvent[]> {
  if (command.kind === "create") return create(terminals, command, at);
  const terminal = terminals.get(command.id);
  if (terminal === undefined || terminal.removed) return unknown(command.id);
  if (command.kind === "rename") return rename(terminals, terminal, command.name);
  if (command.kind === "move") return move(terminal, command.lane);
  if (command.kind === "remove") return remove(terminal);
  if (command.kind === "signal") return signal(terminal, command.signal);
  if (isRestoration(command)) return decideRestoration(terminal, command, at);
  return ok(outcome(terminal, command, at));
}

function create(
  terminals: Terminals,
  command: TerminalCommand & { kind: "create" },
  at: string,
): Result<TerminalEvent[]> {
  const bad = [command.name, command.lane].find((name) => !NAME.test(name));
  if (bad !== undefined) return badName(bad);
  const wrong = wrongRecipe(command.recipe);
  if (wrong !== undefined) return wrong;
  const { id, name, lane, recipe, policy, unset = [] } = command;
  const over = replaced(terminals, command);
  if (over === undefined && nameTaken(terminals, name)) return taken(name);
  const wanted = { ...(policy !== undefined && { policy }), ...(unset.length > 0 && { unset }) };
  const gone: TerminalEvent[] = over === undefined ? [] : [{ event: "terminal.removed", id: over.id, data: {} }];
  return ok([
    ...gone,
    { event: "terminal.created", id, data: { name, lane, ...recipe, generation: 1, at, ...wanted } },
  ]);
}

/** The ended terminal whose name the new one takes over, if the client has agreed to that. */
function replaced(
  terminals: Terminals,
  { name, replaces }: TerminalCommand & { kind: "create" },
): Terminal | undefined {
  const over = replaces === undefined ? undefined : terminals.get(replaces);
  return over?.state.kind === "ended" && !over.removed && over.name === name ? over : undefined;
}

/** What no holder could start is refused here, while the client still waits for the answer. */
function wrongRecipe({ argv, cwd, env, size }: Recipe): No | undefined {
  if (argv.length === 0 || argv[0] === "")
    return refused("bad-command", "There is no command to run.", "Give one after `--`.");
  if (!cwd.startsWith("/"))
    return refused(
      "bad-directory",
      `${JSON.stringify(cwd)} is not an absolute path.`,
      "Give the directory with a leading /.",
    );
  const texts = [...argv, cwd, ...Object.keys(env), ...Object.values(env)];
  if (texts.some((text) => text.includes("\0")))
    return refused("bad-command", "A command, its directory and its variables cannot contain NUL.", "Leave it out.");
  const sides = [size.cols, size.rows];
  return sides.every((side) => Number.isInteger(side) && side >= 1 && side <= MAX_SIDE)
    ? undefined
    : refused("bad-size", `A terminal cannot be ${sides.join(" × ")}.`, `Each side is 1 to ${MAX_SIDE}.`);
}

function move(terminal: Terminal, lane: string): Result<TerminalEvent[]> {
  if (!NAME.test(lane)) return badName(lane);
  return ok(lane === terminal.lane ? [] : [{ event: "terminal.moved", id: terminal.id, data: { lane } }]);
}

function rename(terminals: Terminals, terminal: Terminal, name: string): Result<TerminalEvent[]> {
  if (!NAME.test(name)) return badName(name);
  if (name === terminal.name) return ok([]);
  return nameTaken(terminals, name)
    ? taken(name)
    : ok([{ event: "terminal.renamed", id: terminal.id, data: { name } }]);
}

function remove(terminal: Terminal): Result<TerminalEvent[]> {
  if (terminal.state.kind === "running" || terminal.state.kind === "starting") {
    return refused(
      "still-running",
      `${terminal.name} is still running.`,
      `End it first: holdfast kill ${terminal.name}`,
    );
  }
  return ok([{ event: "terminal.removed", id: terminal.id, data: {} }]);
}

function signal(terminal: Terminal, name: string): Result<TerminalEvent[]> {
  if (terminal.state.kind === "ended" || terminal.state.kind === "uncertain") {
    return refused("not-running", `${terminal.name} is not running.`, "`holdfast ls` shows what is.");
  }
  if (!SIGNAL.test(name))
    return refused(
      "bad-signal",
      `Unknown signal ${JSON.stringify(name)}.`,
      "For example SIGTERM; `kill -l` shows all.",
    );
  return ok([{ event: "terminal.signal.requested", id: terminal.id, data: { signal: name } }]);
}

type Outcome = Extract<TerminalCommand, { kind: "started" | "signalled" | "ended" | "lost" }>;

/** Reports from the world are taken as they are; a repeat changes nothing. */
function outcome(terminal: Terminal, command: Outcome, at: string): TerminalEvent[] {
  const { id, generation, state } = terminal;
  if (isOver(state)) return [];
  if (command.kind === "signalled")
    return terminal.signal === undefined ? [] : [{ event: "terminal.signalled", id, data: {} }];
  if (terminal.rollingBack && command.kind !== "started")
    return [{ event: "terminal.rolledback", id, data: { generation, at } }];
  if (command.kind === "ended") return [ended(terminal, command, at)];
  if (command.kind === "lost") {
    const known = command.evidence === undefined ? {} : { evidence: command.evidence };
    return state.kind === "uncertain"
      ? []
      : [{ event: "terminal.uncertain", id, data: { reason: command.reason, generation, ...known } }];
  }
  const { child, holder } = command;
  const same = state.kind === "running" && state.pid === child.pid && state.startTime === child.startTime;
  const { pid, startTime: start_time, bootId: boot_id } = child;
  return same ? [] : [{ event: "terminal.started", id, data: { pid, start_time, boot_id, holder, generation } }];
}

/** Later reports no longer count. */
function isOver(state: TerminalState): boolean {
  return state.kind === "ended" || (state.kind === "uncertain" && state.rolledBack === true);
}

function ended({ id, generation }: Terminal, { code, signal: by, stoppedIn }: Ending, at: string): TerminalEvent {
  const stopped = stoppedIn === undefined ? {} : { stopped_in: stoppedIn };
  return { event: "terminal.ended", id, data: { code, signal: by, generation, at, ...stopped } };
}

function nameTaken(terminals: Terminals, name: string): boolean {
  for (const terminal of terminals.values()) if (!terminal.removed && terminal.name === name) return true;
  return false;
}

type No = { readonly ok: false; readonly error: Refusal };

function badName(name: string): No {
  return refused(
    "bad-name",
    `${JSON.stringify(name)} is not a valid name.`,
    "Use letters, digits, dot, dash and underscore, at most 64.",
  );
}

function taken(name: string): No {
  return refused(
    "name-taken",
    `There is already a terminal named ${name}.`,
    `Attach to it (holdfast attach ${name}) or choose another name.`,
  );
}

function unknown(id: string): No {
  return refused("unknown", `There is no terminal ${id}.`, "`holdfast ls` shows all.");
}
