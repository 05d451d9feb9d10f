// The engine of held programs on a simulated machine, with the real holder and a program that the test controls.
import { afterEach, expect, test } from "bun:test";
import { DIRECTORY, NAME, PLACE, Site } from "../../../tests/sim/held-site.ts";
import { HOME } from "../../../tests/sim/machine.ts";
import { Fault } from "../../base/fault.ts";
import { refused } from "../../base/result.ts";
import type { HeldRecord } from "./held-adapter.ts";

/** Longer than a start may take. */
const LONG_MS = 15_000;
const ROUND_MS = 2_000;

let site = new Site();
afterEach(() => {
  site = new Site();
});

test("HE1 a program is started once, however often a start is requested, and its end is reported once", async () => {
  for (const _ of [1, 2, 3]) {
    site.held.start(NAME);
    site.held.start(NAME);
    site.held.lookAgain(NAME);
    await site.pass(100);
  }
  expect([site.launches, site.programs.length]).toEqual([1, 1]);
  expect(new Set(site.told)).toEqual(new Set(["running while claimed"]));
  site.programs[0]?.ended({ kind: "exited", code: 3 });
  await site.pass(100);
  expect(site.told.filter((one) => one !== "running while claimed")).toEqual(["ended with 3 while ended"]);
});

test.each([
  ["dies before it does anything", Number.POSITIVE_INFINITY],
  ["comes when another was launched", LONG_MS + 5_000],
])("HE1 a holder that %s: nothing is given up, and the next round's holder starts it, once", async (_, ms) => {
  site.slowHolders.push(ms);
  site.held.start(NAME);
  await site.pass(LONG_MS);
  expect([site.told, site.held.trouble(NAME)]).toEqual([[], expect.stringContaining("does not answer")]);
  site.held.start(NAME);
  await site.pass(2 * LONG_MS);
  expect([site.launches, site.programs.length, site.told]).toEqual([2, 1, ["running while claimed"]]);
  expect(site.held.trouble(NAME)).toBeUndefined();
});

test("HE4 if its holder ends before it claims, that is its trouble a second later, until it runs", async () => {
  site.slowHolders.push(Number.POSITIVE_INFINITY);
  site.held.start(NAME);
  await site.pass(900);
  expect(site.held.trouble(NAME)).toBeUndefined(); // It may have been too quick to be seen.
  await site.pass(1_000);
  expect(site.held.trouble(NAME)).toContain("ended before it started it");
  await site.pass(LONG_MS);
  site.held.start(NAME);
  await site.pass(LONG_MS);
  expect([site.told, site.held.trouble(NAME)]).toEqual([["running while claimed"], undefined]);
});

test("HE4 if its holder lives and does not claim, that is its trouble after three seconds", async () => {
  site.slowHolders.push(9_000);
  site.isStarting = false;
  site.launch = ((launch) => () => {
    site.isStarting = true;
    return launch();
  })(site.launch);
  site.held.start(NAME);
  await site.pass(2_500);
  expect(site.held.trouble(NAME)).toBeUndefined();
  await site.pass(1_000);
  expect(site.held.trouble(NAME)).toContain("does not answer");
  await site.pass(7_000);
  expect([site.told, site.held.trouble(NAME)]).toEqual([["running while claimed"], undefined]);
});

test("a start that is watched is looked for less often, and no later", async () => {
  const looksFor = async (isWatched: boolean) => {
    site = new Site();
    site.isWatched = isWatched;
    site.slowHolders.push(82);
    site.held.start(NAME);
    await site.pass(81);
    const { looks } = site;
    await site.pass(1);
    site.held.stir(NAME);
    await site.pass(1);
    return { looks, told: site.told };
  };
  const [before, watched] = [await looksFor(false), await looksFor(true)];
  expect(before.looks).toBeGreaterThanOrEqual(2 * watched.looks);
  expect(watched.told).toEqual(["running while claimed"]);
});

test.each([
  [9_000, 0],
  [11_000, 0],
  [19_000, 0],
  [21_000, 1],
  [60_000, 2],
])(
  "HE7 if every holder takes %d ms, %d are replaced, each alone, and the next one starts the program once",
  async (ms, late) => {
    site.slowHolders.push(...Array.from({ length: 9 }, () => ms));
    site.launch = ((launch) => () => {
      site.isStarting = true;
      return launch();
    })(site.launch);
    for (let at = 0; at <= 3 * ms + ROUND_MS; at += ROUND_MS) {
      site.held.start(NAME);
      await site.pass(ROUND_MS);
    }
    expect([site.dismissed, site.launches, site.programs.length, new Set(site.told)]).toEqual([
      late,
      late + 1,
      1,
      new Set(["running while claimed"]),
    ]);
  },
);

