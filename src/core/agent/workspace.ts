// Where an agent works: its own git worktree; or a sandbox, with a clone of its own if it is about a repository.
// And the command line that puts its program there.
// WS1. Both are made by the process itself, in its holder, before it becomes the agent's program: what to make is in
//      the log before it starts, never two processes make it at once (HE3 of daemon/held/held-programs.ts), and after a
//      crash it is found, or made again.
// WS2. Values are arguments; no shell text is made of them.
// WS3. A sandbox shows the system and the given paths. The rest of the disk is hidden: no home, no keys, no other
//      agent's token; our own home is hidden even if a given path contains it.
// WS4. No repository of the user's can be changed from inside: whoever can write to a `.git` decides what git runs.
//      Agents of older versions could, and are not started any more.
// WS5. Everything in a sandbox ends with its first process.
// WS6. Children work where their parent works, in a sandbox of the same form; worktree and clone belong to the parent.
// WS8. The agent's program is shown wherever it is installed, read-only.
// WS9. What makes the sandbox, or the clone, is found on the daemon's PATH, and what runs inside on the recorded one of
//      its creator: a directory in that, perhaps of the repository, must not bring its own bubblewrap.
import { type Worktree, worktreeWords } from "../workflow/worktree.ts";
import { NOT_MADE, SEALED, SHOWN } from "./bwrap.ts";
import { type Clone, cloned } from "./clone.ts";
import { accessWords, type SandboxAccess } from "./sandbox-access.ts";

export type Sandbox = {
  /** Absolute paths, at the same place inside and outside. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Of agents of older versions: the git directory that they could change (WS4). */
  readonly git: string | null;
  readonly network: boolean;
  /** The user's configuration directory of Claude Code, null if there is none. Agents of older versions have none of
   *  their own: for them it is one of the paths above. */
  readonly settings?: string | null;
  /** The hosts it may reach through its proxy, beside the service of its provider. If it has no network and this is
   *  left out, it reaches nothing at all. */
  readonly egress?: readonly string[];
};

export type Workspace = {
  readonly worktree: Worktree | null;
  readonly sandbox: Sandbox | null;
  /** Only with a sandbox. */
  readonly clone?: Clone;
  /** Why it has no sandbox although it should have one. */
  readonly unsandboxed?: string;
};

/** What an agent's tools need of Holdfast: programs, the directory of the socket, the token. */
export type ToolPlaces = SandboxAccess & {
  readonly home: string;
  readonly programs: readonly string[];
  /** A directory with only our socket, bound to `at`: a bound socket itself would be stale after a restart. */
  readonly door: { readonly from: string; readonly at: string };
  readonly token: string;
  /** Symbolic links to programs, with their targets (WS8). */
  readonly links: readonly { readonly at: string; readonly to: string }[];
  /** The PATH inside (WS9). */
  readonly path?: string | undefined;
};

type Start = { readonly argv: readonly string[]; readonly cwd: string };

/** The usual target of /etc/resolv.conf. */
const NAMES = "/run/systemd/resolve";
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

/** Says that it is not started, and why. */
const REFUSE = `printf '%s\\n' "$1" >&2; exit ${NOT_MADE}`;

/** The command line of an agent's program: in its sandbox, and after creating its worktree or clone (WS1). */
export function placed(workspace: Workspace | null, start: Start, tools: ToolPlaces): Start {
  if (workspace === null) return start;
  const { worktree, sandbox, clone } = workspace;
  if (sandbox !== null) return { argv: sandboxed(sandbox, clone, start, tools), cwd: tools.home }; // WS4
  if (worktree === null) return start;
  const words = ["/bin/sh", "-c", MAKE_THEN, "sh", ...worktreeWords(worktree, start.cwd), ...start.argv]; // WS2
  return { argv: words, cwd: worktree.repository };
}

/** Nothing outside enters the directory of the agent, which may have put something else in its place. */
function sandboxed(sandbox: Sandbox, clone: Clone | undefined, { argv, cwd }: Start, tools: ToolPlaces): string[] {
  if (sandbox.git !== null) return ["/bin/sh", "-c", REFUSE, "sh", sharedGit(sandbox.git, cwd)]; // WS4
  const words = [...bwrapWords(sandbox, cwd, tools), "--", ...argv];
  return clone === undefined ? words : cloned(clone, cwd.slice(clone.path.length), words);
}

function sharedGit(git: string, cwd: string): string {
  return [
    `Its sandbox, made by an older version, lets it change ${git}, by which it could run programs as you:`,
    `it is not started any more. Its files are in ${cwd}. Before you use git there, look at what .git is there.`,
    "Then end it (holdfast agent terminate) and make a new one, which works in a clone of its own.",
  ].join(" ");
}

/** WS2, WS3, WS5 */
export function bwrapWords({ read, write, network }: Sandbox, cwd: string, tools: ToolPlaces): readonly string[] {
  const { programs, links, home, door, token, path } = tools;
  const named = [
    ...show("--ro-bind", programs),
    ...links.map(({ at, to }) => ["--symlink", to, at]), // WS8
    ...show("--ro-bind", read),
    ...show("--bind", write),
  ];
  return [
    ...SEALED, // WS5
    ...(network ? [] : ["--unshare-net"]),
    ...SHOWN,
    ...(network ? ["--ro-bind-try", NAMES, NAMES] : []),
    ...named.flat(),
    ...["--tmpfs", home, ...named.filter((words) => words.at(-1)?.startsWith(`${home}/`)).flat()], // WS3
    ...["--ro-bind", door.from, door.at, "--ro-bind", token, token],
    ...(path === undefined ? [] : ["--setenv", "PATH", path]), // WS9
    ...accessWords(tools, cwd),
  ];
}

function show(how: string, paths: readonly string[]): string[][] {
  return paths.map((path) => [how, path, path]);
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
  ["loopback", " (this system allows no loopback of its own to a sandbox; with --network it has this machine's)"],
  ["namespace", " (bubblewrap needs user namespaces; with --no-sandbox it would run)"],
  [
    "execvp",
    " (it is not on the PATH, or the sandbox does not show it or what runs it; --bind-ro DIRECTORY shows more)",
  ],
  [
    "alternates",
    " (objects of another repository are not shown: git repack -a -d, then remove objects/info/alternates)",
  ],
];
