// Attempts to escape from a sandbox, each of them tried in a real one, as root and as an ordinary user. An attempt may
// succeed inside; it must change nothing outside, run nothing outside, and read nothing that was not shown.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { lookWords } from "../../src/core/agent/clone.ts";
import { worktreeWords } from "../../src/core/workflow/worktree.ts";
import { canSandbox, EscapeRoom, EVERYBODY, leaks, removePatterns } from "./escape.ts";

const rooms: EscapeRoom[] = [];
afterEach(() => {
  for (const room of rooms.splice(0)) room.leave();
});
afterAll(removePatterns);

/** A program of the agent's, at `$EVIL` in its directory, that would leave a mark outside. */
const EVIL = `EVIL=$PWD/evil; printf '#!/bin/sh\\n: >"%s"\\n' "$CANARY" >"$EVIL"; chmod +x "$EVIL"
TOP=$(git rev-parse --show-toplevel); cd "$TOP"\n`;

/** What git would run, or read, for whoever uses it in a repository that the agent can change. */
const ON_ITS_CLONE: Readonly<Record<string, string>> = {
  "core.fsmonitor": 'git config core.fsmonitor "$EVIL"',
  "core.hooksPath": `mkdir hooks; for name in post-checkout pre-commit reference-transaction post-index-change
    do cp "$EVIL" hooks/$name; done; git config core.hooksPath "$PWD/hooks"`,
  "a hooks directory, which is missing": `mkdir -p .git/hooks; for name in pre-commit post-merge reference-transaction
    do cp "$EVIL" .git/hooks/$name; done`,
  aliases: 'git config alias.upload-pack "!$EVIL"; git config alias.st "!$EVIL"',
  "uploadpack.packObjectsHook": 'git config uploadpack.packObjectsHook "$EVIL"',
  "a missing object of a promisor, which is fetched by a program": `git config core.repositoryFormatVersion 1
    git config extensions.partialClone evil; git config remote.evil.promisor true
    git config remote.evil.url "ext::$EVIL"; git config protocol.ext.allow always; git config core.sshCommand "$EVIL"
    echo new >new; git add new; git commit -qm new; rm -rf .git/objects/pack .git/objects/??`,
  "filters and external diffs": `echo '* filter=evil diff=evil' >.gitattributes; git config filter.evil.clean "$EVIL"
    git config filter.evil.smudge "$EVIL"; git config diff.evil.textconv "$EVIL"; git config diff.external "$EVIL"`,
  "config.worktree": `git config extensions.worktreeConfig true; printf '[core]\\nfsmonitor = %s\\n' "$EVIL" >.git/config.worktree`,
  "include.path of what is outside": 'git config include.path "$SECRET"',
  "core.worktree elsewhere": 'git config core.worktree "$REPO"',
  "a .git file that points elsewhere": 'mv .git real; printf "gitdir: %s\\n" "$OUTSIDE/repo/.git" >.git',
  "a .git that is a link": 'mv .git real; ln -s "$OUTSIDE/repo/.git" .git',
  commondir: 'printf "%s\\n" "$OUTSIDE/repo/.git" >.git/commondir',
  "alternates, and a commit of the other repository": `mkdir -p .git/objects/info
    printf "%s\\n" "$OUTSIDE/repo/.git/objects" >.git/objects/info/alternates
    printf "%s\\n" "$OTHER" >".git/$(git symbolic-ref HEAD)"`,
  "objects that are a link": 'rm -rf .git/objects; ln -s "$OUTSIDE/repo/.git/objects" .git/objects',
  "a submodule with a configuration of its own": `git init -q sub/module; git -C sub/module config core.fsmonitor "$EVIL"
    git -C sub/module -c user.name=a -c user.email=a@b commit -q --allow-empty -m inner; git add sub/module; git commit -qm gitlink`,
  "nothing of git at all": "rm -rf .git",
};