test("HE1 time in which the whole machine was stopped does not count", async () => {
  site.slowHolders.push(2_000);
  site.held.start(NAME);
  await site.pass(1_000);
  site.clock.lag(5 * LONG_MS);
  await site.pass(1_000);
  expect([site.programs.length, site.told]).toEqual([1, ["running while claimed"]]);
});

test("HE1 a launch that is refused, or that fails for good on disk, is cancelled before it is reported", async () => {
  site.launch = async () => refused("no-program", "There is no program.", "Name one.");
  site.held.start(NAME);
  await site.pass(100);
  expect(site.told).toEqual(["prevented: There is no program. while cancelled"]);
  site = new Site();
  site.launch = async () => {
    throw new Fault({ code: "ENOTDIR", operation: "write", path: DIRECTORY });
  };
  site.held.start(NAME);
  await site.pass(100);
  expect(site.told).toEqual([expect.stringMatching(/^prevented: .*ENOTDIR.* while cancelled$/)]);
});

test("HE1 a program that is no longer wanted at its start is not started, and nothing is reported", async () => {
  site.isWanted = false;
  site.held.start(NAME);
  await site.pass(100);
  expect([site.programs.length, site.told]).toEqual([0, []]);
});

test("HE1 adopt: a program that an earlier daemon did not start never starts; a running one is reported", async () => {
  expect(await site.held.adopt(NAME, "The daemon died.")).toEqual({ kind: "unstarted" });
  site.held.start(NAME);
  await site.pass(100);
  expect(site.programs.length).toBe(0);
  expect(site.told[0]).toBe("prevented: The daemon died. while cancelled");
  site = new Site();
  site.held.start(NAME);
  await site.pass(100);
  expect(await site.held.adopt(NAME, "The daemon died.")).toMatchObject({ kind: "running" });
});

test("HE2 a lost connection is not an end: the holder is asked again, and is still reported as running", async () => {
  site.held.start(NAME);
  await site.pass(100);
  site.held.connections.get(NAME)?.client.close();
  expect(site.held.connections.has(NAME)).toBe(false);
  site.held.lookOnce(NAME);
  await site.pass(100);
  expect(site.held.connections.has(NAME)).toBe(true);
  expect(new Set(site.told)).toEqual(new Set(["running while claimed"]));
});

test("HE3 when its holder is killed, leftover processes are stopped before the loss is reported", async () => {
  site.held.start(NAME);
  await site.pass(100);
  for (const { life } of site.holders) life.end();
  await site.pass(100);
  const lost = "lost: its process was lost; exit status unknown while lost";
  expect(site.told).toEqual(["running while claimed", "rest stopped while lost", lost]);
});

test.each([
  ["a full disk", "ENOSPC"],
  ["a failed fork", "EAGAIN"],
  ["a lack of memory", "ENOMEM"],
  ["a lack of descriptors", "EMFILE"],
])("HE4 %s is not an outcome: nothing is cancelled or reported, and the next start succeeds", async (_, code) => {
  const { launch } = site;
  site.launch = async () => {
    throw new Fault({ code, operation: "write", path: DIRECTORY });
  };
  site.held.start(NAME);
  await site.pass(LONG_MS);
  expect([site.launches, site.told]).toEqual([1, []]);
  site.launch = launch;
  site.held.start(NAME);
  await site.pass(100);
  expect([site.programs.length, site.told]).toEqual([1, ["running while claimed"]]);
});

test("HE4 a program that the system refuses to start is tried again by its holder, and the reason is known", async () => {
  site.refusals.push("EAGAIN", "ENOMEM", "EMFILE", "EIO", "ENOSPC");
  site.held.start(NAME);
  await site.pass(50);
  expect([site.told, site.held.trouble(NAME)]).toEqual([[], expect.stringContaining("start work: EAGAIN")]);
  for (let at = 0; at < 5 * ROUND_MS; at += ROUND_MS) {
    site.held.start(NAME);
    await site.pass(ROUND_MS);
  }
  expect([site.launches, site.programs.length, new Set(site.told)]).toEqual([1, 1, new Set(["running while claimed"])]);
  expect(site.held.trouble(NAME)).toBeUndefined();
});

