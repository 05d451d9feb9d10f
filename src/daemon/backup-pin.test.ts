import { expect, test } from "bun:test";
import { AGENT, append, smallHome } from "../../tests/sim/backup.ts";
import { SimClock } from "../../tests/sim/clock.ts";
import { SimDisk } from "../../tests/sim/disk.ts";
import { BackupPin } from "./backup-pin.ts";

const [ONE, OTHER] = ["3f2a9c0d11224e55a6677889900aabbc", "3f2b9c0d11224e55a6677889900aabbc"];

async function pinned() {
  const clock = new SimClock();
  const log = await smallHome(new SimDisk(), 2);
  const pin = new BackupPin(clock, () => ({ log, garbage: { settled: Promise.resolve() } }));
  expect(await pin.step({ step: "pin", id: ONE })).toMatchObject({ ok: true });
  return { clock, log, pin };
}

/** The simulated disk writes and syncs within a few of them. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((go) => setImmediate(go));
}

const refusal = (code: string) => ({ ok: false, error: { code } });

test("while the log is held nothing is acknowledged; the release lets it go on", async () => {
  const { log, pin } = await pinned();
  expect(await pin.step({ step: "hold", id: ONE })).toEqual({ ok: true, value: { seq: 2 } });
  let done = false;
  const later = append(log, AGENT, "later").then(() => {
    done = true;
  });
  await turns();
  expect([done, log.durable]).toEqual([false, 2]);
  expect((await pin.step({ step: "release", id: ONE })).ok).toBe(true);
  await later;
  expect(await pin.step({ step: "end", id: ONE })).toEqual({ ok: true, value: { seq: 3 } });
  expect(pin.isActive).toBe(false);
});

test("one backup at a time; a second one can begin when the first has ended", async () => {
  const { pin } = await pinned();
  expect(await pin.step({ step: "pin", id: OTHER })).toMatchObject(refusal("backup.busy"));
  expect(await pin.step({ step: "hold", id: OTHER })).toMatchObject(refusal("backup.expired"));
  expect(await pin.step({ step: "release", id: ONE })).toMatchObject(refusal("backup.expired")); // It was not held.
  await pin.step({ step: "end", id: ONE });
  expect(await pin.step({ step: "pin", id: OTHER })).toMatchObject({ ok: true });
});

test("an owner that is gone holds nothing for long, and learns it if it comes back", async () => {
  const { clock, log, pin } = await pinned();
  await pin.step({ step: "hold", id: ONE });
  clock.advance(2_900);
  await pin.step({ step: "hold", id: ONE });
  clock.advance(2_900);
  expect(pin.isActive).toBe(true);
  const later = append(log, AGENT, "later");
  clock.advance(200);
  await later;
  expect(pin.isActive).toBe(false);
  for (const step of ["hold", "release", "end"] as const)
    expect(await pin.step({ step, id: ONE })).toMatchObject(refusal("backup.expired"));
});

test("the log is not held for longer than its limit, however often it is asked for", async () => {
  const { clock, log, pin } = await pinned();
  let last = await pin.step({ step: "hold", id: ONE });
  for (let second = 0; second < 20 && last.ok; second += 1) {
    clock.advance(1_000);
    last = await pin.step({ step: "hold", id: ONE });
  }
  expect(last).toMatchObject(refusal("backup.too-long"));
  await append(log, AGENT, "later");
});
