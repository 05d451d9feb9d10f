// What garbage collection does with the clones of sandboxed agents: real git, bubblewrap and files.
import { afterAll, afterEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Agent } from "../../src/core/agent/agent.ts";
import { lookWords } from "../../src/core/agent/clone.ts";
import type { AgentArchive } from "../../src/daemon/agent/archive.ts";
import { cloneOf } from "../../src/daemon/agent/clones.ts";
import { agentGarbage } from "../../src/daemon/agent/gc.ts";
import { GarbageCollector, type Work } from "../../src/daemon/gc.ts";
import { loadConfig } from "../../src/wire/files/config.ts";
import type { Config } from "../../src/wire/files/config-schema.ts";
import { realChildren } from "../../src/world/real/children.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { canSandbox, EscapeRoom, EVERYBODY, removePatterns } from "./escape.ts";
import { AgentFixture } from "./house.ts";

const [who = "user"] = EVERYBODY;
const works = canSandbox(who);
const rooms: EscapeRoom[] = [];
afterEach(() => {
  for (const room of rooms.splice(0)) room.leave();
});
afterAll(removePatterns);

/** An agent that has worked in its clone and was terminated, and what there is to collect of it. */
function worked(script: string) {
  const room = new EscapeRoom(who);
  rooms.push(room);
  room.enter();
  expect(room.inside(script)).toMatchObject({ code: 0 });
  const fixture = new AgentFixture();
  fixture.create("a");
  fixture.do({ kind: "terminate", id: "a", reason: "" });
  const agent = fixture.agent("a");
  const ended: Agent = { ...agent, plan: { ...agent.plan, workspace: room.workspace } };
  const { PATH = "" } = process.env;
  const self = { environment: () => ({ PATH, HOME: room.file("user") }) };
  const world = { disk: realDisk(), clock: realClock(), children: realChildren(), self };
  const work = () => {
    const found = cloneOf(world, ended);
    if (found === undefined) throw new Error("there is a clone");
    return found;
  };
  return { room, work, ended, world };
}

async function keptOf(work: Work): Promise<string> {
  const looked = await work.look();
  return "kept" in looked ? looked.kept : "";
}

test.skipIf(!works)(
  "CG1 a clone with commits that the repository does not have is kept, with what to do; once they are fetched it goes (needs bwrap)",
  async () => {
    const { room, work } = worked("echo more >>deep.txt; git commit -qam one; git commit -q --allow-empty -m two");
    const { path } = room.clone;
    const kept = await keptOf(work());
    expect(kept).toContain(`${path} has 2 commits that ${room.repository} does not have.`);
    expect(kept).toContain("holdfast agent fetch a brings");
    expect(kept).toContain(`rm -rf ${path} drops`);
    expect(room.fetch().code).toBe(0);
    expect(await work().look()).toEqual({ bytes: expect.any(Number) });
    expect(await work().remove()).toBeUndefined();
    expect(readdirSync(dirname(path))).toEqual(["other-1"]);
    expect(room.git("log", "--format=%s", room.clone.branch).said).toBe("two\none\nfirst\n");
  },
);

test.skipIf(!works)(
  "CG1 commits on other branches, stashes and what is not committed are work; what the user dropped meanwhile is not (needs bwrap)",
  async () => {
    const why = async (script: string) =>
      /\/clones\/\S+ (.*?)\. holdfast/.exec(await keptOf(worked(script).work()))?.[1];
    const repository = expect.stringMatching(/^has [12] commits? that .*\/re po does not have$/);
    expect(await why("git switch -qc other; git commit -q --allow-empty -m aside; git switch -q -")).toEqual(
      repository,
    );
    expect(await why("git switch -q --detach; git commit -q --allow-empty -m aside")).toEqual(repository);
    expect(await why("echo x >>deep.txt; git stash -q")).toEqual(repository);
    expect(await why("echo x >>deep.txt")).toBe("has changes that are not committed");
    expect(await why("echo x >new.txt")).toBe("has changes that are not committed");
    const { room, work } = worked("echo log >x.log; mkdir -p ../.git/info; echo '*.log' >>../.git/info/exclude");
    room.git("commit", "-q", "--amend", "-m", "again");
    room.git("reflog", "expire", "--expire=all", "--all");
    room.git("gc", "-q", "--prune=now");
    expect(await keptOf(work())).toBe("");
  },
);

