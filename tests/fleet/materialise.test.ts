// A home is made from the database, whatever happens meanwhile: to the process, to its mirror, or to what is stored.
import { describe, expect, test } from "bun:test";
import { PUT } from "../../src/fleet/calls.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { removeTaken } from "../../src/home/fleet-files.ts";
import { wasDown } from "../../src/home/last-life.ts";
import { readWhole } from "../../src/log/file/file.ts";
import { filesBelow } from "../sim/backup.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { SimProcesses } from "../sim/processes.ts";
import { SimRandom } from "../sim/random.ts";
import { AGENT, expectWhole, RUN, ShippedHome, TERMINAL } from "./shipped-home.ts";

async function shippedHome(): Promise<ShippedHome> {
  const home = new ShippedHome();
  await home.begin();
  await home.append(AGENT, "one");
  await home.opened.drain();
  await home.append(RUN, "two");
  await home.put(`${TERMINAL}/tape/0000000000000000.seg`, "what was printed long ago");
  await home.put("recovery/last-boot.json", "boot of a");
  await home.ship();
  await home.append(AGENT, "three");
  return home;
}

const emptyDisk = () => {
  const disk = new SimDisk();
  disk.plant("/b/other", new Uint8Array());
  return disk;
};

/** Ways in which a file is not what it was. */
const HARM: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array | undefined>> = {
  flipped: (bytes) => bytes.with(bytes.length - 20, (bytes.at(-20) ?? 0) ^ 1),
  shorter: (bytes) => bytes.subarray(0, bytes.length - 20),
  empty: () => new Uint8Array(),
  gone: () => undefined,
};

function withHarm(start: SimDisk, path: string, harm: (bytes: Uint8Array) => Uint8Array | undefined): SimDisk {
  const disk = start.fork();
  const bytes = harm(readWhole(disk, path) ?? new Uint8Array());
  if (bytes === undefined) disk.unlink(path);
  else disk.plant(path, bytes);
  return disk;
}

/** Nothing that only some crash has left stays beside the home. */
function expectTidy(disk: SimDisk): void {
  expect(disk.list("/b").filter((name) => !/^(?:home(?:\.before-.*)?|mirror|other)$/.test(name))).toEqual([]);
}

test("MA4 a home is on another machine also if both have the same boot id, as containers have, and once that is reported", async () => {
  const home = await shippedHome();
  const processes = new SimProcesses();
  await home.put("recovery/last-boot.json", processes.bootId());
  await home.ship();
  const disk = emptyDisk();
  expect(await home.materialise(disk)).toMatchObject({ ok: true });
  const place = { ...home.place, disk, home: "/b/home", processes };
  expect(wasDown(place)).toBe(true);
  await removeTaken(place);
  expect(wasDown(place)).toBe(true);
});

