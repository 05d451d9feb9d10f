// A git worktree of a run's own: where it is, and the step that makes it.
// WT1. It is made by an attempt like every other, before the first step: what is known of it is in the log before git is started, and after
//      any crash it is found again, or made again where it was half made.
// WT2. Nothing is removed but what a git that was killed has left half made, and with which no other git would go on: the one it still calls
//      "initializing", in which no step has been; a `.git` with nothing in it; the lock on the branch, which is of this run alone. One that
//      git was taking back when it was killed is moved aside.
// WT3. Values reach git as words, never as part of a shell's text.
// WT4. It stays when the run has ended: a rollback, or a retry of items, goes on in it.

export type Worktree = {
  readonly path: string;
  /** The repository it is of: the directory with the `.git` in it. */
  readonly repository: string;
  readonly branch: string;
};

/** No id of a file has a dot. */
export const WORKTREE_STEP = "run.worktree";

/** Would lead git, and every step, to another repository than the one they stand in. */
export const GIT_VARIABLES: readonly string[] = [
  ...["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY"],
];

const SCRIPT = `
if [ ! -s "$2/.git" ]; then rm -f -- "$2/.git"; fi
at=$(sed -n 's/^gitdir: //p' "$2/.git" 2>&- || :)
case $at in ''|/*) ;; *) at=$2/$at ;; esac
if [ "$(cat "$at/locked" 2>&- || :)" = initializing ]
then git -C "$1" worktree remove -f -f "$2" || rm -rf -- "$2" "$at"
elif [ -n "$at" ] && [ ! -e "$at/commondir" ] && git -C "$1" rev-parse -q --git-dir >&2
then mv -- "$2" "$2.half-made"
fi
if [ ! -e "$2/.git" ]; then
  (cd -- "$1" && rm -f -- "$(git rev-parse --git-common-dir)/refs/heads/$3.lock")
  if git -C "$1" show-ref --verify --quiet "refs/heads/$3"
  then git -C "$1" worktree add -f -f "$2" "$3"
  else git -C "$1" worktree add -f -f -b "$3" "$2" HEAD
  fi
fi
mkdir -p -- "$4"
`;

/** The words that make it, and the directory in it where work begins. To find or make it twice changes nothing. */
export function worktreeWords({ repository, path, branch }: Worktree, cwd: string): readonly string[] {
  return ["/bin/sh", "-e", "-c", SCRIPT, "sh", repository, path, branch, cwd]; // WT3
}

/** Where a run's worktree is, and the branch that it works on; the same whenever it is asked for. */
export function worktreeOf(
  run: { readonly id: string; readonly name: string; readonly repo: string },
  { home, repository }: { readonly home: string; readonly repository: string },
): Worktree {
  const short = run.id.slice(0, 8);
  const name = run.name.replace(/[^A-Za-z0-9_]+/g, "-").replace(/^-+|-+$/g, "");
  return { path: `${home}/worktrees/${run.repo}-${short}`, repository, branch: `holdfast/${name}-${short}` };
}
