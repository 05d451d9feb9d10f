// A disk that is really full: a small one of our own. Acknowledged data stays, what cannot be done waits, nothing
// crashes.
import { afterAll, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmdirSync, statfsSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attempt, unless } from "../../src/world/real/attempt.ts";
import { until } from "../until.ts";
import { type DaemonHome, daemonHomes, type Running } from "./home.ts";

const newHome = daemonHomes();
const place = mkdtempSync(join(tmpdir(), "hfdm-"));
const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=96m,mode=700", "hfdm", place]).exitCode === 0;

afterAll(() => {
  if (mounted) Bun.spawnSync(["umount", "-l", place]);
  rmdirSync(place);
});

/** With the default log, which sets space aside for this. */
function live(home: DaemonHome): Promise<Running> {
  return home.live({ HOLDFAST_CONFIG: home.file("none") });
}

/** Takes every free block, also those that a running daemon frees or takes in the meantime. */
function fill(home: DaemonHome): void {
  const filler = openSync(home.file("filler"), "a");
  for (let { bavail, bsize } = statfsSync(place); bavail > 0; { bavail } = statfsSync(place))
    unless(["ENOSPC"], 0, () => attempt("write", "filler", () => writeSync(filler, Buffer.alloc(bavail * bsize))));
  closeSync(filler);
}

test.skipIf(!mounted)(
  "a full disk: terminals keep running, a new one waits or is refused, and starts once there is room (needs mount)",
  async () => {
    const home = newHome(place);
    const daemon = await live(home);
    const before = await home.is(await home.open("before", ["sleep", "1000"]), "running");
    fill(home);
    const asked = await home.ask("terminal.new", home.wish("meanwhile", ["sleep", "1000"]));
    if (asked?.ok === false) expect(asked.error.code).toBe("log.blocked");
    await home.isLive(daemon);
    const pids = (await home.must("terminal.list", {})).map(({ state }) => state.kind === "running" && state.pid);
    expect(pids).toContain(before.pid);
    unlinkSync(home.file("filler"));
    const id = await until(
      "the request is accepted",
      async () => {
        const answer =
          asked?.ok === true ? asked : await home.ask("terminal.new", home.wish("meanwhile", ["sleep", "1000"]));
        return answer?.ok === true && answer.value.id;
      },
      () => asked,
    );
    await home.is(id, "running");
    expect(daemon.process.exitCode).toBeNull();
  },
);

test.skipIf(!mounted)("a daemon killed on a full disk comes up on it, live and complete (needs mount)", async () => {
  const home = newHome(place);
  const first = await live(home);
  const id = await home.open("one", ["sh", "-c", "until [ -e go ]; do sleep 0.01; done; exit 7"]);
  const before = await home.is(id, "running");
  await home.kill(first);
  fill(home);
  const second = await live(home);
  expect((await home.listed(id)).state).toEqual(before);
  expect(await home.stop(second)).toBe(0);
  const third = await live(home);
  unlinkSync(home.file("filler"));
  writeFileSync(home.file("go"), "");
  await until(
    "the end is known",
    async () => (await home.listed(id)).state.kind === "ended",
    async () => (await home.listed(id)).state.kind,
  );
  expect((await home.listed(id)).state).toMatchObject({ code: 7 });
  expect(third.process.exitCode).toBeNull();
});
