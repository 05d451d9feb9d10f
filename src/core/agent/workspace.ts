// Where an agent works: its own git worktree, or a sandbox; and the command line that puts its program there.
// WS1. Both are made by the process itself, in its holder, before it becomes the agent's program: what to make is in
//      the log before it starts, never two processes make it at once (HE3 of daemon/held/held-programs.ts), and after a
//      crash it is found, or made again.
// WS2. Values are arguments; no shell text is made of them.
// WS3. A sandbox shows the system and the given paths. The rest of the disk is hidden: no home, no keys, no other
//      agent's token; our own home is hidden even if a given path contains it.
// WS4. What would later be run outside cannot be changed from inside: a repository's hooks and configuration are
//      read-only.
// WS5. Everything in a sandbox ends with its first process.
// WS6. Children work where their parent works, in a sandbox of the same form; the worktree belongs to the parent.
import { type Worktree, worktreeWords } from "../workflow/worktree.ts";

export type Sandbox = {
  /** Absolute paths, at the same place inside and outside. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** The git directory of the repository of its working directory (WS4). */
  readonly git: string | null;
  readonly network: boolean;
};

export type Workspace = { readonly worktree: Worktree | null; readonly sandbox: Sandbox | null };

/** What an agent's tools need of Holdfast: programs, the directory of the socket, the token. */
export type ToolPlaces = {
  readonly home: string;
  readonly programs: readonly string[];
  /** A directory with only our socket, bound to `at`: a bound socket itself would be stale after a restart. */
  readonly door: { readonly from: string; readonly at: string };
  readonly token: string;
};

type Start = { readonly argv: readonly string[]; readonly cwd: string };

/** What every program needs; missing ones are skipped. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/etc"];
/** The usual target of /etc/resolv.conf. */
const NAMES = "/run/systemd/resolve";
/** The conventional exit code of wrappers, when it was not the program that failed. */
const NOT_MADE = 125;
const NOT_STARTED: readonly number[] = [NOT_MADE, 126, 127];
const BWRAP_FAILED = 1;

/**
 * Nine words make it (worktreeWords), the last one is the directory to enter. git's output is shown only on failure.
 */
const MAKE_THEN = `
if ! said=$("$1" "$2" "$3" "$4" "$5" "$6" "$7" "$8" "$9" </dev/null 2>&1)
then printf 'The worktree was not made: %s\\n' "$said" >&2; exit ${NOT_MADE}
fi
cd -- "$9" || exit ${NOT_MADE}
shift 9
exec "$@"
`;

/** The command line of an agent's program: in its sandbox, and after creating its worktree (WS1). */
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

/** Why a program never started, if its end says so; undefined if the program itself ended. `errors` is its stderr. */
export function whyNotBegun(workspace: Workspace | null, code: number | null, errors: string): string | undefined {
  if (workspace === null || code === null) return undefined;
  const ofSandbox = workspace.sandbox !== null && code === BWRAP_FAILED && errors.startsWith("bwrap: ");
  if (!ofSandbox && !NOT_STARTED.includes(code)) return undefined;
  return `${errors.trim()}${HINTS.find(([words]) => errors.includes(words))?.[1] ?? ""}`;
}

const HINTS: readonly (readonly [words: string, hint: string])[] = [
  ["namespace", " (bubblewrap needs user namespaces; without --sandbox it would run)"],
  ["execvp", " (a sandbox shows only programs in /usr and /opt; --bind-ro DIRECTORY shows more)"],
];
