// How a terminal that was lost is started again, decided from its recipe, what is known of its last moments, and its owner's wishes.
// RE1. What goes on with what it did is run (restore-commands.ts). Everything else comes back as its shell in its place, with the old
//      command ready to be run, and nobody runs it but a person.
// RE2. A terminal comes back without any evidence too: from the log alone.
// RE3. A command that belongs to a directory which is gone is not run elsewhere.
// RE4. Who waits for a person keeps everything: nothing is started, and nothing forgotten.
import { isExhausted, newBudget } from "../base/budget.ts";
import { type AgentSessions, agentIn } from "./agent-commands.ts";
import type { Evidence } from "./restoration.ts";
import { type RestoreCommand, type RestoreRule, restoreCommand } from "./restore-commands.ts";
import { isInteractiveShell, isTypable, typable } from "./shell.ts";
import type { Terminal } from "./terminal.ts";

/** `plan`: as the table says. `shell`: its shell, and nothing typed. `recipe`: its first command, run by a person's wish. */
export type RestoreWay = "plan" | "shell" | "recipe";

export function isWay(value: unknown): value is RestoreWay {
  return value === "plan" || value === "shell" || value === "recipe";
}

/** What is to be brought back, before anybody has looked at the disk. */
export type Aim = {
  /** The shell it is, where it is one. */
  readonly shell: readonly string[] | undefined;
  /** What ran: the program itself, or the one in front of the shell. */
  readonly command: readonly string[] | undefined;
  readonly cwd: string;
  /** When that was started; conversations written to since then may be its own. */
  readonly since: string | undefined;
  /** What was made ready the last time, and never touched. */
  readonly carried: string;
};

export type RestoreFacts = {
  readonly reason: string;
  readonly at: string;
  readonly evidence: Evidence | undefined;
  /** Why what was last seen of it is not used. */
  readonly doubt: string | null;
  readonly sessions: AgentSessions;
  /** The nearest directory that exists. */
  readonly directory: string;
  /** The shell for what was none. */
  readonly shell: string;
  readonly rules: readonly RestoreRule[];
  readonly way: RestoreWay;
  /** A person asked for it: its policy does not count. */
  readonly asked: boolean;
};

export type RestorePlan =
  | {
      readonly kind: "start";
      readonly argv: readonly string[];
      readonly cwd: string;
      readonly typed: string;
      /** For the report and the line on the screen. */
      readonly notes: readonly string[];
    }
  /** RE4 */
  | { readonly kind: "ask"; readonly why: string }
  | { readonly kind: "never"; readonly why: string };

/** A terminal that is lost again and again is left to a person. */
const MOST_RESTORATIONS = 3;
const WINDOW_MS = 60_000;

export function aimOf(terminal: Terminal, evidence: Evidence | undefined, way: RestoreWay = "plan"): Aim {
  const { recipe, restored, createdAt } = terminal;
  if (way === "recipe") return { ...NOTHING, command: recipe.argv, cwd: recipe.cwd };
  const argv = restored?.argv ?? recipe.argv;
  const cwd = restored?.cwd ?? recipe.cwd;
  if (!isInteractiveShell(argv)) return { ...NOTHING, command: argv, cwd, since: restored?.at ?? createdAt };
  const front = evidence?.foreground ?? undefined;
  const untouched = restored !== undefined && !restored.accepted && front === undefined;
  return {
    shell: argv,
    command: front !== undefined && front.argv.length > 0 ? front.argv : undefined,
    cwd: front?.cwd ?? evidence?.workingDirectory ?? cwd,
    since: front?.startedAt,
    carried: untouched ? restored.typed : "",
  };
}

const NOTHING = { shell: undefined, since: undefined, carried: "" };

