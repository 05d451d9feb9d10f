// A sandboxed agent's own clone of its repository: how it is made, and how its commits are fetched from it.
// CL1. An agent can change everything in its clone, also what git would run (hooks, core.fsmonitor, aliases, where
//      `.git` points to): git reads a clone only in a sandbox that shows nothing else and has no network.
// CL2. It shares nothing with the repository, neither objects nor links to their files: decision 0020.
// CL3. It is made beside its place, and put there once it is on disk: after any crash it is there whole, or made again.
//      Once it is there, nothing outside of a sandbox looks into it.
// CL4. Values are arguments; no shell text is made of them.
// CL5. What is fetched is checked as if it came from a stranger (fsckObjects), and moves only a ref of the agent's.
// CL6. It is removed when its agent is, and only if nothing would be lost (daemon/agent/clones.ts). What the agent says
//      about its clone can only cost its own work.
import { NO_PROGRAMS } from "../workflow/worktree.ts";
import { NOT_MADE, SEALED, SHOWN } from "./bwrap.ts";

export type Clone = {
  readonly path: string;
  /** The directory that contains `.git`. */
  readonly repository: string;
  /** What git reads beside it: the main `.git` of a worktree, or the one of a submodule; else the repository again. */
  readonly git: string;
  readonly branch: string;
};

/** Where a clone is seen while git works on it (CL1). */
export const INSIDE = "/run/holdfast-clone";
export const ALONE = [...SEALED, "--unshare-net", ...SHOWN].join(" ");
export const ENVIRONMENT = 'env -i PATH="$PATH" HOME=/tmp GIT_CONFIG_NOSYSTEM=1';
/** A repository may belong to somebody else; in this sandbox that is no danger. */
export const ANY_OWNER = "-c safe.directory=*";

/** Inside: the clone, its branch, a name for its commits, and the directory where work starts. */
const FILL = `
git ${ANY_OWNER} clone -q --no-hardlinks --template= --upload-pack "git ${ANY_OWNER} upload-pack" -- "$1" ${INSIDE}
cd ${INSIDE}
if git rev-parse -q --verify HEAD
then git switch -q -c "$2"
else git symbolic-ref HEAD "refs/heads/$2"
fi
git config user.name "\${2#holdfast/}"
git config user.email "\${2#holdfast/}@holdfast.invalid"
mkdir -p -- "./$3"
`;

/** CL3. The second sync is for the name: without it, a power cut could bring the half made one back. */
const makeShowing = (shown: string) => `
make() {
  umask 077
  rm -rf -- "$1.making" && mkdir -p -- "$1.making" &&
  ${ALONE} --ro-bind "$2" "$2" --ro-bind "$3" "$3" --bind "$1.making" ${INSIDE} ${shown} --chdir / -- \\
    ${ENVIRONMENT} /bin/sh -e -c "$6" sh "$2" "$4" "$5" "$7" &&
  sync -f "$1.making" && mv -T -- "$1.making" "$1" && sync -f "\${1%/*}"
}
if [ ! -d "$1" ] && ! said=$(make "$@" </dev/null 2>&1)
then printf 'The clone was not made: %s\\n' "$said" >&2; exit ${NOT_MADE}
fi
`;
const MAKE_THEN = `${makeShowing("")}
shift 6
exec "$@"
`;
const MAKE_WITH = makeShowing('--ro-bind "$7" "$7"');

/** The command that makes the clone unless it is there, then becomes `argv`. `below` is where in it work starts. */
export function cloned({ path, repository, git, branch }: Clone, below: string, argv: readonly string[]): string[] {
  return ["/bin/sh", "-c", MAKE_THEN, "sh", path, repository, git, branch, below, FILL, ...argv]; // CL4
}

/** The command that makes it with what another host has shipped of it (CW5 of carried-work.ts), unless it is there. */
export function restored(
  { path, repository, git, branch }: Clone,
  below: string,
  { bundle, apply }: { readonly bundle: string; readonly apply: string },
): [string, ...string[]] {
  return ["/bin/sh", "-c", MAKE_WITH, "sh", path, repository, git, branch, below, FILL + apply, bundle];
}

