// A home and its copy on one machine have the same terminals with the same ids, and still neither stops the other's
// programs.
import { expect, test } from "bun:test";
import { ours } from "../ours.ts";
import { until } from "../until.ts";
import { type DaemonHome, daemonHomes, isGone, killIfThere } from "./home.ts";
import { boot, isBack, powerCut } from "./power-cut.ts";

const newHome = daemonHomes();
const SHELL = ["bash", "--norc", "--noprofile"];
/** It ignores the hangup of its terminal, so it survives its holder. */
const STAYS = ["sh", "-c", "trap '' HUP; while :; do sleep 0.2; done"];

function copyOf(home: DaemonHome): DaemonHome {
  const copy = newHome();
  const { exitCode, stderr } = Bun.spawnSync(["cp", "-a", `${home.path}/.`, copy.path]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return copy;
}

async function killed(pids: readonly number[]): Promise<void> {
  for (const pid of pids) killIfThere(pid);
  await until(
    "they are gone",
    () => pids.every(isGone),
    () => pids,
  );
}

/** The processes that the last recovery stopped, and those that it only reported. */
async function leftBehind(home: DaemonHome) {
  const items = (await home.report()).items.filter(({ what }) => what === "process");
  const pids = (fate: string) =>
    items.filter((item) => item.fate === fate).map(({ reason }) => Number(/\d+/.exec(reason)));
  return { stopped: pids("could not"), reported: pids("needs you") };
}

test("after a power cut a home and its copy both come back, and each keeps its own program", async () => {
  const home = newHome();
  await home.live(boot(1));
  const id = await home.open("shell", SHELL);
  await home.is(id, "running");
  await powerCut(home);
  const copy = copyOf(home);

  await home.live(boot(2));
  const { pid } = await isBack(home, id, 2);
  await copy.live(boot(2));
  const other = await isBack(copy, id, 2);
  expect(other.pid).not.toBe(pid);
  expect([pid, other.pid].filter(isGone)).toEqual([]);
  expect(await home.listed(id)).toMatchObject({ generation: 2, state: { kind: "running", pid } });
  expect(await leftBehind(copy)).toEqual({ stopped: [], reported: [] });
});

test("orphans of a home are not stopped by its copy, even if they are recorded in both; the home stops them", async () => {
  const home = newHome();
  const first = await home.live(boot(1));
  const marked = await home.open("marked", STAYS);
  const cleared = await home.open("cleared", ["env", "-i", "PATH=/usr/bin:/bin", ...STAYS]);
  const [one, two] = [await home.is(marked, "running"), await home.is(cleared, "running")];
  await home.kill(first);
  await killed([one.holder, two.holder]);
  const copy = copyOf(home);

  await copy.live(boot(1));
  const left = await leftBehind(copy);
  expect(left.stopped).toEqual([]);
  expect(left.reported).toContain(two.pid); // It carries no marker: it may be the copy's.
  expect([one.pid, two.pid].filter(isGone)).toEqual([]);
  await home.live(boot(1));
  expect((await leftBehind(home)).stopped).toEqual(expect.arrayContaining([one.pid, two.pid]));
  await until(
    "both are gone",
    () => [one.pid, two.pid].every(isGone),
    () => [one.pid, two.pid],
  );
});

test("a copy that was taken while the home was up is down: stopping it does not reach the original's daemon", async () => {
  const home = newHome();
  const daemon = await home.live();
  const copy = copyOf(home);
  const down = Bun.spawn([...ours("src/cli/main.ts"), "down", "--home", copy.path], {
    env: { PATH: "/usr/bin:/bin", HOME: copy.path },
    stdio: ["ignore", "ignore", "pipe"],
  });
  expect([await down.exited, await down.stderr.text()]).toEqual([0, ""]);
  expect(daemon.process.exitCode).toBeNull();
  await home.isLive(daemon);
});