describe("a home that is made from the database", () => {
  test("a crash at every call leaves a whole home or none, and the next try makes it", async () => {
    const home = await shippedHome();
    const survived = await everyCrash({
      start: emptyDisk(),
      nothingPromised: false,
      takesLong: true,
      randomEndings: 3,
      live: async (disk, promised) => {
        expect(await home.materialise(disk)).toMatchObject({ ok: true });
        promised(true);
      },
      check: async (disk, isPromised) => {
        const isThere = disk.stat("/b/home") !== undefined;
        expect(isPromised && !isThere).toBe(false);
        if (isThere) await expectWhole(disk.fork(), home.entries());
        expect(await home.materialise(disk)).toMatchObject({ ok: true });
        expectTidy(disk);
        await expectWhole(disk, home.entries());
      },
    });
    expect(survived).toBeGreaterThan(300);
  }, 120_000);

  test("what has its name already is kept under another one, and a home that is made is not made again", async () => {
    const home = await shippedHome();
    const disk = emptyDisk();
    disk.plant("/b/home/recovery/home.json", Buffer.from("{}"));
    const first = await home.materialise(disk);
    if (!first.ok) throw new Error(first.error.message);
    expect(readWhole(disk, `${first.value.aside}/recovery/home.json`)).toEqual(new Uint8Array(Buffer.from("{}")));
    expect(await home.materialise(disk)).toMatchObject({ ok: true, value: { aside: undefined, files: 0 } });
    const take = { ...home.take, id: "another" };
    const again = await home.materialise(disk, home.mirror(disk), take);
    expect(again).toMatchObject({ ok: true, value: { aside: expect.stringContaining("/b/home.before-") } });
    expect(disk.list("/b").filter((name) => name.startsWith("home.before-"))).toHaveLength(2);
    await expectWhole(disk, home.entries());
  });

  test("a mirror fetches what has changed, and only that", async () => {
    const home = await shippedHome();
    const disk = emptyDisk();
    const mirror = home.mirror(disk);
    await home.materialise(disk, mirror);
    await home.append(AGENT, "four");
    await home.put(`${TERMINAL}/exit.json`, "{}");
    await home.ship(home.shipper, 1_000);
    const sent = home.postgres.statements;
    const take = { ...home.take, id: "another" };
    expect(await home.materialise(disk, mirror, take)).toMatchObject({ ok: true });
    // Its session, the home, two pages of the list, the blob, the last batch that it has, and two pages of batches.
    expect(home.postgres.statements - sent).toBeLessThanOrEqual(8);
    expect(filesBelow(disk, "/b/home")[`${TERMINAL}/exit.json`]).toBe("{}");
    await expectWhole(disk, home.entries());
  });

  test("a mirror with damage anywhere fetches it again", async () => {
    const home = await shippedHome();
    const start = emptyDisk();
    await home.materialise(start);
    for (const name of Object.keys(filesBelow(start, "/b/mirror")))
      for (const harm of Object.values(HARM)) {
        const disk = withHarm(start, `/b/mirror/${name}`, harm);
        const take = { ...home.take, id: "another" };
        expect(await home.materialise(disk, home.mirror(disk), take)).toMatchObject({ ok: true });
        await expectWhole(disk, home.entries());
      }
  });

  test("what the database lost and another owner wrote differently replaces what the mirror has", async () => {
    const [home, other] = [await shippedHome(), new ShippedHome()];
    await other.begin();
    await other.append(AGENT, "one");
    await other.opened.drain();
    await other.append(RUN, "two");
    await other.append(AGENT, "and not three");
    await other.opened.drain();
    const disk = emptyDisk();
    await home.materialise(disk);
    const theirs = other.mirror(disk, other.postgres);
    const made = await other.materialise(disk, theirs, { ...other.take, id: "another" });
    expect(made).toMatchObject({ ok: true });
    await expectWhole(disk, other.entries());
  });

  test("damage and holes in the database, a wrong key, and a home that is not there are refused, and leave nothing", async () => {
    const refusal = async (change: (home: ShippedHome) => Promise<unknown> | unknown) => {
      const harmed = await shippedHome();
      await change(harmed);
      const disk = emptyDisk();
      const answer = await harmed.materialise(disk);
      expect(disk.list("/b").sort()).toEqual(["mirror", "other"]);
      return answer.ok ? "made" : answer.error.code;
    };
    const batches = (of: ShippedHome) => of.postgres.tables.batchesOf(of.take.home);
    const withBatches =
      (change: (all: ReturnType<typeof batches>) => ReturnType<typeof batches>) => (of: ShippedHome) =>
        of.postgres.tables.setBatches(of.take.home, [...change(batches(of))]);
    expect(await refusal(withBatches((all) => all.slice(0, -1)))).toBe("fleet-hole");
    expect(await refusal(withBatches((all) => all.toSpliced(-2, 1)))).toBe("fleet-hole");
    const flipped = (bytes: Uint8Array) => bytes.with(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1);
    const last = withBatches((all) =>
      all.map((one, n) => (n === all.length - 1 ? { ...one, bytes: flipped(one.bytes) } : one)),
    );
    expect(await refusal(last)).toBe("fleet-damaged");
    const foreign = { path: `file/0/${TERMINAL}/exit.json`, seq: 9, part: 0, parts: 1, hash: new Uint8Array(32) };
    const put = (of: ShippedHome) => of.call(PUT, { take: of.take, part: { ...foreign, bytes: new Uint8Array(200) } });
    expect(await refusal(put)).toBe("fleet-damaged");
    expect(await new ShippedHome().materialise(emptyDisk())).toMatchObject({
      ok: false,
      error: { code: "fleet-no-home" },
    });
    const stranger = Object.assign(await shippedHome(), {
      seal: new FleetSeal(new SimRandom(9), [new Uint8Array(32)]),
    });
    expect(await stranger.materialise(emptyDisk())).toMatchObject({ ok: false, error: { code: "fleet-key" } });
  });
});
