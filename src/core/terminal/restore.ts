// How a lost terminal is restarted, decided from its recipe, what is known of its last moments, and its owner's wishes.
// RE1. A command that continues its work is run (restore-commands.ts). Everything else comes back as its shell in its
//      directory, with the old command typed; only a person runs it.
// RE2. A terminal comes back without any evidence too: from the log alone.
// RE3. A command whose directory is gone is not run elsewhere.
// RE4. A restoration that was not accepted does not replace the known state: the next one is planned from what was
//      known before it. So a start in the wrong directory (a disk mounted late) or a failed one never replaces the good
//      state.
// RE5. A terminal that waits for a person keeps everything: nothing is started, and nothing forgotten.
// RE6. A person's choice of the shell alone holds for later restorations, until they choose otherwise.
// RE7. A command that was only typed is typed again the next time, if nothing was seen in front since.
import { isExhausted, newBudget } from "../../base/budget.ts";
import { isInteractiveShell, isTypable, typable } from "../shell.ts";
import { type AgentName, agentIn } from "./agent-names.ts";
import type { AgentSessions } from "./coding-agent.ts";
import type { Evidence, SeenAgent } from "./restoration.ts";
import { type ProgramOrigin, type RestoreCommand, type RestoreRule, restoreCommand } from "./restore-commands.ts";
import type { Terminal } from "./terminal.ts";

/**
 * `plan`: as the table says. `shell`: its shell, and nothing typed. `recipe`: its first command, run at a person's
 * request.
 */
export type RestoreWay = "plan" | "shell" | "recipe";

/** What is to be restored, before the disk is read. */
export type Aim = {
  /** The shell, if it is one. */
  readonly shell: readonly string[] | undefined;
  /** What ran: the program itself, or the foreground program of the shell. */
  readonly command: readonly string[] | undefined;
  readonly cwd: string;
  readonly origin: ProgramOrigin;
  /** The agent that was in front, and its conversation. */
  readonly agent?: SeenAgent | undefined;
  /** When that was started; conversations written to since then may be its own. */
  readonly since: string | undefined;
};

