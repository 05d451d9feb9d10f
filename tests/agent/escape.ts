// A place from which a sandboxed agent tries to escape: its repository, things it must not reach, and what a user does
// afterwards. Real bubblewrap and git, as root or as an ordinary user.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TRIAL } from "../../src/core/agent/bwrap.ts";
import { makeWords } from "../../src/core/agent/carried-work.ts";
import { fetchWords } from "../../src/core/agent/clone.ts";
import { placed, type Workspace } from "../../src/core/agent/workspace.ts";
import { workspaceOf } from "../../src/daemon/agent/workspaces.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { freshId } from "./agent-home.ts";

export type Who = "root" | "user";
export type Ran = { readonly code: number; readonly said: string };

/** `nobody` */
const USER = 65534;
const PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
const IDENTITY = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
const RECIPE = {
  provider: "scripted",
  model: null,
  command: [],
  flags: [],
  permissionMode: null,
  options: {},
} as const;
const SECRET = "not-for-agents";

const isRoot = process.getuid?.() === 0;

/** Those whom we can be. */
export const EVERYBODY: readonly Who[] = isRoot ? ["root", "user"] : ["user"];

function as(who: Who): string[] {
  if (who === "root" || !isRoot) return [];
  return ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", "--"];
}

/** A kernel or a container may forbid namespaces. */
export function canSandbox(who: Who): boolean {
  if (Bun.which("bwrap") === null) return false;
  return Bun.spawnSync([...as(who), ...TRIAL], { env: { PATH } }).exitCode === 0;
}

/** What is in every room. It prints the last commit of the repository outside. */
const FURNITURE = `set -e; cd "$1"; mkdir -p outside/repo "re po/sub" h/run/door h/agents/1 h/clones/other-1 user
for path in outside/secret outside/repo/key h/run/token h/clones/other-1/work; do printf %s ${SECRET} >$path; done
printf own >h/agents/1/token; echo deep >"re po/sub/deep.txt"
for path in "re po" outside/repo; do
  cd "$1/$path"; git init -q -b main; git add .; git ${IDENTITY.join(" ")} commit -qm first
done; git rev-parse HEAD`;

type Pattern = { readonly path: string; readonly other: string };
const patterns = new Map<Who, Pattern>();

/** Rooms are copies of it: to make one takes twenty processes, to copy it takes two. */
function patternOf(who: Who): Pattern {
  const known = patterns.get(who);
  if (known !== undefined) return known;
  const path = mkdtempSync(join(tmpdir(), "holdfast-escape-"));
  chmodSync(path, 0o777);
  const made = must(ran([...as(who), "sh", "-c", FURNITURE, "sh", path], path, variables(path)));
  const pattern = { path, other: made.said.trim() };
  patterns.set(who, pattern);
  return pattern;
}

export function removePatterns(): void {
  for (const { path } of patterns.values()) rmSync(path, { recursive: true, force: true });
  patterns.clear();
}

function must(done: Ran): Ran {
  if (done.code !== 0) throw new Error(done.said);
  return done;
}

/** Of a user's process in a room. */
function variables(room: string): Record<string, string> {
  return { PATH, HOME: join(room, "user"), GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" };
}

export class EscapeRoom {
  readonly root = mkdtempSync(join(tmpdir(), "holdfast-escape-"));
  readonly #who: Who;
  readonly repository = this.file("re po");
  /** Exists if something of the agent's ran outside. */
  readonly canary = this.file("outside/canary");
  readonly secret = this.file("outside/secret");
  readonly home = this.file("h");
  /** A commit of another repository. */
  readonly other: string;
  workspace: Workspace | null = null;
  cwd = "";

  constructor(who: Who) {
    this.#who = who;
    chmodSync(this.root, 0o777);
    const { path, other } = patternOf(who);
    must(this.outside("sh", "-c", 'cp -a "$1"/* "$2"', "sh", path, this.root));
    this.other = other;
  }

  file(name: string): string {
    return join(this.root, name);
  }

  /** Runs as the user does, in the repository. */
  outside(...words: readonly string[]): Ran {
    const cwd = existsSync(this.repository) ? this.repository : this.root;
    return ran([...as(this.#who), ...words], cwd, variables(this.root));
  }

  git(...words: readonly string[]): Ran {
    return this.outside("git", ...IDENTITY, ...words);
  }

  /** A new agent in a directory of the user's. */
  enter(cwd = join(this.repository, "sub"), write: readonly string[] = []): string | undefined {
    const sandbox = { read: [], write, network: false };
    const wish = { id: freshId(), name: "mole", cwd, env: { HOME: this.file("user") } };
    const wanted = { worktree: false, sandbox };
    const found = workspaceOf({ disk: realDisk(), home: this.home }, { ...wish, wanted }, RECIPE);
    if (!found.ok) return found.error.code;
    this.workspace = found.value.workspace;
    this.cwd = found.value.cwd;
    return undefined;
  }

  /** A process of the agent runs this shell text. */
  inside(script: string): Ran {
    const argv = ["/bin/sh", "-c", script];
    const door = { from: join(this.home, "run/door"), at: join(this.home, "run") };
    const token = join(this.home, "agents/1/token");
    const tools = { home: this.home, programs: [], links: [], door, token, state: null, proxy: null };
    const start = placed(this.workspace, { argv, cwd: this.cwd }, tools);
    const named = { CANARY: this.canary, REPO: this.repository, SECRET: this.secret, OUTSIDE: this.file("outside") };
    const env = { PATH, HOME: "/tmp", H: this.home, OTHER: this.other, ...named };
    return ran([...as(this.#who), ...start.argv], start.cwd, env);
  }

  get clone() {
    const clone = this.workspace?.clone;
    if (clone === undefined) throw new Error("the agent has no clone");
    return clone;
  }

  fetch(): Ran {
    return this.outside(...fetchWords(this.clone));
  }

  /** What a host of a fleet ships of the clone. */
  carry(): Ran {
    const directory = this.file("carried");
    this.outside("mkdir", "-p", directory);
    const to = { directory, maxBytes: 1 << 20, ignored: "/dev/null" };
    return this.outside(...makeWords({ path: this.clone.path, isClone: true }, to));
  }

  /** What users do all day, in their repository. */
  useGit(): string {
    const daily = ["status", "diff", "log --oneline", "worktree list", "branch -a", "stash list", "submodule status"];
    const said = [...daily, "commit -q --allow-empty -m next", "gc -q"].map((line) => this.git(...line.split(" ")));
    return said.map((done) => done.said).join("");
  }

  isEscaped(): boolean {
    return existsSync(this.canary);
  }

  text(path: string): string {
    return readFileSync(path, "utf8");
  }

  leave(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function ran(argv: readonly string[], cwd: string, env: Record<string, string>): Ran {
  const done = Bun.spawnSync([...argv], { cwd, env, stdin: "ignore", timeout: 60_000 });
  return { code: done.exitCode ?? 128, said: `${done.stdout}${done.stderr}` };
}

/** Whether a secret is in the text. */
export function leaks(text: string): boolean {
  return text.includes(SECRET);
}
