// The conversations that coding agents keep on disk, as far as they help to find the one a terminal was in.
// AS1. Read-only and bounded: these directories belong to other programs and may be large. A file is opened only if its
//      time makes it a candidate; of all older files only names and times are read.
// AS2. Their location follows the environment of the program; if it is gone, that of its terminal.
// AS3. opencode keeps its conversations in a database, which another program reads for us (databases.ts).
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { AgentName } from "../../core/terminal/agent-names.ts";
import { type AgentSessions, NO_SESSIONS } from "../../core/terminal/coding-agent.ts";
import type { Disk } from "../../world/disk.ts";
import { sha256 } from "../../world/hash.ts";

export type SessionQuery = {
  readonly agent: AgentName;
  readonly cwd: string;
  readonly since: string | undefined;
  readonly env: Readonly<Record<string, string>>;
};

export type ConversationFile = { readonly id: string; readonly path: string; readonly modifiedMs: number };

/** AS1. Years of daily use produce fewer. */
const MAX_FILES = 20_000;
/** A conversation describes itself in its first line. */
const HEAD_BYTES = 16 << 10;
const ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/** The variables on which their location depends (AS2). */
export const STORE_VARIABLES = ["HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "OPENCODE_DB"] as const;

export function agentSessions(disk: Disk, query: SessionQuery): AgentSessions {
  const found = filesIn(disk, query);
  const recent = found.filter((file) => isRecent(file, query));
  return found.length === 0 ? NO_SESSIONS : { known: found.map(({ id }) => id), recent: recent.map(({ id }) => id) };
}

/** Those that were written to since the program was started. */
export function recentFiles(disk: Disk, query: SessionQuery): readonly ConversationFile[] {
  return filesIn(disk, query).filter((file) => isRecent(file, query));
}

/** `id`: only this one is wanted. */
function filesIn(disk: Disk, query: SessionQuery, id = ""): readonly ConversationFile[] {
  try {
    return FINDERS[query.agent](disk, query, id);
  } catch (error) {
    if (isFault(error)) return []; // The directory cannot be read.
    throw error;
  }
}

/** Where Claude Code says which conversation each of its processes is in. */
export function claudeProcesses(env: SessionQuery["env"]): string {
  return joinPath(claudeRoot(env), "sessions");
}

/** Where Claude Code keeps a conversation. */
export function claudeFile({ env, cwd }: Pick<SessionQuery, "env" | "cwd">, id: string): string {
  return joinPath(claudeProject(env, cwd), `${id}.jsonl`);
}

/** `root`: the directory of the program's store; `path`: of the conversation's file, below it. */
export type ConversationPlace = { readonly root: string; readonly path: string };

/** The file that has this conversation; undefined if there is none. What it costs grows with the store (AS1). */
export function conversationPlace(disk: Disk, query: SessionQuery, id: string): ConversationPlace | undefined {
  const root = storeRoot(query);
  const all = { ...query, since: new Date(0).toISOString() };
  const found = root === undefined ? undefined : filesIn(disk, all, id).find((file) => file.id === id);
  return root !== undefined && found?.path.startsWith(`${root}/`)
    ? { root, path: found.path.slice(root.length + 1) }
    : undefined;
}

/** Undefined if its conversations are not files. */
export function storeRoot({ agent, env }: Pick<SessionQuery, "agent" | "env">): string | undefined {
  if (agent === "claude") return claudeRoot(env);
  if (agent === "codex") return codexRoot(env);
  return agent === "gemini" ? inHome(env, ".gemini") : undefined;
}

/** AS3 */
export function opencodeDatabase(env: SessionQuery["env"]): string {
  const root = joinPath(env["XDG_DATA_HOME"] ?? inHome(env, ".local/share"), "opencode");
  const { OPENCODE_DB: given = "opencode.db" } = env;
  return given.startsWith("/") ? given : joinPath(root, given);
}

function claudeRoot(env: SessionQuery["env"]): string {
  return env["CLAUDE_CONFIG_DIR"] ?? inHome(env, ".claude");
}

function codexRoot(env: SessionQuery["env"]): string {
  return env["CODEX_HOME"] ?? inHome(env, ".codex");
}

function claudeProject(env: SessionQuery["env"], cwd: string): string {
  return joinPath(claudeRoot(env), `projects/${cwd.replace(/[^A-Za-z0-9]/g, "-")}`);
}

function isRecent({ modifiedMs }: ConversationFile, { since }: SessionQuery): boolean {
  return since !== undefined && modifiedMs >= Date.parse(since);
}

/** All conversations for claude, whose files need not be opened; for the others only the recent ones (AS1). */
const FINDERS: Readonly<Record<AgentName, (disk: Disk, query: SessionQuery, id: string) => ConversationFile[]>> = {
  claude: (disk, { env, cwd }) => paths(disk, claudeProject(env, cwd), new RegExp(`^(${ID})\\.jsonl$`)),
  codex: (disk, query, id) => {
    const { env, cwd } = query;
    const days = below(disk, below(disk, below(disk, [joinPath(codexRoot(env), "sessions")])));
    const files = days.flatMap((day) => paths(disk, day, new RegExp(`^rollout-.*-(${ID})\\.jsonl$`)));
    if (id !== "") return files.filter((file) => file.id === id);
    const recent = files.filter((file) => isRecent(file, query)).slice(0, MAX_FILES);
    return recent.filter(({ path }) => head(disk, path).includes(`"cwd":${JSON.stringify(cwd)}`));
  },
  gemini: (disk, query) => {
    const { env, cwd } = query;
    const projects = below(disk, [inHome(env, ".gemini/tmp")]);
    const hash = sha256(cwd);
    const chats = projects
      .filter((path) => path.endsWith(hash) || marks(disk, path, cwd))
      .map((path) => `${path}/chats`);
    return chats
      .flatMap((directory) => paths(disk, directory, /^(session-.*)\.jsonl?$/))
      .filter((file) => isRecent(file, query))
      .flatMap((file) => {
        const id = new RegExp(`"sessionId":\\s*"(${ID})"`).exec(head(disk, file.path))?.[1];
        return id === undefined ? [] : [{ ...file, id }];
      });
  },
  opencode: () => [], // AS3
  "cursor-agent": () => [], // Its store is not known.
};

function inHome(env: SessionQuery["env"], name: string): string {
  return joinPath(env["HOME"] ?? "/", name);
}

/** Newer versions of gemini name these directories freely, and write the project's path into each. */
function marks(disk: Disk, directory: string, cwd: string): boolean {
  return head(disk, joinPath(directory, ".project_root")).trim() === cwd;
}

function below(disk: Disk, directories: readonly string[]): string[] {
  const found = directories.flatMap((directory) => disk.list(directory).map((name) => joinPath(directory, name)));
  return found.slice(0, MAX_FILES).filter((path) => disk.stat(path)?.kind === "directory");
}

function paths(disk: Disk, directory: string, pattern: RegExp): ConversationFile[] {
  const names = disk.list(directory).slice(0, MAX_FILES);
  return names.flatMap((name) => {
    const id = pattern.exec(name)?.[1];
    const path = joinPath(directory, name);
    const stat = id === undefined ? undefined : disk.stat(path);
    return id === undefined || stat?.kind !== "file" ? [] : [{ id, path, modifiedMs: stat.modifiedMs }];
  });
}

function head(disk: Disk, path: string): string {
  if (disk.stat(path) === undefined) return "";
  const file = disk.open(path, "read");
  try {
    const bytes = new Uint8Array(HEAD_BYTES);
    return new TextDecoder().decode(bytes.subarray(0, file.read(bytes, 0)));
  } finally {
    file.close();
  }
}
