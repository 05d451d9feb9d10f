// A tape and a failed sync: what the next life reports durable is on disk, whatever the page cache shows.
import { expect, test } from "bun:test";
import { Tape } from "../../../src/log/tape/tape.ts";
import { SimDisk } from "../disk.ts";
import { nothing } from "../survive.ts";

const LIMITS = { segmentBytes: 8, maxBytes: 1000, home: "/home" };
const TEXT = new TextEncoder().encode("hello, world");

const open = (disk: SimDisk): Tape => Tape.open(disk, "/home/tape", LIMITS);

/** The tape's bytes, as far as they go without a gap. */
function textOf(tape: Tape): string {
  let text = "";
  for (let offset = 0; ; ) {
    const read = tape.read(offset, 100);
    if (read.kind !== "bytes") return text;
    text += new TextDecoder().decode(read.bytes);
    offset += read.bytes.length;
  }
}

test("a sync of the next life is true, even if a sync of the last one failed and the cache still shows the bytes", async () => {
  for (let which = 1; which <= 2; which += 1) {
    const first = new SimDisk();
    first.makeDirectory("/home");
    await first.syncDirectory("/"); // A home is durable before anything is in it.
    const tape = open(first);
    let syncs = 0;
    first.fault = ({ operation }) => {
      if (operation !== "datasync") return undefined;
      syncs += 1;
      return syncs === which ? { kind: "fail", code: "EIO" } : undefined;
    };
    tape.append(TEXT.subarray(0, 7));
    tape.append(TEXT.subarray(7));
    await expect(tape.sync()).rejects.toMatchObject({ code: "EIO" });
    expect(first.fired.length).toBe(1);
    const second = first.processKill();
    const again = open(second);
    expect(textOf(again)).toBe("hello, world");
    await again.sync();
    const third = open(second.powerCut(nothing));
    expect(textOf(third)).toBe("hello, world");
    expect(third.append(TEXT)).toBe(TEXT.length);
  }
});