test.each([
  ["ENOENT", 127],
  ["EACCES", 126],
])("HE4 a program that cannot be started for good (%s) has ended with %d", async (code, exit) => {
  site.refusals.push(code);
  site.held.start(NAME);
  await site.pass(100);
  expect([site.programs.length, site.told]).toEqual([0, [`ended with ${exit} while ended`]]);
});

test("HE4 a signal gives up a program that could not be started yet: it is not started any more", async () => {
  site.refusals.push("EAGAIN", "EAGAIN", "EAGAIN");
  site.held.start(NAME);
  await site.pass(50);
  expect(site.held.connections.signal(NAME, "SIGWINCH")).toBe(true);
  await site.pass(10);
  expect(site.told).toEqual([]);
  site.held.connections.signal(NAME, "SIGTERM");
  await site.pass(5 * ROUND_MS);
  expect([site.programs.length, site.told]).toEqual([0, ["ended with null while ended"]]);
});

test("HE4 an error that is not a Fault is a bug of ours, and is not retried in silence", async () => {
  site.launch = async () => {
    throw new TypeError("ours");
  };
  site.held.start(NAME);
  expect(await site.pass(100).catch(String)).toBe("TypeError: ours");
});

test("HE5 what happens to a program during other work on it is examined afterwards, not concurrently", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  site.recording = promise;
  site.held.start(NAME);
  await site.pass(100);
  site.programs[0]?.ended({ kind: "exited", code: 0 });
  await site.pass(100);
  expect(site.told).toEqual(["running while claimed"]);
  let isSettled = false;
  void site.held.settled(NAME).then(() => {
    isSettled = true;
  });
  await site.pass(10);
  expect(isSettled).toBe(false);
  resolve();
  await site.pass(100);
  expect([site.told.at(-1), isSettled]).toEqual(["ended with 0 while ended", true]);
});

test("after close nothing new begins, and a start in progress is left to the next daemon", async () => {
  site.slowHolders.push(2 * LONG_MS);
  site.held.start(NAME);
  await site.clock.settle();
  expect(site.launches).toBe(1);
  site.held.close();
  await site.pass(LONG_MS);
  expect([site.told, site.held.connections.has(NAME)]).toEqual([[], false]);
  site = new Site();
  site.held.close();
  site.held.start(NAME);
  site.held.lookAgain(NAME);
  await site.pass(LONG_MS);
  expect([site.launches, site.told]).toEqual([0, []]);
});

/** It runs, and this daemon has not asked its holder. */
async function left(): Promise<HeldRecord> {
  site.held.start(NAME);
  await site.pass(100);
  site.held.connections.drop(NAME);
  site.disk.makeDirectory(`${HOME}/run`);
  site.disk.open(PLACE.socket, "exclusive").close(); // Sockets of this machine are not on its disk.
  if (site.running === undefined) throw new Error("it does not run");
  return site.running;
}

test("HE8 a program that is as it was recorded runs: its holder is not asked, and is reached when it is needed", async () => {
  const known = await left();
  expect(site.held.livesOn(NAME, known)).toEqual({ kind: "running", child: known.child, holder: known.holder });
  await site.pass(100);
  const { connections } = site.held;
  expect([connections.has(NAME), connections.rests(NAME)]).toEqual([false, true]);
  const reached = connections.reach(NAME);
  await site.pass(100);
  expect([await reached, connections.has(NAME)]).toEqual([true, true]);
  site.programs[0]?.ended({ kind: "exited", code: 3 });
  await site.pass(100);
  expect(site.told.at(-1)).toBe("ended with 3 while ended");
});

test.each<[string, (known: HeldRecord) => HeldRecord | undefined]>([
  ["its holder is stopped", () => void Object.assign(site.world.processes, { isStopped: () => true })],
  ["its holder is another one", (known) => ({ ...known, holder: known.holder + 1000 })],
  ["its process is another one", ({ child, holder }) => ({ holder, child: { ...child, startTime: -1 } })],
  ["it ran before the last boot", ({ child, holder }) => ({ holder, child: { ...child, bootId: "another" } })],
  ["it has ended", () => site.programs[0]?.ended({ kind: "exited", code: 0 }) ?? undefined],
  ["its socket is gone", () => site.disk.unlink(PLACE.socket) ?? undefined],
])("HE8 nothing is taken for granted: if %s, it is examined", async (_, change) => {
  const known = await left();
  const changed = change(known) ?? known;
  await site.pass(100);
  expect(site.held.livesOn(NAME, changed)).toBeUndefined();
});
