// A home is shipped to the database and made again on another disk.
import { describe, expect, test } from "bun:test";
import { LOOK, TAKE } from "../../src/fleet/calls.ts";
import { readOwner, readTaken } from "../../src/home/fleet-files.ts";
import { readWhole } from "../../src/log/file/file.ts";
import { TapeReader } from "../../src/log/tape/reader.ts";
import { filesBelow } from "../sim/backup.ts";
import { SimDisk } from "../sim/disk.ts";
import { AGENT, expectWhole, HOME_ID, RUN, ShippedHome, TERMINAL } from "./shipped-home.ts";

const LONG = "x".repeat(300);

/** Files of every kind, and a log of which some is in a snapshot. */
async function usedHome(journalBytes = 1_000): Promise<ShippedHome> {
  const home = new ShippedHome();
  await home.begin();
  await home.append(AGENT, "one", LONG, "two");
  await home.append(TERMINAL, "three");
  await home.append(RUN, "four", LONG);
  await home.put(`${TERMINAL}/claim.json`, '{"v":1,"pid":7}');
  await home.put(`${TERMINAL}/tape/0000000000000100.seg`, "what was printed long ago");
  await home.put(`${TERMINAL}/tape/0000000000000125.seg`, "and what came last");
  await home.put(`${AGENT}/checkpoint.json`, '{"seq":3}');
  await home.put(`${AGENT}/token`, "a secret");
  await home.put(`${AGENT}/claude/.credentials.json`, "a login");
  await home.put(`${AGENT}/claude/projects/p/s.jsonl`, "a conversation\n");
  await home.put(`${RUN}/attempts/1/exit.json`, '{"code":0}');
  await home.put("journals/0001.journal", `1\trecords\n${"\0".repeat(journalBytes)}`);
  await home.put("recovery/prompt-key", "a key");
  await home.put("recovery/last-boot.json", "boot of a");
  await home.put("recovery/home.json", '{"v":1,"id":"x","directory":"1:1","path":"/a/home"}');
  await home.put("tunnel/device-key.json", "a key of this host");
  await home.put("run/token", "a door of this host");
  await home.put("clones/repo-1/file", "work");
  await home.opened.drain();
  await home.append(AGENT, "five");
  return home;
}

async function made(home: ShippedHome, disk = new SimDisk()): Promise<SimDisk> {
  const answer = await home.materialise(disk);
  if (!answer.ok) throw new Error(`${answer.error.message} ${answer.error.hint}`);
  return disk;
}

