// `run --worktree`: a run in its own git worktree, also through crashes in the middle of its creation.
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll } from "../cli/terminal-home.ts";
import { killIfThere, readProc } from "../daemon/home.ts";
import { until } from "../until.ts";
import { MINUTE, place } from "./place.ts";

afterEach(endAll, MINUTE);

const IDENTITY = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];

/** A repository with one commit that contains a workflow; `slow`: its checkout waits for the file `gate`. */
function repository(slow = false) {
  const site = place();
  const top = site.file("re po");
  mkdirSync(join(top, "sub"), { recursive: true });
  const git = (...words: readonly string[]) => {
    const env = { PATH: "/usr/bin:/bin", HOME: site.home.path, GIT_CONFIG_NOSYSTEM: "1" };
    const done = Bun.spawnSync(["git", "-C", top, ...IDENTITY, ...words], { env });
    if (!done.success) throw new Error(`git ${words.join(" ")}: ${done.stderr}`);
    return done.stdout.toString();
  };
  git("init", "-q", "-b", "main");
  writeFileSync(join(top, "file.txt"), "as committed\n");
  writeFileSync(join(top, "sub/deep.txt"), "deep\n");
  const flow =
    "steps:\n  - id: look\n    shell: pwd; cat ../file.txt deep.txt\n  - id: change\n    shell: echo new > made.txt\n";
  writeFileSync(join(top, "flow.yml"), flow);
  if (slow) writeFileSync(join(top, ".gitattributes"), "*.txt filter=slow\n");
  git("add", ".");
  git("commit", "-qm", "first");
  const gate = site.file("gate");
  if (slow)
    git(
      "config",
      "filter.slow.smudge",
      `touch '${site.file("begun")}'; until [ -e '${gate}' ]; do sleep 0.05; done; cat`,
    );
  const trees = () => git("worktree", "list", "--porcelain").match(/^worktree .*$/gm) ?? [];
  const run = (...words: readonly string[]) =>
    site.home.at("re po/sub", {}, "run", "--worktree", ...words, "../flow.yml");
  return { ...site, top, git, trees, run };
}

test(
  "it is made for the run, which works in it and leaves the repository as it was; it stays, and is shown",
  async () => {
    const { home, top, git, trees, run } = repository();
    const done = await run();
    expect(done.code).toBe(0);
    const [row] = await home.json("workflows");
    const { path, branch } = row.worktree;
    expect(branch).toBe(`holdfast/flow-${row.id.slice(0, 8)}`);
    expect(done.err).toContain(`flow is running as ${row.id.slice(0, 8)} in the worktree ${path} (branch ${branch}).`);
    expect(done.err).toContain(`its work is in ${path}`);
    expect(done.err).toContain("run.worktree: done");
    expect(trees()).toEqual([`worktree ${top}`, `worktree ${path}`]);
    expect(await home.ok("logs", "--step", "look", "flow")).toBe(`${path}/sub\nas committed\ndeep\n`);
    expect(readFileSync(join(path, "sub/made.txt"), "utf8")).toBe("new\n");
    expect(git("status", "--porcelain")).toBe("");
    expect(git("rev-parse", branch)).toBe(git("rev-parse", "main"));
    expect(await home.ok("workflows")).toContain(path);
    const shown = await home.json("checkpoints", "show", "flow");
    expect(shown).toMatchObject({ worktree_path: path, state: { kind: "Completed", step_index: 1 } });
    expect((await home.run("checkpoints", "verify")).code).toBe(0);
    // Another run has another one.
    expect((await run("-d")).code).toBe(0);
    await until(
      "there are two",
      async () => (await home.json("workflows")).every(({ state }: { state: string }) => state === "done"),
      async () => await home.json("workflows"),
    );
    expect(trees()).toHaveLength(3);
  },
  MINUTE,
);