export type RestoreFacts = {
  readonly reason: string;
  readonly at: string;
  readonly evidence: Evidence | undefined;
  /** Why the last known state is not used. */
  readonly doubt: string | null;
  readonly sessions: AgentSessions;
  /** The nearest existing directory. */
  readonly directory: string;
  /** The shell for a program that ran without one. */
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
  /** RE5 */
  | { readonly kind: "ask"; readonly why: string }
  | { readonly kind: "never"; readonly why: string };

/** A terminal that is lost more often is left to a person. */
const MAX_RESTORATIONS = 3;
const WINDOW_MS = 60_000;

export function aimOf(terminal: Terminal, evidence: Evidence | undefined, way: RestoreWay = "plan"): Aim {
  const { recipe, createdAt } = terminal;
  const own = { shell: undefined, origin: {} }; // The user gave these words themselves.
  if (way === "recipe") return { ...own, command: recipe.argv, cwd: recipe.cwd, since: undefined };
  const { restored } = terminal;
  const accepted = restored?.accepted === true ? restored : undefined; // RE4
  const last = accepted ?? (restored?.way === "shell" ? restored : undefined); // RE6
  const { argv } = last ?? recipe;
  const { cwd } = accepted ?? recipe;
  const { agent } = evidence ?? {};
  if (!isInteractiveShell(argv)) return { ...own, command: argv, cwd, agent, since: accepted?.at ?? createdAt };
  const front = last === accepted ? (evidence?.foreground ?? undefined) : undefined;
  return {
    shell: argv,
    command: front !== undefined && front.argv.length > 0 ? front.argv : typedOnly(terminal),
    origin: { elsewhere: front?.elsewhere === true, notOnPath: front?.notOnPath === true },
    cwd: front?.cwd ?? evidence?.workingDirectory ?? cwd,
    agent: front === undefined ? undefined : agent,
    since: front?.startedAt,
  };
}

/** RE7. For a terminal that was opened for this command; in a shell of the user's, it is one of many. */
function typedOnly({ recipe, restored }: Terminal): readonly string[] | undefined {
  const isTyped = restored !== undefined && restored.typed !== "" && !isRun(restored);
  return isTyped && !isInteractiveShell(recipe.argv) ? recipe.argv : undefined;
}

/**
 * The evidence to use: what was logged before a restoration that was not accepted (RE4), otherwise the last checkpoint.
 */
export function evidenceFor({ state, restored }: Terminal, checkpoint: Evidence | undefined): Evidence | undefined {
  if (state.kind === "uncertain" && (state.evidence !== undefined || state.rolledBack)) return state.evidence;
  return restored === undefined || restored.accepted ? checkpoint : (restored.evidence ?? undefined);
}

export function planRestore(terminal: Terminal, facts: RestoreFacts): RestorePlan {
  const waits = facts.asked ? undefined : whyWait(terminal, facts.at);
  if (waits !== undefined) return waits;
  const aim = aimOf(terminal, facts.evidence, facts.way);
  const moved = facts.directory !== aim.cwd;
  const where = moved ? [`${aim.cwd} is gone: started in ${facts.directory}`] : [];
  const { argv, typed, notes } = asBefore(terminal, facts, startOf(aim, facts, moved));
  const opened = shown(terminal.recipe.argv.join(" "));
  const isForgotten = aim.command === undefined && !isInteractiveShell(terminal.recipe.argv);
  const origin = isForgotten ? [`opened with: ${opened} (\`holdfast restore --as recipe\` runs it)`] : [];
  const unset = unsetNotes(terminal.unset, aim.command);
  const doubt = facts.doubt === null ? [] : [`not as it was last seen: ${facts.doubt}`];
  return {
    kind: "start",
    argv,
    cwd: facts.directory,
    typed,
    notes: [...notes, ...origin, ...where, ...unset, ...doubt],
  };
}

/** How many of them fit on a line that people read. */
const UNSET_NAMES = 5;

/** What is missing, and what to do about it. An agent without its key says at most that nobody is logged in. */
export function unsetNotes(unset: readonly string[], argv: readonly string[] | undefined): string[] {
  if (unset.length === 0) return [];
  const agent = argv && agentIn(argv)?.agent;
  const keys = agent === undefined ? [] : unset.filter((name) => KEYS[agent].test(name));
  const names = keys.length > 0 ? keys : unset.slice(0, UNSET_NAMES);
  const list = names.map((name) => `"${name}"`).join(", ");
  return [
    `not stored, and so unset: ${unset.join(", ")}`,
    ...(keys.length === 0 ? [] : [`${agent} has no ${keys.join(", ")}: end it, export that here, and start it again`]),
    `\`terminal.env_allow = [${list}]\` in the configuration stores ${names.length === 1 ? "it" : "them"} on disk from now on`,
  ];
}

/** The variables in which each takes its key. */
const KEYS: Readonly<Record<AgentName, RegExp>> = {
  claude: /^(?:ANTHROPIC_(?:API_KEY|AUTH_TOKEN)|CLAUDE_CODE_OAUTH_TOKEN|AWS_BEARER_TOKEN_BEDROCK)$/,
  codex: /^(?:OPENAI|CODEX)_API_KEY$/,
  gemini: /^(?:GEMINI|GOOGLE)_API_KEY$/,
  opencode: /_API_KEY$/,
  "cursor-agent": /^CURSOR_API_KEY$/,
};

/** RE5 */
function whyWait({ policy, restorations }: Terminal, at: string): RestorePlan | undefined {
  if (policy === "never") return { kind: "never", why: "its policy is never" };
  if (policy === "ask") return { kind: "ask", why: "its policy is ask" };
  const budget = newBudget(MAX_RESTORATIONS, WINDOW_MS, restorations.map(Date.parse));
  return isExhausted(budget, Date.parse(at))
    ? { kind: "ask", why: `it was started again ${MAX_RESTORATIONS} times within a minute` }
    : undefined;
}

/**
 * A command that continued automatically last time, untouched since, continues in the same way if nothing better is
 * known.
 */
function asBefore({ restored }: Terminal, { directory, way }: RestoreFacts, start: Start): Start {
  if (way !== "plan" || restored === undefined || restored.accepted || isRun(start)) return start;
  if (!isRun(restored) || restored.cwd !== directory) return start;
  return { argv: restored.argv, typed: restored.typed, notes: ["continues as last time"] };
}

function isRun({ argv, typed }: Pick<Start, "argv" | "typed">): boolean {
  return typed.endsWith("\r") || !isInteractiveShell(argv);
}

type Start = { readonly argv: readonly string[]; readonly typed: string; readonly notes: readonly string[] };

function startOf(aim: Aim, facts: RestoreFacts, moved: boolean): Start {
  const shell = aim.shell ?? [facts.shell];
  const { command } = aim;
  if (facts.way === "recipe" && command !== undefined) return { argv: command, typed: "", notes: ["run as at first"] };
  if (facts.way === "shell") return { argv: shell, typed: "", notes: ["its shell, with nothing run"] };
  if (command === undefined) return { argv: shell, typed: "", notes: ["its shell"] };
  const [program = ""] = shell;
  const written = typable(command, program);
  const ran = { ...aim.origin, argv: command, written: written ?? "" };
  const restore = moved ? undefined : restoreCommand(ran, facts.sessions, facts.rules); // RE3
  const run = restore === undefined ? undefined : runs(restore, aim, shell);
  return run ?? ready(shell, command, written);
}

function runs(restore: RestoreCommand, { shell: was }: Aim, shell: readonly string[]): Start | undefined {
  if (restore.kind === "words" && was === undefined) {
    return { argv: restore.argv, typed: "", notes: [`continues with: ${shown(restore.argv.join(" "))}`] };
  }
  const line = restore.kind === "line" ? restore.line : typable(restore.argv, shell[0] ?? "");
  if (line === undefined || !isTypable(line)) return undefined;
  return { argv: shell, typed: `${line}\r`, notes: [`continues with: ${shown(line)}`] };
}

/** RE1 */
function ready(argv: readonly string[], command: readonly string[], written: string | undefined): Start {
  if (written === undefined) {
    return { argv, typed: "", notes: [`its shell; its command cannot be typed: ${shown(command.join(" "))}`] };
  }
  return { argv, typed: written, notes: [`${shown(written)} is typed at the prompt; press Enter to run it`] };
}

/** The agent whose conversations have to be looked for. */
export function agentOf({ command }: Aim) {
  return command === undefined ? undefined : agentIn(command)?.agent;
}

/** The conversation in which that agent was last seen, if it is the same. */
export function sessionSeen(aim: Aim): Pick<AgentSessions, "seen"> {
  const { name, session } = aim.agent ?? {};
  return session !== undefined && name === agentOf(aim) ? { seen: session } : {};
}

/** The words of the other terminals' command lines, the first and the last ones. */
export function wordsOfOthers({ id }: Terminal, terminals: Iterable<Terminal>): ReadonlySet<string> {
  const others = [...terminals].filter((other) => other.id !== id && !other.removed && other.state.kind !== "ended");
  return new Set(
    others.flatMap(({ recipe, restored }) => [
      ...recipe.argv,
      ...(restored === undefined ? [] : [...restored.argv, ...restored.typed.trim().split(" ")]),
    ]),
  );
}

const SHOWN = 200;

/** For a line that people read: nothing in it moves a cursor. */
export function shown(text: string): string {
  const plain = text.replace(/\p{Cc}|\p{Zl}|\p{Zp}|\p{Cf}/gu, "�");
  return plain.length > SHOWN ? `${plain.slice(0, SHOWN)}…` : plain;
}

/** The line on the screen that says what happened. */
export function messageOf(facts: { readonly reason: string; readonly when: string }, notes: readonly string[]): string {
  return shown(`holdfast: ${facts.reason}; started again ${facts.when}`).concat(
    ...notes.map((note) => `; ${shown(note)}`),
  );
}
