// A run's own git worktree: where it is, and the step that creates it.
// WT1. It is created by an attempt like every other, before the first step: what is known of it is in the log before
//      git is started, and after any crash it is found again, or recreated if it was half made.
// WT2. Only what a killed git has left half made, and no other git would continue, is removed: a worktree that git
//      still calls "initializing", in which no step has run; an empty `.git`; the lock on the branch, which belongs to
//      this run alone. A worktree that git was removing when it was killed is moved aside.
// WT3. Values reach git as arguments, never as part of a shell text.
// WT4. It is kept when the run has ended: a rollback, or a retry of items, continues in it.
// WT5. git gets the repository explicitly, and runs none of its hooks. What a worktree's `.git` points to is removed
//      only if it belongs to that repository.

export type Worktree = {
  readonly path: string;
  /** The repository: the directory that contains `.git`. */
  readonly repository: string;
  readonly branch: string;
};

/** No id of a file has a dot. */
export const WORKTREE_STEP = "run.worktree";

/** Variables that would direct git, and every step, to another repository than the current one. */
export const GIT_VARIABLES: readonly string[] = [
  ...["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY"],
];

/** Nothing that a repository's configuration names runs when we use git (WT5). */
export const NO_PROGRAMS: readonly string[] = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];

const SCRIPT = `
git_dir=$1/.git
git() { command git --git-dir="$git_dir" ${NO_PROGRAMS.join(" ")} "$@"; }
common=$(git rev-parse --git-common-dir)
if [ ! -s "$2/.git" ]; then rm -f -- "$2/.git"; fi
at=$(sed -n 's/^gitdir: //p' "$2/.git" 2>&- || :)
case $at in ''|/*) ;; *) at=$2/$at ;; esac
if [ "$(cat "$at/locked" 2>&- || :)" = initializing ]
then git worktree remove -f -f "$2" || { [ "$at/../.." -ef "$common" ] && rm -rf -- "$2" "$at"; }
elif [ -n "$at" ] && [ ! -e "$at/commondir" ] && git rev-parse -q --git-dir >&2
then mv -- "$2" "$2.half-made"
fi
if [ ! -e "$2/.git" ]; then
  rm -f -- "$common/refs/heads/$3.lock"
  if git show-ref --verify --quiet "refs/heads/$3"
  then git worktree add -f -f "$2" "$3"
  else git worktree add -f -f -b "$3" "$2" HEAD
  fi
fi
mkdir -p -- "$4"
`;

/** The command that creates it, and the directory in it where work starts. Repeating it changes nothing. */
export function worktreeWords({ repository, path, branch }: Worktree, cwd: string): readonly string[] {
  return ["/bin/sh", "-e", "-c", SCRIPT, "sh", repository, path, branch, cwd]; // WT3
}

/** The path of a run's worktree, and its branch; always the same. */
export function worktreeOf(
  run: { readonly id: string; readonly name: string; readonly repo: string },
  { home, repository }: { readonly home: string; readonly repository: string },
): Worktree {
  const short = run.id.slice(0, 8);
  const name = run.name.replace(/[^A-Za-z0-9_]+/g, "-").replace(/^-+|-+$/g, "");
  return { path: `${home}/worktrees/${run.repo}-${short}`, repository, branch: `holdfast/${name}-${short}` };
}
