// Creating an agent's worktree or clone is killed at every call that changes the disk: the next process finds it or
// creates it again (WT1 of core/workflow/worktree.ts, CL3 of core/agent/clone.ts). Real git; strace kills it.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TRIAL } from "../../src/core/agent/bwrap.ts";
import { cloned } from "../../src/core/agent/clone.ts";
import { worktreeWords } from "../../src/core/workflow/worktree.ts";
import { PROFILE } from "../sim/fuzz/profile.ts";

const scratch = mkdtempSync(join(tmpdir(), "holdfast-worktree-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const ENV = { PATH: "/usr/bin:/bin", HOME: scratch, GIT_CONFIG_NOSYSTEM: "1" };
const works = Bun.which("strace") !== null && Bun.spawnSync(["strace", "-o", "/dev/null", "true"]).success;
if (!works) console.error("skipped: a worktree whose making is killed: strace does not work here");
const repository = join(scratch, "repo");

function run(words: readonly string[]): { readonly ok: boolean; readonly said: string } {
  const done = Bun.spawnSync([...words], { cwd: scratch, env: ENV });
  return { ok: done.success, said: `${done.stdout}${done.stderr}` };
}

function git(...words: readonly string[]): string {
  const { ok, said } = run(["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@example.org", ...words]);
  if (!ok) throw new Error(`git ${words.join(" ")}: ${said}`);
  return said;
}

function prepare(): void {
  mkdirSync(join(repository, "sub"), { recursive: true });
  git("init", "-q", "-b", "main");
  for (const name of ["a", "b", "sub/deep"]) writeFileSync(join(repository, name), `${name}\n`);
  git("add", ".");
  git("commit", "-qm", "first");
}

/** Returns whether it was killed at its n-th call of this kind. */
function killedAt(words: readonly string[], call: string, when: number): boolean {
  const trace = join(scratch, "trace");
  const inject = ["-e", `trace=${call}`, "-e", `inject=${call}:signal=SIGKILL:when=${when}`];
  run(["strace", "-f", "-qq", "-o", trace, ...inject, ...words]);
  return readFileSync(trace, "utf8").includes("SIGKILL");
}

const STEP = PROFILE.name === "ci" ? 5 : 1;

test.skipIf(!works).each(["mkdir", "rename", "unlink", "write", "link", "symlink", "rmdir"])(
  "a worktree is found or created again when its creation was killed at every %s (every fifth in the profile ci) (needs strace)",
  (call) => {
    if (!existsSync(repository)) prepare();
    for (let when = 1; ; when += STEP) {
      const name = `${call}-${when}`;
      const [path, branch] = [join(scratch, "worktrees", name), `holdfast/${name}`];
      const words = worktreeWords({ repository, path, branch }, join(path, "sub"));
      const killed = killedAt(words, call, when);
      expect([name, run(words)]).toMatchObject([name, { ok: true }]);
      expect([name, run(["git", "-C", path, "status", "--porcelain", "-b"]).said]).toEqual([name, `## ${branch}\n`]);
      expect(readFileSync(join(path, "sub/deep"), "utf8")).toBe("sub/deep\n");
      if (!killed) return;
    }
  },
);

const sandboxes = Bun.which("bwrap") !== null && Bun.spawnSync([...TRIAL]).success;

test.skipIf(!works || !sandboxes).each(["mkdir", "rename", "unlink", "symlink", "fsync"])(
  "a clone is found or created again when its creation was killed at every %s (every fifth in the profile ci) (needs strace and bwrap)",
  (call) => {
    if (!existsSync(repository)) prepare();
    for (let when = 1; ; when += STEP) {
      const name = `${call}-${when}`;
      const [path, branch] = [join(scratch, "clones", name), `holdfast/${name}`];
      const words = cloned({ path, repository, git: repository, branch }, "sub", ["true"]);
      const killed = killedAt(words, call, when);
      expect([name, run(words)]).toMatchObject([name, { ok: true }]);
      expect([name, run(["git", "-C", path, "status", "--porcelain", "-b"]).said]).toEqual([name, `## ${branch}\n`]);
      expect(readFileSync(join(path, "sub/deep"), "utf8")).toBe("sub/deep\n");
      expect(existsSync(`${path}.making`)).toBe(false);
      if (!killed) return;
    }
  },
);

test.skipIf(!works)("and nothing of it is left in the repository (needs strace)", () => {
  expect(git("status", "--porcelain", "-b")).toBe("## main\n");
  expect(git("fsck", "--no-dangling")).toBe("");
});
