// Where an agent works: a git worktree of its own, a sandbox around it; and the words that put its program there.
// WS1. Both are made by the process itself, in its holder, before it becomes the agent's program: what is to be made is in the log before it
//      begins, there is never a second one at it (HE3 of daemon/held/held-programs.ts), and after a crash it is found, or made again.
// WS2. Values are words; no text of a shell is made of them.
// WS3. A sandbox shows the system and what was named. The rest of the disk is not there: no home, no keys, no other agent's token; our
//      own home is not even where what was named has it below.
// WS4. What would be run outside of it later cannot be changed from inside: a repository's hooks and its configuration are read-only.
// WS5. Nobody in a sandbox outlives the one who was started: it ends with all that are in it.
// WS6. Children work where their parent works, in a sandbox of the same shape; the worktree stays the parent's, who has made it.
import { type Worktree, worktreeWords } from "../workflow/worktree.ts";

export type Sandbox = {
  /** Absolute paths, seen as they are and where they are. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Where the repository of its directory keeps what it knows, for git (WS4). */
  readonly git: string | null;
  readonly network: boolean;
};

export type Workspace = { readonly worktree: Worktree | null; readonly sandbox: Sandbox | null };

/** What the tools of an agent need of our own: programs, the socket's directory, the token. */
export type ToolPlaces = {
  readonly home: string;
  readonly programs: readonly string[];
  /** A directory with nothing but our socket in it, seen as `at`: a socket itself would be another one after a restart. */
  readonly door: { readonly from: string; readonly at: string };
  readonly token: string;
};

type Start = { readonly argv: readonly string[]; readonly cwd: string };

/** What every program needs; where one of them is not there, this system does without. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/etc"];
/** Where /etc/resolv.conf often leads. */
const NAMES = "/run/systemd/resolve";
/** As those who start programs for others say that it was not the program that failed. */
const NOT_MADE = 125;
const NOT_STARTED: readonly number[] = [NOT_MADE, 126, 127];
const BWRAP_FAILED = 1;

/** Nine words make it (worktreeWords), the last of them is where to go then. What git says is told only where it failed. */
const MAKE_THEN = `
if ! said=$("$1" "$2" "$3" "$4" "$5" "$6" "$7" "$8" "$9" </dev/null 2>&1)
then printf 'The worktree was not made: %s\\n' "$said" >&2; exit ${NOT_MADE}
fi
cd -- "$9" || exit ${NOT_MADE}
shift 9
exec "$@"
`;

/** The program of an agent as it is started: in its sandbox, and behind the making of its worktree (WS1). */
export function placed(workspace: Workspace | null, start: Start, tools: ToolPlaces): Start {
  if (workspace === null) return start;
  const { worktree, sandbox } = workspace;
  const argv = sandbox === null ? start.argv : [...bwrapWords(sandbox, start.cwd, tools), "--", ...start.argv];
  if (worktree === null) return { argv, cwd: start.cwd };
  const words = ["/bin/sh", "-c", MAKE_THEN, "sh", ...worktreeWords(worktree, start.cwd), ...argv]; // WS2
  return { argv: words, cwd: worktree.repository };
}

/** WS2, WS3, WS5 */
export function bwrapWords({ read, write, git, network }: Sandbox, cwd: string, tools: ToolPlaces): readonly string[] {
  const { programs, home, door, token } = tools;
  const named = [...show("--ro-bind", read), ...show("--bind", write), ...(git === null ? [] : guarded(git))];
  return [
    ...["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts"], // WS5
    ...(network ? [] : ["--unshare-net"]),
    ...SYSTEM.flatMap((path) => ["--ro-bind-try", path, path]),
    ...(network ? ["--ro-bind-try", NAMES, NAMES] : []),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
    ...show("--ro-bind", programs).flat(),
    ...named.flat(),
    ...["--tmpfs", home, ...named.filter(([, path]) => path?.startsWith(`${home}/`)).flat()], // WS3
    ...["--ro-bind", door.from, door.at, "--ro-bind", token, token],
    ...["--chdir", cwd],
  ];
}

function show(how: string, paths: readonly string[]): string[][] {
  return paths.map((path) => [how, path, path]);
}

/** WS4 */
function guarded(git: string): string[][] {
  return [...show("--bind", [git]), ...show("--ro-bind-try", [`${git}/hooks`, `${git}/config`])];
}

/** WS6 */
export function inherited(workspace: Workspace | null): Workspace | null {
  return workspace?.sandbox == null ? null : { worktree: null, sandbox: workspace.sandbox };
}

/** Why a program never began, where its end says so; undefined where it was its own. `errors` is what was said on stderr. */
export function whyNotBegun(workspace: Workspace | null, code: number | null, errors: string): string | undefined {
  if (workspace === null || code === null) return undefined;
  const ofSandbox = workspace.sandbox !== null && code === BWRAP_FAILED && errors.startsWith("bwrap: ");
  if (!ofSandbox && !NOT_STARTED.includes(code)) return undefined;
  return `${errors.trim()}${HINTS.find(([words]) => errors.includes(words))?.[1] ?? ""}`;
}

const HINTS: readonly (readonly [words: string, hint: string])[] = [
  ["namespace", " (bubblewrap needs user namespaces; without --sandbox it would run)"],
  ["execvp", " (a sandbox shows of programs what is in /usr and /opt; --bind-ro DIRECTORY shows more)"],
];
