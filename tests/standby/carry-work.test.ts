// What agents have changed in worktrees and clones: bundled on one host, put back on another. Real git and bubblewrap.
import { afterEach, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "../../src/core/agent/agent.ts";
import { cloned } from "../../src/core/agent/clone.ts";
import { worktreeWords } from "../../src/core/workflow/worktree.ts";
import { workBack } from "../../src/daemon/fleet/work-back.ts";
import type { CarriedEntry } from "../../src/home/outside-files.ts";
import { WorkCarrier } from "../../src/standby/carry-work.ts";
import { realChildren } from "../../src/world/real/children.ts";
import { realWorld } from "../../src/world/world.ts";
import { canSandbox } from "../agent/escape.ts";
import { until } from "../until.ts";

const SESSION = "agents/a1";
const KEY = `${SESSION}/work.bundle`;
const places: string[] = [];
const canClone = canSandbox("user");

afterEach(() => {
  for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true });
});

/** A repository whose `main` is at a remote, and an agent that works beside it. */
class Work {
  readonly place = mkdtempSync(join(tmpdir(), "hf-work-"));
  readonly home = join(this.place, "home");
  readonly repository = join(this.place, "repository");
  readonly path = join(this.home, "trees/own");
  readonly isClone: boolean;
  readonly entries: Record<string, CarriedEntry> = {};
  stamp = 0;

  constructor(isClone = false) {
    places.push(this.place);
    this.isClone = isClone;
    for (const made of [this.repository, join(this.home, "trees")]) mkdirSync(made, { recursive: true });
    this.sh("git init -q -b main; git config user.name a; git config user.email a@b", this.repository);
    this.sh("seq 100 >kept; seq 9 >gone; echo ignored >.gitignore; git add .; git commit -qm one", this.repository);
    this.sh("git init -q --bare ../remote; git remote add origin ../remote; git push -q origin main", this.repository);
    this.make();
  }

  make(): void {
    const { path, repository } = this;
    const branch = "holdfast/own-a1";
    const words = this.isClone
      ? cloned({ path, repository, git: repository, branch }, "", ["true"])
      : worktreeWords({ path, repository, branch }, path);
    const made = Bun.spawnSync([...words], { cwd: repository });
    expect([made.exitCode, made.exitCode === 0 || made.stderr.toString()]).toEqual([0, true]);
  }

  sh(script: string, cwd = this.path): string {
    const { PATH = "" } = process.env;
    const env = { PATH, HOME: this.place };
    const done = Bun.spawnSync(["/bin/sh", "-e", "-c", script], { cwd, env });
    if (done.exitCode !== 0) throw new Error(`${script}: ${done.stderr}`);
    return done.stdout.toString();
  }

  get world() {
    const { PATH = "" } = process.env;
    const self = { environment: () => ({ PATH, HOME: this.place }) };
    return { ...realWorld(), children: realChildren(), self, home: this.home };
  }

  /** The next round of a standby program. */
  async carry(carrier = this.carrier(), isLast = false): Promise<CarriedEntry | undefined> {
    this.stamp += 1;
    const { path, repository, isClone, stamp } = this;
    const works = [{ session: SESSION, path, repository, isClone, stamp: `${stamp}` }];
    await carrier.round({ conversations: [], works }, this.entries, isLast);
    await until(
      "it is done",
      () => !carrier.isBusy,
      () => carrier.entries,
    );
    Object.assign(this.entries, carrier.entries);
    return this.entries[KEY];
  }

  carrier(maxBytes = 4 << 20): WorkCarrier {
    return new WorkCarrier({ ...this.world, maxBytes, say: () => undefined });
  }

  /** The other host: its repository has what the remote has, and the agent's own files are gone. */
  elsewhere(): void {
    rmSync(this.path, { recursive: true });
    rmSync(this.repository, { recursive: true });
    this.sh("git clone -q remote repository", this.place);
  }

  /** Returns why it is not there. */
  async back(): Promise<string | undefined> {
    const own = { path: this.path, repository: this.repository, branch: "holdfast/own-a1" };
    const clone = { ...own, git: this.repository };
    const workspace = this.isClone ? { worktree: null, sandbox: null, clone } : { worktree: own, sandbox: null };
    const agent = { id: "a1", plan: { cwd: this.path, workspace } } as unknown as Agent;
    const back = await workBack({ ...this.world, maxBytes: 4 << 20 }, SESSION, agent);
    return back.kind === "missing" ? back.why : undefined;
  }

  /** Commits, and every kind of change that is not committed. */
  change(): void {
    this.sh("git config user.name a; git config user.email a@b; echo two >new; git add new; git commit -qm two");
    this.sh("echo three >>kept; rm gone; mkdir deep; echo four >deep/untracked; echo five >ignored; chmod +x new");
    symlinkSync("/etc/passwd", join(this.path, "link"));
  }

