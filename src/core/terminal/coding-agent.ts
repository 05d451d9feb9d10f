// Coding agents and their conversations: turns the command line that ran one into the command line that continues it.
// AC1. Every option stays as it was, above all the permission mode; only what chooses the conversation changes.
// AC2. A prompt that was given is not given again.
// AC3. A conversation is never guessed: the program was seen in it, or its command line names it, or it is the only one
//      that this program can have written. Otherwise there is no restore command. One that another terminal continues
//      is not used: two programs that write to one conversation would spoil it.
import { type Grammar, givenTo, has, type Told, tellApart, without } from "../words.ts";
import { type AgentName, agentIn, type CodingAgentInvocation, RESUMABLE, type Resumable } from "./agent-names.ts";

/** The conversations of one agent in one directory, as found on disk. */
export type AgentSessions = {
  readonly known: readonly string[];
  /** Those that were written to since the program was started. */
  readonly recent: readonly string[];
  /** The one that the program was last seen in. */
  readonly seen?: string;
};

export const NO_SESSIONS: AgentSessions = { known: [], recent: [] };

/** AC3. `taken`: the words of the other terminals' command lines, and the conversations that they were seen in. */
export function notTaken({ known, recent }: AgentSessions, taken: ReadonlySet<string>): AgentSessions {
  return { known, recent: recent.filter((id) => !taken.has(id)) };
}