describe("a home that is shipped and made again", () => {
  test("has every entry, and every file that other hosts need", async () => {
    const home = await usedHome(1_500_000);
    expect(await home.ship()).toMatchObject({ ok: true, value: { round: "snapshot" } });
    expect((await home.call(LOOK, HOME_ID))?.snapshot).toBeGreaterThan(0);
    await home.append(RUN, "six");
    await home.append("terminals/t2", "seven");
    const disk = await made(home);
    const files = filesBelow(disk, "/b/home");
    for (const path of [`${TERMINAL}/claim.json`, `${AGENT}/checkpoint.json`, `${RUN}/attempts/1/exit.json`])
      expect(files[path]).toBe(filesBelow(home.disk, home.home)[path]);
    expect(files["journals/0001.journal"]).toBe(filesBelow(home.disk, home.home)["journals/0001.journal"]);
    expect(files[`${AGENT}/claude/projects/p/s.jsonl`]).toBe("a conversation\n");
    expect(files["recovery/prompt-key"]).toBe("a key");
    expect(Object.keys(files).filter((path) => /token|credentials|tunnel|clones|run\//.test(path))).toEqual([]);
    expect(JSON.parse(files["recovery/home.json"] ?? "")).toMatchObject({ id: HOME_ID, path: "/b/home" });
    expect(files["recovery/last-boot.json"]).toBe("restored\n");
    expect(files["recovery/wanted.json"]).toContain("up");
    expect(readOwner({ disk, home: "/b/home" })?.take).toEqual({ epoch: 1, id: "take 1" });
    expect(readTaken({ disk, home: "/b/home" })).toMatchObject({ from: "host a", seq: 9 });
    await expectWhole(disk, home.entries());
  });

  test("has the end of each tape, at the offsets that its bytes had", async () => {
    const home = await usedHome();
    await home.ship();
    const disk = await made(home);
    const tape = new TapeReader(disk, `/b/home/${TERMINAL}/tape`);
    expect([tape.start, tape.end]).toEqual([123, 143]);
    const read = tape.read(130, 100);
    expect(read).toMatchObject({ kind: "bytes", bytes: new Uint8Array(Buffer.from("hat came last")) });
    expect(tape.read(100, 10)).toEqual({ kind: "dropped", from: 100, to: 123 });
  });

  test("what has not changed is not stored again, not even by another process; what has, and what is gone, is", async () => {
    const home = await usedHome();
    await home.ship();
    expect(await home.ship(home.shipper, 1_000)).toEqual({ ok: true, value: { round: "tick", count: 0, bytes: 0 } });
    const shipper = home.newShipper();
    expect(await home.ship(shipper, 1_000)).toEqual({ ok: true, value: { round: "tick", count: 0, bytes: 0 } });
    await home.put(`${TERMINAL}/exit.json`, "{}");
    await home.put(`${TERMINAL}/tape/0000000000000143.seg`, "!");
    expect(await home.ship(shipper, 1_000)).toMatchObject({ ok: true, value: { round: "tick", count: 2 } });
    home.disk.unlink(`${home.home}/${TERMINAL}/claim.json`);
    await home.ship(shipper, 1_000);
    const files = filesBelow(await made(home), "/b/home");
    expect(files[`${TERMINAL}/exit.json`]).toBe("{}");
    expect(files[`${TERMINAL}/claim.json`]).toBeUndefined();
    expect(files[`${TERMINAL}/tape/0000000000000124.seg`]).toBe("o");
    expect(files[`${TERMINAL}/tape/0000000000000125.seg`]).toBe("and what came last");
    expect(files[`${TERMINAL}/tape/0000000000000143.seg`]).toBe("!");
  });

  test("stopped after any statement, the database has a home that is whole", async () => {
    let stops = 0;
    for (let after = 0; ; after += 1) {
      const home = await usedHome();
      await home.append("agents/a2", "of an agent that is archived");
      await home.put("agents/a2/checkpoint.json", "{}");
      await home.opened.drain();
      await home.append(TERMINAL, LONG);
      await home.ship();
      await home.append(AGENT, ...["six", LONG, "seven", LONG]);
      await home.opened.drain();
      home.archive("agents/a2");
      await home.put(`${AGENT}/checkpoint.json`, '{"seq":12}');
      await home.append(AGENT, "eight", LONG);
      await home.opened.drain();
      await home.append(RUN, "nine");
      home.stopping.left = after;
      const ended = await home.ship();
      stops += ended.ok ? 0 : 1;
      const disk = await made(home);
      const kept = Object.keys(filesBelow(disk, "/b/home/agents")).filter((path) =>
        path.endsWith("a2/checkpoint.json"),
      );
      expect(kept).toHaveLength(1);
      await expectWhole(disk, home.entries());
      if (ended.ok && home.stopping.left > 0) break;
    }
    expect(stops).toBeGreaterThan(15);
  });

  test("what is written, renamed and archived while a snapshot is made is in it or behind it", async () => {
    for (let at = 1, isOver = false; !isOver; at += 1) {
      const home = await usedHome();
      await home.append("agents/a2", "of an agent that is archived");
      await home.opened.drain();
      await home.append(TERMINAL, "drained");
      home.stopping.left = at;
      home.stopping.meanwhile = async () => {
        await home.append(AGENT, "six", LONG, "seven", LONG);
        await home.opened.drain();
        home.archive("agents/a2");
        await home.append(RUN, "eight", LONG);
        await home.opened.drain();
        await home.append(TERMINAL, "drained");
      };
      await home.ship();
      isOver = home.stopping.meanwhile !== undefined;
      home.stopping.left = Number.POSITIVE_INFINITY;
      await expectWhole(await made(home), home.entries());
      expect(await home.ship()).toMatchObject({ ok: true });
      await expectWhole(await made(home), home.entries());
    }
  });

  test("a session that was brought back is there once, with what it has since", async () => {
    for (let after = 0, isOver = false; !isOver; after += 1) {
      const home = await usedHome();
      await home.append("agents/a2", "first");
      await home.opened.drain();
      await home.append(AGENT, "drained");
      home.archive("agents/a2");
      await home.ship();
      await home.opened.close();
      home.bringBack("agents/a2");
      await home.open();
      await home.append("agents/a2", "second");
      await home.opened.drain();
      await home.append(AGENT, "drained");
      home.stopping.left = after;
      isOver = (await home.ship()).ok && home.stopping.left > 0;
      const disk = await made(home);
      await expectWhole(disk, home.entries());
      expect(disk.list("/b/home/agents").filter((name) => name.endsWith("a2"))).toEqual(["a2"]);
    }
  });

  test("once another host has taken it, nothing is stored any more", async () => {
    const home = await usedHome();
    await home.ship();
    const take = { home: HOME_ID, epoch: 2, id: "take 2" };
    await home.call(TAKE, { take, owner: "b", leaseMs: 1_000, ifExpired: false });
    await home.put(`${TERMINAL}/exit.json`, "{}");
    for (const _ of [1, 2]) {
      const sent = home.postgres.statements;
      expect(await home.ship()).toMatchObject({ ok: false, error: { code: "fleet-fenced" } });
      if (_ === 2) expect(home.postgres.statements).toBe(sent);
    }
    const disk = new SimDisk();
    expect(await home.materialise(disk, home.mirror(disk), take)).toMatchObject({ ok: true });
    expect(readWhole(disk, `/b/home/${TERMINAL}/exit.json`)).toBeUndefined();
    await expectWhole(disk, home.entries());
  });
});