  expectChanged(): void {
    expect(this.sh("git log --format=%s; git symbolic-ref HEAD")).toBe("two\none\nrefs/heads/holdfast/own-a1\n");
    expect(this.sh("git status --porcelain").split("\n").sort()).toEqual(
      ["", " D gone", " M kept", " M new", "?? deep/", "?? link"].sort(),
    );
    expect(readFileSync(join(this.path, "kept"), "utf8")).toEndWith("100\nthree\n");
    expect(readFileSync(join(this.path, "deep/untracked"), "utf8")).toBe("four\n");
    expect(readlinkSync(join(this.path, "link"))).toBe("/etc/passwd");
    expect(existsSync(join(this.path, "ignored"))).toBe(false);
  }
}

for (const kind of ["worktree", "clone"] as const) {
  test.skipIf(kind === "clone" && !canClone)(
    `a ${kind} comes back on another host: commits, changes, removed and new files; twice is as once (needs bwrap)`,
    async () => {
      const work = new Work(kind === "clone");
      work.change();
      expect((await work.carry())?.left).toBeUndefined();
      expect(work.entries[KEY]?.bytes).toBeGreaterThan(100);
      expect(work.entries[KEY]?.bytes).toBeLessThan(3_000); // Not what the remote has.
      work.elsewhere();
      expect(await work.back()).toBeUndefined();
      work.expectChanged();
      expect(await work.back()).toBeUndefined();
      writeFileSync(join(work.path, "kept"), "changed since");
      expect(await work.back()).toMatch(/in another state; what was shipped is in \S+quarantine/); // WB3
      expect(readFileSync(join(work.path, "kept"), "utf8")).toBe("changed since");
      expect(work.sh("git for-each-ref --format='%(refname)' refs/carried refs/holdfast", work.repository)).toBe("");
    },
    60_000,
  );
}

test("CW3 nothing is made twice, also not by the next program, and what has changed is made at most twice a minute", async () => {
  const work = new Work();
  work.change();
  const carrier = work.carrier();
  await work.carry(carrier);
  const bundle = join(work.home, "carried", KEY);
  const { ino } = statSync(bundle);
  await work.carry(work.carrier());
  expect(statSync(bundle).ino).toBe(ino);
  appendFileSync(join(work.path, "kept"), "more\n");
  await work.carry(carrier);
  expect(statSync(bundle).ino).toBe(ino); // CR1
  await work.carry(carrier, true);
  expect(statSync(bundle).ino).not.toBe(ino);
});

test("CW1 nothing of the agent's repository is run: hooks, filters, monitors, text converters", async () => {
  const work = new Work();
  work.change();
  const ran = join(work.place, "ran");
  const script = join(work.place, "run.sh");
  writeFileSync(script, `#!/bin/sh\necho "$0 $*" >>${ran}\ncat\n`, { mode: 0o755 });
  const hooks = join(work.repository, ".git/hooks");
  for (const hook of ["pre-commit", "post-index-change", "reference-transaction", "post-checkout"])
    writeFileSync(join(hooks, hook), `#!/bin/sh\necho ${hook} >>${ran}\n`, { mode: 0o755 });
  const set = ["core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv"];
  for (const name of [...set, "core.pager", "core.sshCommand", "uploadpack.packObjectsHook"])
    work.sh(`git config ${name} ${script}`, work.repository);
  work.sh("git config filter.x.required true; git config --global filter.x.required true", work.repository);
  writeFileSync(join(work.path, ".gitattributes"), "* filter=x diff=x\n");
  work.sh("git init -q inner; git -C inner config core.fsmonitor $PWD/../../../run.sh; touch inner/file");
  rmSync(ran, { force: true });
  expect((await work.carry())?.left).toBeUndefined();
  expect(existsSync(ran) ? readFileSync(ran, "utf8") : "").toBe("");
});

test("what is too large is left out and named: files that are not committed, or all of it", async () => {
  const work = new Work();
  work.change();
  work.sh("head -c 3000000 /dev/urandom >large");
  expect((await work.carry(work.carrier(1 << 20)))?.left).toMatch(/not committed have 3 MiB/);
  work.elsewhere();
  expect(await work.back()).toBeUndefined();
  expect(work.sh("git log --format=%s; git status --porcelain")).toBe("two\none\n");
  const other = new Work();
  other.change();
  other.sh("head -c 3000000 /dev/urandom >large; git add large; git commit -qm large");
  expect((await other.carry(other.carrier(1 << 20)))?.left).toMatch(/its commits are too large/);
});

test("WB1 what cannot be put back is left alone, and why is said: no repository, other commits, and none that it needs", async () => {
  const work = new Work();
  work.change();
  await work.carry();
  work.elsewhere();
  work.sh("git checkout -q -b holdfast/own-a1; git config user.name a; git config user.email a@b", work.repository);
  work.sh("git commit -q --allow-empty -m other; git checkout -q main", work.repository);
  expect(await work.back()).toContain("has other commits here");
  expect(readdirSync(join(work.home, "trees"))).toEqual([]);
  rmSync(work.repository, { recursive: true });
  work.sh("git init -q repository", work.place);
  expect(await work.back()).toContain("git fetch in");
  renameSync(work.repository, `${work.repository}-2`);
  expect(await work.back()).toContain("is not on this host");
  expect(existsSync(work.path)).toBe(false);
});
