// What an agent has changed in its worktree or clone, as a git bundle for another host: how it is made, and how it is
// put back there.
// CW1. Nothing that the agent can write decides what runs: files are read with a git directory of ours beside (no
//      hooks, no filters, no monitor), and of the agent's own only objects and HEAD are read. A clone is only looked
//      into in a sandbox, as always (CL1 of clone.ts).
// CW2. The bundle has two refs: `head` as the agent left it, and `work`, a commit on top of it with all files that are
//      not ignored, committed or not. What a remote of the repository has is not in it.
// CW3. The same state gives the same commits, so that nothing is made twice. A repository inside of it, or a submodule,
//      is only its commit; no link is followed.
// CW4. Values are arguments; no shell text is made of them.
// CW5. It is put back beside its place, and gets its name when it is whole. What comes out of a bundle is checked as if
//      it came from a stranger.
import { NO_PROGRAMS, type Worktree } from "../workflow/worktree.ts";
import { ALONE, ANY_OWNER, type Clone, ENVIRONMENT, INSIDE, restored } from "./clone.ts";

/** Where the git directory of ours is seen in a sandbox. */
const BESIDE = "/run/holdfast-carried";
const OWN = [...NO_PROGRAMS, "-c", "core.autocrlf=false", "-c", "protocol.allow=never"].join(" ");

/**
 * Its arguments: the files, the git directory of ours, how many bytes a bundle or what is not committed may have, and
 * a file of ignored names. It reads the commits that the other host is believed to have.
 */
const MAKE = `
export LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=holdfast GIT_AUTHOR_EMAIL=carried@holdfast.invalid GIT_AUTHOR_DATE='2000-01-01T00:00:00Z'
export GIT_COMMITTER_NAME=holdfast GIT_COMMITTER_EMAIL=carried@holdfast.invalid GIT_COMMITTER_DATE='2000-01-01T00:00:00Z'
theirs() { git ${ANY_OWNER} ${OWN} -C "$1" rev-parse -q "$2" "$3"; }
head=$(theirs "$1" --verify 'HEAD^{commit}') || { echo empty; exit 0; }
objects=$(theirs "$1" --git-path objects)
case $objects in /*) ;; *) objects=$1/$objects ;; esac
out=$2 most=$3 ignored=$4 own=$2/git
if [ ! -d "$own/objects/info" ]
then git init -q --bare --template= --object-format="$([ \${#head} = 64 ] && echo sha256 || echo sha1)" "$own"
fi
mkdir -p "$own/info"
printf '%s\\n' "$objects" >"$own/objects/info/alternates"
cat "$objects/../info/exclude" >"$own/info/exclude" 2>/dev/null || :
cd -- "$1"
ours() { git --git-dir="$own" --work-tree=. ${OWN} -c core.excludesFile="$ignored" "$@"; }
if [ "$(cat "$out/at" 2>/dev/null)" != "$head" ]; then ours read-tree --reset "$head"; echo "$head" >"$out/at"; fi
ours update-index -q --refresh >/dev/null || :
ours ls-files -z -m -o --exclude-standard | sort -zu | { grep -zv '/$' || :; } >"$out/changed"
size=$(du -cb --files0-from=- <"$out/changed" 2>/dev/null | tail -n 1 | cut -f 1)
if [ "\${size:-0}" -gt "$most" ]
then echo "large $size"; ours read-tree --reset "$head"
else ours update-index -z --add --remove --stdin <"$out/changed"
fi
tree=$(ours write-tree)
work=$(ours commit-tree "$tree" -p "$head" -m carried)
if [ "$(cat "$out/made" 2>/dev/null)" = "$work" ]; then echo same; exit 0; fi
ours update-ref refs/carried/head "$head"
ours update-ref refs/carried/work "$work"
ours cat-file --batch-check='%(objectname) %(objecttype)' | sed -n 's/^\\([0-9a-f]*\\) commit$/^\\1/p' >"$out/not"
{ echo refs/carried/head; echo refs/carried/work; cat "$out/not"; } >"$out/refs"
rm -f "$out/bundle.new"
(ulimit -f $((most / 512 + 1)); ours bundle create -q "$out/bundle.new" --stdin <"$out/refs" 2>"$out/why") ||
  { echo "unmade $(tail -n 1 "$out/why")"; exit 0; }
mv "$out/bundle.new" "$out/bundle"
echo "$work" >"$out/made"
echo made
`;

export type WorkPlace = { readonly path: string; readonly isClone: boolean };
/** `directory`: the git directory of ours, which exists; `ignored`: the user's file of ignored names. */
export type MakeWork = { readonly directory: string; readonly maxBytes: number; readonly ignored: string };