test(
  "outside a repository it is refused and nothing is started; one without a commit fails with git's own message",
  async () => {
    const { home, write, file } = place();
    write("flow.yml", "steps:", "  - shell: echo one >> said");
    const refused = await home.run("run", "--worktree", "flow.yml");
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("is not in a git repository.")]);
    expect(await home.json("workflows")).toEqual([]);
    Bun.spawnSync(["git", "init", "-q", home.path], { env: { PATH: "/usr/bin:/bin", HOME: home.path } });
    const failed = await home.run("run", "--worktree", "flow.yml");
    expect(failed.code).toBeGreaterThan(0);
    expect(failed.err).toMatch(/failed: run\.worktree: .*\n.*holdfast resume .*\n.*holdfast logs --step run\.worktree/);
    expect((await home.run("logs", "--step", "run.worktree")).err).toContain("HEAD");
    expect(existsSync(file("said"))).toBe(false);
  },
  MINUTE,
);

test(
  "kill -9 of the daemon during git's work: the worktree is found again and not duplicated, and the run ends by itself",
  async () => {
    const { home, write, text, trees, run, file } = repository(true);
    expect((await run("-d")).code).toBe(0);
    await until(
      "git is in the middle of it",
      () => existsSync(file("begun")),
      () => `${file("begun")} exists: ${existsSync(file("begun"))}`,
    );
    const { daemon } = await home.status();
    process.kill(daemon.pid, "SIGKILL");
    await until(
      "another daemon lives",
      async () => (await home.status()).daemon.pid !== daemon.pid,
      async () => (await home.status()).daemon.pid,
    );
    expect(trees()).toHaveLength(2);
    write("gate", "");
    await until(
      "it is done",
      async () => (await home.json("workflows"))[0].state === "done",
      async () => (await home.json("workflows"))[0].state,
    );
    expect(trees()).toHaveLength(2);
    const [{ worktree }] = await home.json("workflows");
    expect(text(`${worktree.path.slice(home.path.length + 1)}/file.txt`)).toBe("as committed\n");
    const attempts: unknown[] = await home.json("logs", "--step", "run.worktree", "flow");
    expect(attempts).toHaveLength(1);
  },
  MINUTE,
);

test(
  "a worktree that was half created when everything died is created again, and one that a person locked is left alone",
  async () => {
    const { home, write, git, trees, run, file, session } = repository(true);
    expect((await run("-d")).code).toBe(0);
    await until(
      "git is in the middle of it",
      () => existsSync(file("begun")),
      () => `${file("begun")} exists: ${existsSync(file("begun"))}`,
    );
    const [{ id, worktree }] = await home.json("workflows");
    // As in a power failure: nothing can clean up, and git leaves it as it is.
    const holder: { pid: number } = JSON.parse(readFileSync(join(session(id), "attempts/1/claim.json"), "utf8"));
    const all = [holder.pid, ...processesOf(id)];
    expect(all.length).toBeGreaterThan(2);
    for (const pid of all) killIfThere(pid, "SIGSTOP");
    for (const pid of all) killIfThere(pid);
    write("gate", "");
    await until(
      "it is done",
      async () => (await home.json("workflows"))[0].state === "done",
      async () => (await home.json("workflows"))[0].state,
    );
    expect(trees()).toHaveLength(2);
    expect(readFileSync(join(worktree.path, "file.txt"), "utf8")).toBe("as committed\n");
    expect(await home.json("logs", "--step", "run.worktree", "flow")).toHaveLength(2);
    git("worktree", "lock", "--reason", "mine", worktree.path);
    const rows: { seq: number }[] = await home.json("checkpoints", "ls", "flow");
    const first = rows.at(-1)?.seq ?? 0;
    await home.ok("checkpoints", "rollback", "flow", String(first), "--yes");
    expect((await home.run("resume", "flow")).code).toBe(0);
    expect(readFileSync(join(worktree.path, "sub/made.txt"), "utf8")).toBe("new\n");
  },
  MINUTE,
);

/** Processes started by a run's attempt. */
function processesOf(run: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const isOurs = (pid: string) => readProc(pid, "environ").includes(`HOLDFAST_RUN=${run}\0`);
  // Sleeping processes end by themselves, perhaps while we look.
  return pids.filter((pid) => isOurs(pid) && !readProc(pid, "cmdline").startsWith("sleep")).map(Number);
}