type CodingAgentCli = {
  readonly grammar: Grammar;
  /** Options that name the conversation, if they have a value. */
  readonly names: readonly string[];
  /** Further options that choose one, and prompts: left out when it continues (AC2). */
  readonly chooses: readonly string[];
  /** With one of these it does one thing and ends, or has no conversation at all. */
  readonly oneShot: readonly string[];
  /** First words that are subcommands. */
  readonly commands: readonly string[];
  go(id: string, kept: readonly string[], told: Told): readonly string[];
  /** The arguments that start a conversation with this id, if supported. */
  begin?(id: string, kept: readonly string[]): readonly string[];
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SESSION = /^[A-Za-z0-9][A-Za-z0-9_-]{7,99}$/;
const HELP = ["-h", "--help", "-v", "-V", "--version"];

const claude: CodingAgentCli = {
  grammar: {
    values: [
      ...["--model", "--permission-mode", "--settings", "--append-system-prompt", "--system-prompt", "--agents"],
      ...["--agent", "--session-id", "--fallback-model", "--output-format", "--input-format", "--max-turns"],
      ...["--permission-prompt-tool", "--setting-sources", "--plugin-dir", "--json-schema", "--max-budget-usd"],
      ...["--append-system-prompt-file", "--system-prompt-file", "--effort", "-n", "--name", "--debug-file"],
      ...["--autocompact", "--environment", "--permission-prompts", "--plugin-url", "--system-prompt-snapshot"],
      "--remote-control-session-name-prefix",
    ],
    lists: [
      ...["--add-dir", "--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools"],
      ...["--mcp-config", "--tools", "--betas", "--file"],
    ],
    optional: [
      ...["-r", "--resume", "-d", "--debug", "-w", "--worktree", "--from-pr", "--prompt-suggestions"],
      ...["--remote-control", "--teleport", "--cloud"],
    ],
    switches: [
      ...["-c", "--continue", "-p", "--print", "--dangerously-skip-permissions", "--verbose", "--strict-mcp-config"],
      ...["--allow-dangerously-skip-permissions", "--ide", "--fork-session", "--chrome", "--no-chrome", "--bare"],
      ...["--disable-slash-commands", "--no-session-persistence", "--mcp-debug", "--tmux", "--brief", "--restricted"],
      ...["--ax-screen-reader", "--exclude-dynamic-system-prompt-sections", "--safe-mode", "--bg", "--background"],
      ...["--desktop", "--include-hook-events", "--include-partial-messages", "--replay-user-messages", ...HELP],
    ],
  },
  names: ["--session-id", "-r", "--resume"],
  chooses: ["-c", "--continue", "--fork-session"],
  oneShot: [
    ...["-p", "--print", "--no-session-persistence", "--bg", "--background", "--cloud", "--desktop", "--teleport"],
    ...HELP,
  ],
  commands: [
    ...["mcp", "config", "doctor", "update", "upgrade", "install", "migrate-installer", "setup-token", "auth"],
    ...["plugin", "plugins", "agents", "remote-control", "rc", "login", "logout", "server", "open", "api-key"],
  ],
  go: (id, kept) => ["--resume", id, ...kept],
  begin: (id, kept) => ["--session-id", id, ...kept],
};

const codex: CodingAgentCli = {
  grammar: {
    values: [
      ...["-m", "--model", "-p", "--profile", "-c", "--config", "-s", "--sandbox", "-a", "--ask-for-approval"],
      ...["-C", "--cd", "--add-dir", "--enable", "--disable", "--local-provider", "--remote"],
      "--remote-auth-token-env",
    ],
    lists: ["-i", "--image"],
    optional: [],
    switches: [
      ...["--oss", "--full-auto", "--search", "--dangerously-bypass-approvals-and-sandbox", "--yolo"],
      ...["--no-alt-screen", "--last", "--all", "--include-non-interactive", "--strict-config", "--no-daemon"],
      ...["--approve-for-me", "--dangerously-bypass-hook-trust", "--worktree", ...HELP],
    ],
  },
  names: [],
  chooses: ["--last", "--all", "--include-non-interactive", "-i", "--image", "--worktree"],
  oneShot: ["-h", "--help", "-V", "--version"],
  commands: [
    ...["exec", "e", "login", "logout", "mcp", "mcp-server", "app-server", "app", "completion", "sandbox", "debug"],
    ...["apply", "a", "fork", "cloud", "features", "review", "proto", "update", "doctor", "plugin", "help"],
  ],
  go: (id, kept) => ["resume", id, ...kept],
};

const gemini: CodingAgentCli = {
  grammar: {
    values: [
      ...["-m", "--model", "-p", "--prompt", "-i", "--prompt-interactive", "--approval-mode", "--session-id"],
      ...["-o", "--output-format", "--delete-session", "--session-file"],
    ],
    lists: [
      ...["--include-directories", "--allowed-mcp-server-names", "--allowed-tools", "-e", "--extensions"],
      ...["--policy", "--admin-policy"],
    ],
    optional: ["-r", "--resume", "-w", "--worktree"],
    switches: [
      ...["-y", "--yolo", "-s", "--sandbox", "-d", "--debug", "--screen-reader", "--skip-trust", "--acp"],
      ...["--experimental-acp", "-l", "--list-extensions", "--list-sessions", "--raw-output"],
      ...["--accept-raw-output-risk", ...HELP],
    ],
  },
  names: ["-r", "--resume", "--session-id"],
  chooses: ["-i", "--prompt-interactive", "--session-file"],
  oneShot: [
    ...["-p", "--prompt", "--acp", "--experimental-acp", "-l", "--list-extensions", "--list-sessions"],
    ...["--delete-session", ...HELP],
  ],
  commands: ["mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"],
  go: (id, kept) => ["--resume", id, ...kept],
};

const opencode: CodingAgentCli = {
  grammar: {
    values: [
      ...["-s", "--session", "-m", "--model", "--agent", "--port", "--hostname", "--prompt", "--log-level"],
      ...["--mdns-domain", "--cors", "--replay-limit"],
    ],
    lists: [],
    optional: [],
    switches: [
      ...["-c", "--continue", "--fork", "--print-logs", "--mdns", "--auto", "--pure", "--mini", "--no-replay"],
      ...HELP,
    ],
  },
  names: ["-s", "--session"],
  chooses: ["-c", "--continue", "--fork", "--prompt"],
  oneShot: HELP,
  commands: [
    ..."run serve web attach auth providers agent acp mcp models upgrade uninstall".split(" "),
    ..."stats export import github pr session debug completion db plugin".split(" "),
  ],
  go: (id, kept, { rest }) => ["--session", id, ...kept, ...rest],
};

const AGENTS: Readonly<Record<Resumable, CodingAgentCli>> = { claude, codex, gemini, opencode };
/** The command line that continues the same conversation; undefined if that is not certain (AC3). */
export function resumeAgent(command: CodingAgentInvocation, sessions: AgentSessions): readonly string[] | undefined {
  const name = RESUMABLE.find((one) => one === command.agent);
  if (name === undefined) return undefined;
  const agent = AGENTS[name];
  const told = tellApart(command.words, agent.grammar);
  if (told.doubtful || isOneShot(agent, told)) return undefined;
  const certain = sessions.seen ?? namedIn(name, told);
  const id = certain ?? only(sessions.recent); // AC3
  if (id === undefined) return undefined;
  const kept = without(told, [...agent.names, ...agent.chooses]); // AC1, AC2
  const begins = certain !== undefined && !sessions.known.includes(id) && agent.begin !== undefined;
  return [...command.start, ...(begins ? (agent.begin?.(id, kept) ?? []) : agent.go(id, kept, told))];
}

function isOneShot(agent: CodingAgentCli, told: Told): boolean {
  const [first = ""] = told.rest;
  return has(told, ...agent.oneShot) || (agent.commands.includes(first) && first !== "");
}

/** Whether it is one that a person talks to, and not a command that does one thing and ends. */
export function isInteractive({ agent, words }: CodingAgentInvocation): boolean {
  const name = RESUMABLE.find((one) => one === agent);
  return name === undefined || !isOneShot(AGENTS[name], tellApart(words, AGENTS[name].grammar));
}

/** The conversation that a command line names. */
export function sessionNamed({ agent, words }: CodingAgentInvocation): string | undefined {
  const name = RESUMABLE.find((one) => one === agent);
  return name && namedIn(name, tellApart(words, AGENTS[name].grammar));
}

/** Whether this can be the id of a conversation. They come from files that other programs write. */
export function isSession(name: AgentName, id: string): boolean {
  return (name === "opencode" ? SESSION : UUID).test(id);
}

/** What the command line itself names. A fork is a different conversation than its origin. */
function namedIn(name: Resumable, told: Told): string | undefined {
  if (name === "codex") {
    const [command, id] = told.rest;
    return command === "resume" && id !== undefined && isSession(name, id) ? id : undefined;
  }
  const forked = has(told, "--fork-session", "--fork");
  const id = forked ? givenTo(told, "--session-id") : givenTo(told, ...AGENTS[name].names);
  return id !== undefined && isSession(name, id) ? id : undefined;
}

function only(ids: readonly string[]): string | undefined {
  return ids.length === 1 ? ids[0] : undefined;
}

/** `claude` with a conversation of this id, so that it can be found again; everything else unchanged. */
export function withSession(argv: readonly string[], id: string): readonly string[] {
  const command = agentIn(argv);
  if (command?.agent !== "claude") return argv;
  const told = tellApart(command.words, claude.grammar);
  const chosen = has(told, ...claude.names, ...claude.chooses, ...HELP);
  if (chosen || claude.commands.includes(told.rest[0] ?? "")) return argv;
  return [...command.start, "--session-id", id, ...command.words];
}