/** The command that makes `bundle` in the directory, if there is something new. */
export function makeWords({ path, isClone }: WorkPlace, to: MakeWork): readonly [string, ...string[]] {
  const { directory, maxBytes, ignored } = to;
  const limit = `${maxBytes}`;
  if (!isClone) return ["/bin/sh", "-e", "-c", MAKE, "sh", path, directory, limit, ignored];
  const alone = `${ALONE} --ro-bind "$1" ${INSIDE} --bind "$2" ${BESIDE} --chdir / -- ${ENVIRONMENT}`;
  const make = `${alone} /bin/sh -e -c "$4" sh ${INSIDE} ${BESIDE} "$3" /dev/null`;
  return ["/bin/sh", "-c", make, "sh", path, directory, limit, MAKE]; // CW1, CW4
}

/** The command that prints the commits that remotes of the repository are known to have. */
export function knownWords(repository: string): readonly [string, ...string[]] {
  const own = ["--git-dir", `${repository}/.git`, ...NO_PROGRAMS];
  return ["git", ...own, "for-each-ref", "--format=%(objectname) %(refname)", "refs/remotes"];
}

/** What `knownWords` prints, without what was fetched from clones of agents. */
export function knownCommits(said: string): string {
  const lines = said.split("\n").filter((line) => !line.includes(" refs/remotes/holdfast/"));
  return lines.map((line) => line.split(" ")[0]).join("\n");
}

/** The command that exits with 0 if the state that was last looked at is the one of the bundle. */
export function sameWords(directory: string, bundle: string): readonly [string, ...string[]] {
  const same = '[ "$(git --git-dir="$1/git" rev-parse -q --verify refs/carried/work) refs/carried/work" = "$(';
  const listed = 'git bundle list-heads "$2" refs/carried/work)" ]';
  return ["/bin/sh", "-c", same + listed, "sh", directory, bundle];
}

export type MadeWork = {
  readonly kind: "empty" | "same" | "made" | "unmade";
  /** What is not in it, and why. */
  readonly left: string | undefined;
};

const MIB = 1 << 20;

/** Undefined if it is not what `makeWords` prints. */
export function madeWork(said: string): MadeWork | undefined {
  const lines = said.split("\n").filter((line) => line !== "");
  const [kind, ...words] = (lines.pop() ?? "").split(" ");
  const size = /^large (\d{1,15})$/.exec(lines[0] ?? "")?.[1];
  const large = size && `its files that are not committed have ${Math.ceil(Number(size) / MIB)} MiB`;
  if (kind === "unmade") return { kind, left: `its commits are too large, or cannot be read (${words.join(" ")})` };
  return kind === "empty" || kind === "same" || kind === "made" ? { kind, left: large || undefined } : undefined;
}

/**
 * Its arguments: the repository, the place, the branch, the bundle and a name for refs. It refuses to move a branch
 * that has other commits.
 */
const PUT_BACK = `
export LC_ALL=C GIT_CONFIG_NOSYSTEM=1
main() { git --git-dir="$repository/.git" ${NO_PROGRAMS.join(" ")} "$@"; }
repository=$1 path=$2 branch=refs/heads/$3 refs=refs/holdfast/carried/$5 made=$2.carried
main -c protocol.allow=never -c protocol.file.allow=always -c fetch.fsckObjects=true \\
  fetch -q --no-tags --no-write-fetch-head --no-auto-maintenance -- "$4" "+refs/carried/*:$refs/*"
head=$(main rev-parse -q --verify "$refs/head^{commit}")
if old=$(main rev-parse -q --verify "$branch^{commit}") && ! main merge-base --is-ancestor "$old" "$head"
then echo "the branch $3 has other commits here" >&2; exit 1
fi
if [ -e "$made" ]; then main worktree remove -f -f "$made" 2>/dev/null || rm -rf -- "$made"; fi
main worktree prune
main update-ref "$branch" "$head"
mkdir -p -- "\${path%/*}"
main worktree add -q -f -f --no-checkout "$made" "$3"
within() { git -C "$made" ${NO_PROGRAMS.join(" ")} "$@"; }
within read-tree -u --reset "$refs/work"
within reset -q
main worktree move "$made" "$path"
main update-ref -d "$refs/head"
main update-ref -d "$refs/work"
`;

/** Inside, in the clone that was just made: the bundle is the argument (CW5). */
const APPLY = `
git -c fetch.fsckObjects=true fetch -q --no-tags -- "$4" '+refs/carried/*:refs/carried/*'
git reset -q --hard refs/carried/head
git read-tree -u --reset refs/carried/work
git reset -q
git update-ref -d refs/carried/head
git update-ref -d refs/carried/work
`;

export function worktreeBackWords(own: Worktree, bundle: string, name: string): readonly [string, ...string[]] {
  const { repository, path, branch } = own;
  return ["/bin/sh", "-e", "-c", PUT_BACK, "sh", repository, path, branch, bundle, name];
}

export function cloneBackWords(clone: Clone, below: string, bundle: string): readonly [string, ...string[]] {
  return restored(clone, below, { bundle, apply: APPLY });
}
