import { expect, spyOn, test } from "bun:test";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { Fault } from "../../base/fault.ts";
import { DurableDirectories } from "./durable-directories.ts";

/** Counts syncs; each one finishes only when the test releases it. */
class SlowSyncs extends SimDisk {
  readonly begun: string[] = [];
  /** The next sync of each of these fails. */
  readonly failing = new Set<string>();
  #going: (() => void)[] = [];

  override async syncDirectory(path: string): Promise<void> {
    this.begun.push(path);
    await new Promise<void>((go) => this.#going.push(go));
    if (this.failing.delete(path)) throw new Fault({ code: "EIO", operation: "syncDirectory", path });
    await super.syncDirectory(path);
  }

  /** Releases syncs until none is waiting. */
  async forget(): Promise<void> {
    for (let quiet = 0; quiet < 20; quiet += 1) {
      await Promise.resolve();
      if (this.#going.length > 0) quiet = 0;
      for (const go of this.#going.splice(0)) go();
    }
  }
}

function atHome() {
  const disk = new SlowSyncs();
  disk.makeDirectory("/h");
  disk.makeDirectory("/h/state");
  return { disk, directories: new DurableDirectories(disk, "/h") };
}

test("every level below the home is made and synced once, including existing ones", async () => {
  const { disk, directories } = atHome();
  const made = directories.make("/h/state/a");
  await disk.forget();
  await made;
  expect(disk.begun.sort()).toEqual(["/h", "/h/state"]);
  await directories.make("/h/state/a");
  const next = directories.make("/h/state/b");
  await disk.forget();
  await next;
  expect(disk.begun.slice(2)).toEqual(["/h/state"]);
  expect(disk.list("/h/state").sort()).toEqual(["a", "b"]);
});

test("callers during a running sync share the next one", async () => {
  const { disk, directories } = atHome();
  const all = ["a", "b", "c", "d"].map((name) => directories.make(`/h/state/${name}`));
  expect(disk.begun.filter((path) => path === "/h/state")).toHaveLength(1);
  await disk.forget();
  await Promise.all(all);
  expect(disk.begun.filter((path) => path === "/h/state")).toHaveLength(2);
});

test("a directory that was removed meanwhile is made again", async () => {
  const { disk, directories } = atHome();
  for (const _ of [1, 2]) {
    const made = directories.make("/h/state/a");
    await disk.forget();
    await made;
    disk.removeDirectory("/h/state/a");
  }
  expect(disk.begun).toEqual(["/h", "/h/state", "/h/state"]);
});

test("DD3 names that were made before a failed sync are made anew; one that is in use gets the failure", async () => {
  const { disk, directories } = atHome();
  const make = async (name: string) => {
    const made = directories.make(`/h/state/${name}`).catch((error: unknown) => error);
    await disk.forget();
    return made;
  };
  await make("before");
  disk.failing.add("/h/state");
  const failed = await Promise.all(["a", "b", "used"].map(make));
  expect(failed).toMatchObject(["a", "b", "used"].map(() => ({ code: "EIO" })));
  disk.makeDirectory("/h/state/used/file");
  expect(await make("used")).toMatchObject({
    code: "EIO",
    hint: expect.stringContaining("holdfast up"),
    cause: failed[2],
  });
  const removed = spyOn(disk, "removeDirectory");
  expect([await make("a"), await make("before"), await make("new")]).toEqual([undefined, undefined, undefined]);
  expect(removed.mock.calls).toEqual([["/h/state/a"]]);
  const { begun } = disk;
  expect(begun.filter((path) => path === "/h/state")).toHaveLength(4); // For before, the failed one, a and new.
});