export function planRestore(terminal: Terminal, facts: RestoreFacts): RestorePlan {
  const waits = facts.asked ? undefined : whyWait(terminal, facts.at);
  if (waits !== undefined) return waits;
  const aim = aimOf(terminal, facts.evidence, facts.way);
  const moved = facts.directory !== aim.cwd;
  const where = moved ? [`${aim.cwd} is gone: started in ${facts.directory}`] : [];
  const { argv, typed, notes } = startOf(aim, facts, moved);
  const unset = terminal.unset.length === 0 ? [] : [`not stored, and so unset: ${terminal.unset.join(", ")}`];
  const doubt = facts.doubt === null ? [] : [`not as it was last seen: ${facts.doubt}`];
  return { kind: "start", argv, cwd: facts.directory, typed, notes: [...notes, ...where, ...unset, ...doubt] };
}

/** RE4 */
function whyWait({ policy, restorations }: Terminal, at: string): RestorePlan | undefined {
  if (policy === "never") return { kind: "never", why: "its policy is never" };
  if (policy === "ask") return { kind: "ask", why: "its policy is ask" };
  const budget = newBudget(MOST_RESTORATIONS, WINDOW_MS, restorations.map(Date.parse));
  return isExhausted(budget, Date.parse(at))
    ? { kind: "ask", why: `it was started again ${MOST_RESTORATIONS} times within a minute` }
    : undefined;
}

type Start = { readonly argv: readonly string[]; readonly typed: string; readonly notes: readonly string[] };

function startOf(aim: Aim, facts: RestoreFacts, moved: boolean): Start {
  const shell = aim.shell ?? [facts.shell];
  const { command } = aim;
  if (facts.way === "recipe" && command !== undefined) return { argv: command, typed: "", notes: ["run as at first"] };
  if (facts.way === "shell") return { argv: shell, typed: "", notes: ["its shell, with nothing run"] };
  if (command === undefined) return idle(shell, aim.carried);
  const [program = ""] = shell;
  const written = typable(command, program);
  const restore = moved ? undefined : restoreCommand(command, facts.sessions, facts.rules, written ?? ""); // RE3
  const run = restore === undefined ? undefined : runs(restore, aim, shell);
  return run ?? ready(shell, command, written);
}

function idle(argv: readonly string[], carried: string): Start {
  const line = carried.replace(/\r$/, "");
  const typed = isTypable(line) ? carried : "";
  return { argv, typed, notes: typed === "" ? ["its shell"] : ["its shell", waitsText(line, carried.endsWith("\r"))] };
}

function runs(restore: RestoreCommand, { shell: was }: Aim, shell: readonly string[]): Start | undefined {
  if (restore.kind === "words" && was === undefined) {
    return { argv: restore.argv, typed: "", notes: [`goes on with: ${shown(restore.argv.join(" "))}`] };
  }
  const line = restore.kind === "line" ? restore.line : typable(restore.argv, shell[0] ?? "");
  if (line === undefined || !isTypable(line)) return undefined;
  return { argv: shell, typed: `${line}\r`, notes: [`goes on with: ${shown(line)}`] };
}

/** RE1 */
function ready(argv: readonly string[], command: readonly string[], written: string | undefined): Start {
  if (written === undefined) {
    return { argv, typed: "", notes: [`its shell; its command cannot be typed: ${shown(command.join(" "))}`] };
  }
  return { argv, typed: written, notes: [waitsText(written, false)] };
}

function waitsText(line: string, runsNow: boolean): string {
  return runsNow ? `goes on with: ${shown(line)}` : `ready to be run, not run: ${shown(line)}`;
}

/** Which agent's conversations have to be looked for. */
export function agentOf({ command }: Aim) {
  return command === undefined ? undefined : agentIn(command)?.agent;
}

const SHOWN = 200;

/** For a line that people read: nothing in it moves a cursor. */
export function shown(text: string): string {
  const plain = text.replace(/\p{Cc}|\p{Zl}|\p{Zp}|\p{Cf}/gu, "�");
  return plain.length > SHOWN ? `${plain.slice(0, SHOWN)}…` : plain;
}

/** The line on the screen that says what happened. */
export function messageOf(facts: Pick<RestoreFacts, "reason" | "at">, notes: readonly string[]): string {
  const when = `${facts.at.slice(0, 19).replace("T", " ")} UTC`;
  return shown(`holdfast: ${facts.reason}; started again ${when}`).concat(...notes.map((note) => `; ${shown(note)}`));
}
