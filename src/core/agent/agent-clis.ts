// What is known about the command lines of coding agents: how each is installed, and where it keeps its login, its
// settings and its conversations. Nothing here is read; home/ and the programs look whether it is there.
// CL1. A login is known by a file or a variable that is there. That neither is says little: some CLIs have other ways.

/** A place below a directory that a variable may name, else below the user's home. */
export type Place = { readonly variable?: string; readonly below: string; readonly path: string };

export type AgentCli = {
  readonly name: string;
  /** A command, or an address. */
  readonly install: string;
  /** Variables with which it needs no login. */
  readonly keys: readonly string[];
  readonly login: Place;
  /** A JSON file whose `hooks` it runs; undefined if it has no such file. */
  readonly hooks?: Place;
  readonly sessions: Place;
};

const claude = (path: string): Place => ({ variable: "CLAUDE_CONFIG_DIR", below: ".claude", path });
const codex = (path: string): Place => ({ variable: "CODEX_HOME", below: ".codex", path });
const gemini = (path: string): Place => ({ below: ".gemini", path });
const opencode = (path: string): Place => ({ variable: "XDG_DATA_HOME", below: ".local/share", path });

export const AGENT_CLIS: readonly AgentCli[] = [
  {
    name: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    login: claude(".credentials.json"),
    hooks: claude("settings.json"),
    sessions: claude("projects"),
  },
  {
    name: "codex",
    install: "npm install -g @openai/codex",
    keys: ["OPENAI_API_KEY", "CODEX_API_KEY"],
    login: codex("auth.json"),
    sessions: codex("sessions"),
  },
  {
    name: "gemini",
    install: "npm install -g @google/gemini-cli",
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    login: gemini("oauth_creds.json"),
    hooks: gemini("settings.json"),
    sessions: gemini("tmp"),
  },
  {
    name: "opencode",
    install: "npm install -g opencode-ai",
    keys: [],
    login: opencode("opencode/auth.json"),
    sessions: opencode("opencode/opencode.db"),
  },
  {
    name: "cursor-agent",
    install: "https://cursor.com/cli",
    keys: ["CURSOR_API_KEY"],
    login: { variable: "XDG_CONFIG_HOME", below: ".config", path: "cursor/auth.json" },
    hooks: { below: ".cursor", path: "hooks.json" },
    sessions: { below: ".cursor", path: "chats" },
  },
];

type Env = Readonly<Record<string, string>>;

/** Undefined if the user's home is not known. */
export function pathOf({ variable, below, path }: Place, env: Env): string | undefined {
  const named = variable === undefined ? undefined : env[variable];
  if (named?.startsWith("/")) return `${named}/${path}`;
  return env["HOME"]?.startsWith("/") ? `${env["HOME"]}/${below}/${path}` : undefined;
}

/** The name of the first of its variables that is set. */
export function keySet({ keys }: AgentCli, env: Env): string | undefined {
  return keys.find((name) => (env[name] ?? "") !== "");
}

/** The names of events of the CLI are letters; anything else in such a file is not repeated. */
const EVENT = /^[A-Za-z]{1,40}$/;

export function hookNames(hooks: unknown): string[] {
  if (typeof hooks !== "object" || hooks === null || Array.isArray(hooks)) return [];
  return Object.keys(hooks).filter((name) => EVENT.test(name));
}