/** git adds the path of the clone, as one word (CL1, CL4). */
const READ = `${ENVIRONMENT} git ${ANY_OWNER} upload-pack ${INSIDE}`;
const UPLOAD = `sh -c '${ALONE} --ro-bind "$1" ${INSIDE} --chdir / -- ${READ}' sh`;

/** The command that brings the agent's branch into the repository, as `holdfast/NAME-ID` beside the user's branches. */
export function fetchWords({ path, repository, branch }: Clone): readonly [string, ...string[]] {
  const checked = ["-c", "fetch.fsckObjects=true", "-c", "protocol.allow=never", "-c", "protocol.file.allow=always"];
  const alone = ["--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance"];
  const ref = `+refs/heads/${branch}:refs/remotes/${branch}`; // CL5
  const own = ["--git-dir", `${repository}/.git`, ...NO_PROGRAMS];
  return ["git", ...own, ...checked, "fetch", ...alone, "--upload-pack", UPLOAD, path, ref];
}

/** What a crash may leave beside a clone, by how the names end; neither of them holds work. */
export const HALF_MADE = ".making";
export const HALF_REMOVED = ".removing";

/** Inside: the commits that are not the origin's, whether there is anything else, and the size in kilobytes. */
const LOOK = `
git() { command git ${ANY_OWNER} ${NO_PROGRAMS.join(" ")} "$@"; }
cd ${INSIDE}
git rev-parse --git-dir >/dev/null || exit
{ git for-each-ref --format='%(objectname)' refs/heads refs/tags refs/stash; git rev-parse -q --verify HEAD; } >/tmp/tips
git rev-list --stdin --not --remotes=origin </tmp/tips || exit
if [ -n "$(git status --porcelain 2>&1 | head -n 1)" ]; then echo changed; fi
du -sk . | sed 's/[^0-9].*/ kilobytes/'
`;

/** The command that looks at a clone (CL1). */
export function lookWords(path: string): readonly [string, ...string[]] {
  const look = `${ALONE} --ro-bind "$1" ${INSIDE} --chdir / -- ${ENVIRONMENT} GIT_OPTIONAL_LOCKS=0 /bin/sh -c "$2"`;
  return ["/bin/sh", "-c", look, "sh", path, LOOK];
}

export type CloneFacts = {
  /** Those that the agent made. */
  readonly commits: readonly string[];
  readonly isChanged: boolean;
  readonly kilobytes: number;
};

/** Undefined if it is not what `lookWords` prints. */
export function cloneFacts(said: string): CloneFacts | undefined {
  const lines = said.split("\n").slice(0, -1);
  const kilobytes = /^(\d{1,12}) kilobytes$/.exec(lines.pop() ?? "")?.[1];
  const isChanged = lines.at(-1) === "changed";
  const commits = isChanged ? lines.slice(0, -1) : lines;
  if (kilobytes === undefined || !commits.every((id) => OBJECT.test(id))) return undefined;
  return { commits, isChanged, kilobytes: Number(kilobytes) };
}

const OBJECT = /^(?:[\da-f]{40}|[\da-f]{64})$/;

/** The command that reads ids of objects, and prints for each whether the repository has it. */
export function ownedWords({ repository }: Clone): readonly [string, ...string[]] {
  return ["git", "--git-dir", `${repository}/.git`, ...NO_PROGRAMS, "cat-file", "--batch-check=%(objectname) is here"];
}

/** How many of these objects the repository does not have. */
export function missingIn(said: string, ids: readonly string[]): number {
  const here = new Set(said.split("\n").flatMap((line) => /^(\S+) is here$/.exec(line)?.[1] ?? []));
  return ids.filter((id) => !here.has(id)).length;
}

/** Removes the paths that follow, also if directories in them are read-only. Follows no link. */
export const REMOVE = [
  ...(["/bin/sh", "-c"] as const),
  'rm -rf -- "$@" 2>/dev/null || { chmod -R u+rwX -- "$@"; rm -rf -- "$@"; }',
  "sh",
] as const;