test.skipIf(!works)(
  "gc keeps such an agent for as long as its clone holds work, and then removes both (needs bwrap)",
  async () => {
    const { room, ended, world } = worked("git commit -q --allow-empty -m one");
    const place = { ...world, processes: realProcesses(), home: room.home, clock: { ...world.clock, now: () => 4e12 } };
    mkdirSync(join(room.home, "agents/a"));
    const forget = async (ids: readonly string[]) => new Set(ids);
    const archive = { lines: () => [], agent: () => undefined } as unknown as AgentArchive;
    const agents = { agents: () => [ended], archive, forget, clone: (agent: Agent) => cloneOf(world, agent) };
    const parts = [{ garbage: (limits: Config["retention"]) => agentGarbage(place, agents, limits) }];
    const loaded = loadConfig({ env: () => undefined, absolute: (path) => path, read: () => undefined });
    if (!loaded.ok) throw new Error("the usual configuration is valid");
    const rules = loaded.value.config.retention;
    const ports = {
      parts,
      isOff: () => false,
      say: () => undefined,
      onBug: (error: unknown) => void expect(error).toBe(""),
    };
    const gc = () => new GarbageCollector(place, rules, ports).collect(false);
    expect(await gc()).toMatchObject({ items: [], failed: [], kept: [expect.stringContaining("has 1 commit that")] });
    expect(existsSync(room.clone.path)).toBe(true);
    room.fetch();
    const what = "an agent that was terminated, and its clone";
    expect(await gc()).toMatchObject({ items: [{ what, bytes: expect.any(Number) }], failed: [], kept: [] });
    expect(existsSync(room.clone.path)).toBe(false);
  },
);

test.skipIf(!works)("CG1 a clone that cannot be read, or compared, is kept (needs bwrap)", async () => {
  const broken = worked("cd ..; rm -rf .git/HEAD");
  expect(await keptOf(broken.work())).toContain("cannot be inspected: fatal: not a git repository");
  const moved = worked("git commit -q --allow-empty -m one");
  renameSync(moved.room.repository, moved.room.file("moved"));
  expect(await keptOf(moved.work())).toContain("cannot be compared with");
});

test.skipIf(!works)(
  "CG2 what is read-only goes, what a link leads to stays, and so goes what a crash has left (needs bwrap)",
  async () => {
    const { room, work } = worked("true");
    const { path } = room.clone;
    symlinkSync(room.file("outside"), join(path, "outside"));
    mkdirSync(join(path, "closed/deep"), { recursive: true });
    writeFileSync(join(path, "closed/deep/x"), "x");
    chmodSync(join(path, "closed/deep"), 0o500);
    for (const end of [".making", ".removing"]) mkdirSync(join(path + end, "half"), { recursive: true });
    expect(await work().remove()).toBeUndefined();
    expect(readdirSync(dirname(path))).toEqual(["other-1"]);
    expect(existsSync(room.secret)).toBe(true);
    mkdirSync(`${path}.removing`);
    expect(await work().look()).toEqual({ bytes: 0 });
    expect(await work().remove()).toBeUndefined();
    expect(work).toThrow("there is a clone");
  },
);

test.skipIf(!works)(
  "CL1 looking at a clone runs nothing of the agent's outside of a sandbox (needs bwrap)",
  async () => {
    const evil = `printf '#!/bin/sh\\n: >"%s"; echo evil\\n' "$CANARY" >evil; chmod +x evil; cd ..
    echo '* filter=evil' >.gitattributes; git config filter.evil.clean "$PWD/sub/evil"; git config core.fsmonitor "$PWD/sub/evil"`;
    const { room, work } = worked(evil);
    expect(await keptOf(work())).not.toBe("");
    expect(room.outside(...lookWords(room.clone.path)).code).toBe(0);
    expect(room.isEscaped()).toBe(false);
  },
);
