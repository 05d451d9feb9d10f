// The system kills a program for memory, for real: in a control group that is too small for it.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isFault } from "../../src/base/fault.ts";
import { attempt } from "../../src/world/real/attempt.ts";
import { until } from "../until.ts";
import { daemonHomes } from "./home.ts";

const newHome = daemonHomes();
const LIMIT = 192 << 20;

/** Where control groups are created, and the name of their limit: in version 1 and version 2. */
const GROUPS = [
  { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes" },
  { root: "/sys/fs/cgroup", limit: "memory.max" },
];

/** The path of a group with little memory; undefined if none can be created. */
function smallGroup(): string | undefined {
  for (const { root, limit } of GROUPS) {
    const path = join(root, `holdfast-test-${process.pid}`);
    try {
      attempt("makeDirectory", path, () => mkdirSync(path));
      attempt("write", path, () => writeFileSync(join(path, limit), String(LIMIT)));
      return path;
    } catch (error) {
      if (!isFault(error)) throw error;
      if (existsSync(path)) rmdirSync(path);
    }
  }
  return undefined;
}

const group = smallGroup();
if (group === undefined)
  console.error("skipped: a program that is killed for memory: no control group can be made here");

afterAll(async () => {
  if (group === undefined) return;
  await until(
    "the group is empty",
    () => readFileSync(join(group, "cgroup.procs"), "utf8") === "",
    () => readFileSync(join(group, "cgroup.procs"), "utf8"),
  );
  rmdirSync(group);
});

test.skipIf(group === undefined)(
  "a program that the system kills for memory takes neither its holder, nor the daemon, nor another terminal down with it (needs root and control groups)",
  async () => {
    const home = newHome();
    const daemon = await home.live();
    const script = "until [ -e go ]; do sleep 0.01; done; exec tail /dev/zero";
    const [greedy, other] = [
      await home.open("greedy", ["sh", "-c", script]),
      await home.open("other", ["sleep", "1000"]),
    ];
    const { pid, holder } = await home.is(greedy, "running");
    const before = await home.is(other, "running");
    for (const who of [daemon.process.pid, holder, before.holder, pid])
      writeFileSync(join(group ?? "", "cgroup.procs"), String(who));
    writeFileSync(home.file("go"), "");
    expect(await home.is(greedy, "ended")).toMatchObject({ code: null, signal: "SIGKILL" });
    expect(home.exit(greedy)).toMatchObject({ signal: "SIGKILL" });
    expect((await home.listed(other)).state).toEqual(before);
    await home.isLive(daemon);
  },
  180_000,
);
