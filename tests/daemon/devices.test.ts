// Browsers that may use the page (src/daemon/devices.ts), on a simulated disk that crashes and fails.
import { expect, test } from "bun:test";
import type { Result } from "../../src/base/result.ts";
import { DeviceDesk } from "../../src/daemon/devices.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { SimRandom } from "../sim/random.ts";

const HOME = "/h";

class Desk {
  readonly gone: string[] = [];
  readonly desk: DeviceDesk;

  constructor(disk: SimDisk, seed: number) {
    const world = { disk, clock: new SimClock(), random: new SimRandom(seed), home: HOME };
    this.desk = new DeviceDesk(world, (device) => void this.gone.push(device));
  }

  async ask(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<Record<string, string>> {
    const done = (await this.desk.handlers[method]?.(params)) as Result<Record<string, string>>;
    if (!done.ok) throw new Error(done.error.code);
    return done.value;
  }

  /** The token of a browser that got in. */
  async letIn(): Promise<string> {
    const { link = "" } = await this.ask("device.link");
    return (await this.ask("device.redeem", { link, name: "a browser" }))["token"] ?? "";
  }
}

type Memory = { readonly link?: string; readonly token?: string; readonly revoked?: boolean };

test("DK1 what was answered holds after a crash at any call: a link, a browser that got in, one that was signed out", async () => {
  const survived = await everyCrash<Memory>({
    start: new SimDisk(),
    nothingPromised: {},
    live: async (disk, promised) => {
      const desk = new Desk(disk, 1);
      const { link = "" } = await desk.ask("device.link");
      promised({ link });
      const { token = "" } = await desk.ask("device.redeem", { link, name: "a browser" });
      promised({ link, token });
      await desk.ask("device.revoke", { id: desk.desk.bearer(token)?.id });
      promised({ link, token, revoked: true });
    },
    check: async (disk, { link = "", token, revoked }) => {
      const desk = new Desk(disk, 2);
      if (revoked === true) expect(desk.desk.bearer(token ?? "")).toBeUndefined();
      const isUsed = token !== undefined || Object.keys(await desk.ask("device.list")).length > 0;
      const again = desk.ask("device.redeem", { link, name: "another" }).then(
        () => "works",
        ({ message }) => message,
      );
      if (link !== "") expect(await again).toBe(isUsed ? "no-link" : "works");
      expect(desk.desk.bearer(await desk.letIn())?.id).toBeString(); // A second life.
    },
  });
  expect(survived).toBeGreaterThan(50);
});

test("two browsers cannot get in by one link at the same time", async () => {
  const desk = new Desk(new SimDisk(), 1);
  const { link = "" } = await desk.ask("device.link");
  const both = await Promise.allSettled([1, 2].map(() => desk.ask("device.redeem", { link, name: "x" })));
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("DF1 a disk that does not answer lets nobody in and forgets nobody; a full one changes nothing", async () => {
  const disk = new SimDisk();
  const token = await new Desk(disk, 1).letIn();
  const later = new Desk(disk, 2);
  disk.fault = ({ operation }) => (operation === "open" ? { kind: "fail", code: "EIO" } : undefined);
  expect(later.desk.bearer(token)).toBeUndefined();
  await expect(later.ask("device.link")).rejects.toMatchObject({ code: "EIO" });
  disk.fault = ({ operation }) => (operation === "write" ? { kind: "fail", code: "ENOSPC" } : undefined);
  await expect(later.ask("device.revoke", { id: later.desk.bearer(token)?.id })).rejects.toMatchObject({
    code: "ENOSPC",
  });
  disk.fault = undefined;
  expect(later.desk.bearer(token)?.id).toBeString();
  expect(later.gone).toEqual([]);
});

test("DK2 a browser that is signed out is disconnected; wrong parameters and unknown ids are refused", async () => {
  const desk = new Desk(new SimDisk(), 1);
  const id = desk.desk.bearer(await desk.letIn())?.id ?? "";
  await expect(desk.ask("device.revoke", { id: id.slice(1) })).rejects.toThrow("unknown");
  await expect(desk.ask("device.redeem", { link: 1 })).rejects.toThrow("bad-params");
  await desk.ask("device.revoke", { id });
  expect(desk.gone).toEqual([id]);
  expect(await desk.ask("device.list")).toEqual([] as never);
});