/** Files of the user's repository by which git could be told what to run. */
const IN_THE_REPOSITORY = [
  ...["commondir", "config", "config.worktree", "hooks/pre-commit", "HEAD", "index", "info/attributes"],
  ...["worktrees/x/commondir", "worktrees/x/gitdir", "modules/x/config", "objects/info/alternates", "refs/heads/main"],
];

for (const who of EVERYBODY) {
  const works = canSandbox(who);
  const enter = (): EscapeRoom => {
    const room = new EscapeRoom(who);
    rooms.push(room);
    expect(room.enter()).toBeUndefined();
    return room;
  };

  if (!works) {
    test(`as ${who}, the system forbids sandboxes: there is nothing to escape from`, () => {
      expect(canSandbox(who)).toBe(false);
    });
    continue;
  }

  describe(`as ${who}`, () => {
    test("an agent works in a clone of its own, and its commits are fetched", () => {
      const room = enter();
      const did = room.inside(
        "cat deep.txt; echo more >>deep.txt; git commit -qam 'from inside' && git log --format=%an,%s",
      );
      expect(did).toMatchObject({ code: 0, said: expect.stringMatching(/^deep\nmole-.{8},from inside\nann,first\n$/) });
      expect(room.carry()).toMatchObject({ code: 0, said: "made\n" });
      expect(room.fetch()).toMatchObject({ code: 0 });
      const { branch } = room.clone;
      expect(room.git("log", "--format=%s", branch).said).toBe("from inside\nfirst\n");
      expect(room.git("status", "--porcelain", "-b").said).toBe("## main\n");
      expect(room.inside("git log --format=%s").said).toBe("from inside\nfirst\n"); // The next process finds it.
    });

    test("no file of the clone is also a file of the repository", () => {
      const room = enter();
      room.inside("true");
      const inodes = (top: string) =>
        readdirSync(top, { recursive: true }).map((name) => lstatSync(join(top, String(name))).ino);
      const shared = new Set(inodes(room.repository)).intersection(new Set(inodes(room.clone.path)));
      expect(shared.size).toBe(0);
    });

    test.each(Object.entries(ON_ITS_CLONE))("its own repository: %s", (_, attempt) => {
      const room = enter();
      const did = room.inside(`set -e\n${EVIL}${attempt}\necho "it is set"`);
      expect(did.said).toContain("it is set\n");
      const fetched = room.fetch();
      room.outside(...lookWords(room.clone.path));
      room.carry();
      const next = room.inside("git status; git log -p");
      const used = room.useGit();
      room.fetch();
      expect(room.isEscaped()).toBe(false);
      expect(leaks([did, fetched, next].map(({ said }) => said).join() + used)).toBe(false);
      expect(room.git("fsck").code).toBe(0);
      expect(leaks(room.git("log", "-p", "--all").said)).toBe(false);
    });

    test("objects that no git would make are not fetched", () => {
      const room = enter();
      const hostile = `blob=$(echo x | git hash-object -w --stdin)
        tree=$(printf '100644 blob %s\\t.git\\n' "$blob" | git mktree)
        git update-ref HEAD "$(git commit-tree -m bad "$tree")"; git ls-tree --full-tree HEAD`;
      expect(room.inside(hostile).said).toContain("\t.git\n");
      const { code, said } = room.fetch();
      expect(code).not.toBe(0);
      expect(said).toContain("hasDotgit");
      expect(room.git("rev-parse", "-q", "--verify", room.clone.branch).code).not.toBe(0);
    });

    test("the user's repository: nothing in it is seen or changed", () => {
      const room = enter();
      const before = room.outside("sh", "-c", "find .git -type f -exec cksum {} + | sort").said;
      const write = IN_THE_REPOSITORY.map(
        (name) => `mkdir -p "$REPO/.git/${name}/.."; cp "$EVIL" "$REPO/.git/${name}"`,
      );
      room.inside(`${EVIL}${write.join("\n")}\nln -sf "$EVIL" "$REPO/.git/hooks/post-commit"; rm -rf "$REPO"`);
      expect(room.outside("sh", "-c", "find .git -type f -exec cksum {} + | sort").said).toBe(before);
      room.useGit();
      expect(room.isEscaped()).toBe(false);
    });

    test("files outside: neither by name, nor by a link, nor through /proc", () => {
      const room = enter();
      const { said } = room.inside(`ln -s "$OUTSIDE" out; ln "$SECRET" hard; cat "$SECRET" out/secret hard
        cat /proc/*/root"$SECRET" /proc/*/cwd/../outside/secret; cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c ESCAPE
        cat "$H/run/token" "$H/clones/other-1/work" "$H/agents/1/../../run/token"; ls -a "$H" "$OUTSIDE"; true >"$CANARY"`);
      expect(leaks(said)).toBe(false);
      expect(room.isEscaped()).toBe(false);
    });

    test("a directory that it exchanges for a link: its next process, and one below it, still run inside", () => {
      const room = enter();
      room.inside('cd "$(git rev-parse --show-toplevel)"; rm -rf sub; ln -s "$OUTSIDE" sub');
      const again = room.inside("cat secret; true >canary; pwd -P");
      room.workspace = { worktree: null, sandbox: room.workspace?.sandbox ?? null };
      const below = room.inside("cat secret; true >canary; pwd -P");
      expect([leaks(again.said), leaks(below.said), room.isEscaped()]).toEqual([false, false, false]);
    });

    test("mounts and devices: what is read-only stays so, and the disk is not reached", () => {
      const room = enter();
      const mark = `/usr/holdfast-escape-${process.pid}`;
      const { said } = room.inside(`mount -o remount,rw /usr; mount -o remount,bind,rw /usr; true >${mark}
        unshare -Ur sh -c 'mount -o remount,bind,rw /usr; true >${mark}'; umount -l /usr; mount -t tmpfs x /mnt
        unshare -Ur sh -c 'umount -l "$H"; cat "$H/run/token"'; umount -l "$H"; cat "$H/run/token"
        for disk in $(cut -d' ' -f3 /proc/self/mountinfo | sort -u); do
          mknod /tmp/disk b \${disk%:*} \${disk#*:} && head -c 1 /tmp/disk >/dev/null && echo disk reached; rm -f /tmp/disk
        done
        read -r now </proc/sys/kernel/core_pattern; echo "$now" >/proc/sys/kernel/core_pattern && echo wrote core_pattern
        echo h >/proc/sysrq-trigger && echo wrote sysrq
        find /proc -maxdepth 5 -type f -writable -not -path '/proc/[0-9]*' -not -path '/proc/pressure/*' |
          sed 's/^/wrote, or could have: /'
        grep CapEff /proc/self/status`);
      expect(existsSync(mark)).toBe(false);
      expect(leaks(said)).toBe(false);
      expect(said).not.toMatch(/reached|wrote/);
      expect(said).toMatch(/CapEff:\s+0+\n/);
    });

    test("processes: those outside are neither seen nor signalled, and none is left behind", () => {
      const room = enter();
      const other = Bun.spawn(["sleep", "600"]);
      const marker = `600${process.pid}`;
      room.inside(`kill -9 ${other.pid} ${process.pid}; (setsid sleep ${marker} &) ; (sleep ${marker} &) ; kill -9 -1`);
      expect(other.exitCode).toBeNull();
      other.kill();
      expect(Bun.spawnSync(["pgrep", "-f", `sleep ${marker}`]).stdout.toString()).toBe("");
    });
  });

  describe(`as ${who}, a repository that is a trap`, () => {
    const trap = (script: string): EscapeRoom => {
      const room = new EscapeRoom(who);
      rooms.push(room);
      const set = `OUTSIDE=$1; EVIL=$PWD/evil; printf '#!/bin/sh\\n: >"%s"\\n' "$2" >"$EVIL"; chmod +x "$EVIL"\n${script}`;
      expect(room.outside("sh", "-e", "-c", set, "sh", room.file("outside"), room.canary)).toMatchObject({ code: 0 });
      return room;
    };

    test.each([
      ["a file that points to another repository", 'rm -rf .git; printf "gitdir: %s\\n" "$OUTSIDE/repo/.git" >.git'],
      ["a link to another repository", 'rm -rf .git; ln -s "$OUTSIDE/repo/.git" .git'],
      [
        "a file that points to a link",
        'mv .git real; mkdir worktrees; ln -s "$OUTSIDE/repo/.git" worktrees/x; printf "gitdir: %s\\n" worktrees/x >.git',
      ],
    ])("`.git` is %s: refused", (_, script) => {
      expect(trap(script).enter()).toBe("bad-repository");
    });

    test.each([
      [
        "a worktree's back-pointer with a common directory elsewhere",
        `mv .git real; mkdir -p real/worktrees/x
        printf 'gitdir: %s/real/worktrees/x\\n' "$PWD" >.git; printf '%s/.git\\n' "$PWD" >real/worktrees/x/gitdir
        printf '%s/repo/.git\\n' "$OUTSIDE" >real/worktrees/x/commondir; echo ref: refs/heads/main >real/worktrees/x/HEAD`,
      ],
      [
        "objects of another repository",
        `mkdir -p .git/objects/info
        printf '%s/repo/.git/objects\\n' "$OUTSIDE" >.git/objects/info/alternates
        git -C "$OUTSIDE/repo" rev-parse HEAD >.git/refs/heads/main`,
      ],
    ])("%s is not shown to the agent", (_, script) => {
      const room = trap(script);
      expect(room.enter()).toBeUndefined();
      const { code, said } = room.inside("cat key; git log -p");
      expect(code).toBe(125);
      expect(said).toContain("The clone was not made");
      expect(leaks(said)).toBe(false);
    });

    test("its hooks and settings run neither when it is cloned, nor when a worktree is made of it", () => {
      const room = trap(`git config core.fsmonitor "$EVIL"; git config uploadpack.packObjectsHook "$EVIL"
        mkdir -p .git/hooks; for name in post-checkout reference-transaction post-index-change
        do cp "$EVIL" .git/hooks/$name; done`);
      expect(room.enter()).toBeUndefined();
      expect(room.inside("true")).toMatchObject({ code: 0 });
      const { repository } = room.clone;
      const words = worktreeWords({ repository, path: room.file("wt"), branch: "holdfast/x" }, room.file("wt"));
      expect(room.outside(...words)).toMatchObject({ code: 0 });
      expect(room.isEscaped()).toBe(false);
    });

    test("a real worktree, and a submodule, are cloned", () => {
      const room = trap(`git worktree add -q -b other "$PWD/../tree"; cd ../tree; echo own >own.txt; git add .
        git -c user.name=a -c user.email=a@example.org commit -qm 'in the worktree'; cd "$OLDPWD"
        git -c protocol.file.allow=always submodule -q add "$OUTSIDE/repo" module`);
      expect(room.enter(room.file("tree"))).toBeUndefined();
      expect(room.inside("cat own.txt; git log -1 --format=%s").said).toBe("own\nin the worktree\n");
      expect(room.fetch().code).toBe(0);
      expect(room.enter(join(room.repository, "module"))).toBeUndefined();
      expect(room.inside("git log -1 --format=%s").said).toBe("first\n");
      expect(room.fetch().code).toBe(0);
    });
  });
}

test("what lets an agent decide what the user's git runs is not shown for writing, nor the home directory", () => {
  const room = new EscapeRoom(EVERYBODY[0] ?? "user");
  rooms.push(room);
  const plain = room.file("outside");
  expect(room.enter(plain)).toBe("unsafe-path"); // It contains a repository.
  expect(room.enter(undefined, [room.repository])).toBe("unsafe-path");
  expect(room.enter(undefined, [join(room.repository, ".git")])).toBe("unsafe-path");
  expect(room.enter(undefined, [join(room.repository, ".git/objects")])).toBe("unsafe-path");
  expect(room.enter(room.file("user"))).toBe("unsafe-path");
  expect(room.enter(room.root)).toBe("unsafe-path");
  expect(room.enter(room.home)).toBe("unsafe-path");
  expect(room.enter(undefined, [join(room.repository, "sub")])).toBeUndefined();
});
