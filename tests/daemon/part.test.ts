// The border of a part: what it refuses, and where exceptions from a session's code surface.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import { ok } from "../../src/base/result.ts";
import { PartBorder } from "../../src/daemon/part.ts";
import { RecoveryRun } from "../../src/daemon/recovery-run.ts";
import { RecoveryStateMachine } from "../../src/daemon/recovery-state.ts";
import { hurried, SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";

type One = {
  state: { readonly id: string };
  command: { readonly id: string };
  event: { readonly event: string; readonly id: string; readonly data: Record<string, never> };
  effect: { readonly id: string };
};

class Site {
  readonly bugs: unknown[] = [];
  readonly said: string[] = [];
  isLive = false;
  readonly border = new PartBorder(
    {
      isLive: () => this.isLive,
      onBug: (error) => void this.bugs.push(error),
      say: (words) => void this.said.push(words),
    },
    "sessions",
  );
}

function* three() {
  for (const done of [0, 1, 2]) yield { done, total: 3 };
  return "read";
}

test("PB3 nothing is shown before all sessions are read, and nothing is changed before the daemon is live", async () => {
  const site = new Site();
  const list = site.border.looking(async () => ok([]));
  const rename = site.border.changing("terminal.rename", async ({ name }) => ok(name))["terminal.rename"];
  const notLive = { ok: false, error: { code: "not-live" } };
  expect(await list({})).toMatchObject(notLive);
  const heard: unknown[] = [];
  const clock = hurried(() => undefined);
  expect(await site.border.foldAll(clock, three(), (reading) => heard.push(reading))).toBe("read");
  expect(heard.at(-1)).toEqual({ what: "sessions", done: 2, total: 3 });
  expect(await list({})).toEqual({ ok: true, value: [] });
  expect(await rename?.({ id: "a", name: "b" })).toMatchObject(notLive);
  site.isLive = true;
  expect(await rename?.({ id: "a", name: "b" })).toEqual({ ok: true, value: "b" });
  expect(await rename?.({ id: "a" })).toMatchObject({ ok: false, error: { code: "bad-params" } });
});

test("PB2 a session that throws during its fold is reported with its reason; the others fold", () => {
  const { border } = new Site();
  function* broken(): Generator<{ done: number; total: number }, undefined> {
    yield { done: 0, total: 1 };
    throw new Error("no such field");
  }
  const steps = border.foldOne(broken());
  expect(steps.next()).toEqual({ done: false, value: { done: 0, total: 1 } });
  expect(steps.next()).toEqual({
    done: true,
    value: { reason: "its events do not fold: no such field", passes: false },
  });
});

test("PB2 an exception that belongs to no session is a bug; a Fault of the world goes to the caller", async () => {
  const site = new Site();
  const bug = new Error("bug");
  const hooks = site.border.hooks<One>({
    publish: () => {
      throw bug;
    },
    perform: () => {
      throw new Fault({ code: "EIO", operation: "write", path: "/h/x" });
    },
  });
  hooks.publish({ event: "x", id: "a", data: {} });
  expect(site.bugs).toEqual([bug]);
  expect(() => hooks.perform({ id: "a" })).toThrow("EIO");
  site.border.outcome(() => Promise.reject(bug));
  await new SimClock().settle();
  expect(site.bugs).toEqual([bug, bug]);
  await site.border.tolerating(() => Promise.reject(new Fault({ code: "ENOSPC", operation: "write", path: "/h/x" })));
  expect(site.said.join()).toContain("ENOSPC");
});

test("RS-6 a fold runs inside INVENTORYING: with progress it may take longer than a stage, without progress it fails", async () => {
  const clock = new SimClock();
  const place = { disk: new SimDisk(), clock, home: "/h", bootId: "b" };
  const machine = new RecoveryStateMachine(place, 3, () => undefined);
  const { border } = new Site();
  /** Each session takes ten seconds: together longer than a stage may be silent. */
  function* slow() {
    for (let done = 0; done < 5; done += 1) {
      clock.advance(10_000);
      yield { done, total: 9 };
    }
  }
  const none = async () => [];
  const folded: number[] = [];
  const run = new RecoveryRun(machine, {
    work: {
      ...{ DETECTING: none, RESTORING: none, RECONCILING: none },
      INVENTORYING: async (progress) => {
        await border.foldAll(clock, slow(), ({ done }) => {
          folded.push(done);
          progress();
        });
        return new Promise<never>(() => undefined);
      },
    },
    clock,
    timeoutMs: 30_000,
    report: async () => undefined,
    say: () => undefined,
  });
  const outcome = run.run();
  for (let turn = 0; turn < 20; turn += 1) await clock.settle();
  expect(folded).toEqual([0, 1, 2, 3, 4]);
  expect(machine.getCurrentStage()).toBe("INVENTORYING");
  clock.advance(30_000);
  await clock.settle();
  expect(await outcome).toMatchObject({ kind: "failed", stage: "INVENTORYING" });
});
