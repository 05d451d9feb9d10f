// Claims about the simulated disk's faults: crashes at a call, failed syncs, short calls, a full and a read-only disk,
// rot.
import { describe, expect, test } from "bun:test";
import { AssertionError } from "../../src/base/assert.ts";
import { Fault } from "../../src/base/fault.ts";
import { SimDisk } from "./disk.ts";
import { type Call, Crashed, type FaultChoice } from "./faults.ts";
import { nothing } from "./survive.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function planted(): SimDisk {
  const disk = new SimDisk();
  disk.plant("/d/a", bytes("old"));
  return disk;
}

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
  return "none";
}

/** Fails the first call of one operation. */
const once = (operation: Call["operation"], code: string, reached = false) => {
  let fired = false;
  return (call: Call): FaultChoice | undefined => {
    if (fired || call.operation !== operation) return undefined;
    fired = true;
    return { kind: "fail", code, reached };
  };
};

describe("a crash", () => {
  test("at call n lets n - 1 calls through, and no later one", () => {
    const disk = planted();
    disk.crashAt(3);
    const file = disk.open("/d/a", "write");
    file.write(bytes("new"), 0);
    expect(() => file.write(bytes("!!!"), 3)).toThrow(Crashed);
    expect(() => file.close()).toThrow(Crashed);
    expect(() => disk.list("/d")).toThrow(Crashed);
    expect(disk.peek("/d/a")).toEqual(bytes("new"));
  });

  test("rejects the promise of a sync instead of throwing into the caller", async () => {
    const disk = planted();
    const file = disk.open("/d/a", "write");
    disk.crash();
    const sync = file.datasync();
    expect(await sync.catch((error) => error)).toBeInstanceOf(Crashed);
  });

  test("thrown by a hook comes before the call takes effect, and is final", () => {
    const disk = planted();
    const seen: string[] = [];
    disk.onCall = (call) => {
      seen.push(`${call.index} ${call.operation} ${call.path}`);
      if (call.operation === "unlink") throw new Crashed("now");
    };
    disk.stat("/d");
    expect(() => disk.unlink("/d/a")).toThrow(Crashed);
    expect(() => disk.stat("/d/a")).toThrow(Crashed);
    expect(seen).toEqual(["1 stat /d", "2 unlink /d/a"]);
    expect(disk.peek("/d/a")).toEqual(bytes("old"));
  });

  test("in the middle of a write leaves its first bytes in the cache", () => {
    const disk = planted();
    const file = disk.open("/d/a", "write");
    disk.fault = () => ({ kind: "crash", bytes: 2 });
    expect(() => file.write(bytes("new"), 0)).toThrow(Crashed);
    expect(disk.processKill().peek("/d/a")).toEqual(bytes("ned"));
  });
});

describe("a failed sync", () => {
  test("loses the writes it covered for good, although the next sync succeeds and the cache shows them", async () => {
    const disk = planted();
    const file = disk.open("/d/a", "write");
    file.write(bytes("new"), 0);
    disk.fault = once("datasync", "EIO");
    expect(await file.datasync().catch((error) => error.code)).toBe("EIO");
    file.datasyncBlocking();
    expect(disk.peek("/d/a")).toEqual(bytes("new"));
    expect(disk.powerCut(nothing).peek("/d/a")).toEqual(bytes("old"));
    expect(disk.fired.map(({ call }) => call.operation)).toEqual(["datasync"]);
  });

  test("may have reached the disk all the same", () => {
    const disk = planted();
    const file = disk.open("/d/a", "write");
    file.write(bytes("new"), 0);
    disk.fault = once("datasyncBlocking", "EIO", true);
    expect(codeOf(() => file.datasyncBlocking())).toBe("EIO");
    expect(disk.powerCut(nothing).peek("/d/a")).toEqual(bytes("new"));
  });

  test("of a directory loses the names it covered", async () => {
    const disk = planted();
    disk.rename("/d/a", "/d/b");
    disk.fault = once("syncDirectory", "EIO");
    expect(await disk.syncDirectory("/d").catch((error) => error.code)).toBe("EIO");
    await disk.syncDirectory("/d");
    expect(disk.list("/d")).toEqual(["b"]);
    expect(disk.powerCut(nothing).list("/d")).toEqual(["a"]);
  });
});

describe("a gated sync", () => {
  test("leaves its bytes pending until the gate opens, and does not cover later writes", async () => {
    const disk = planted();
    const { promise, resolve } = Promise.withResolvers<void>();
    disk.gate = () => promise;
    const file = disk.open("/d/a", "write");
    file.write(bytes("new"), 0);
    const sync = file.datasync();
    file.write(bytes("!!!"), 3);
    expect(disk.pending().length).toBe(2);
    expect(disk.powerCut(nothing).peek("/d/a")).toEqual(bytes("old"));
    resolve();
    await sync;
    expect(disk.powerCut(nothing).peek("/d/a")).toEqual(bytes("new"));
    expect(disk.pending().length).toBe(1);
  });

  test("of a process that died in the meantime makes nothing durable", async () => {
    const disk = planted();
    const { promise, resolve } = Promise.withResolvers<void>();
    disk.gate = () => promise;
    const file = disk.open("/d/a", "write");
    file.write(bytes("new"), 0);
    const sync = file.datasync();
    disk.crash();
    resolve();
    expect(await sync.catch((error) => error)).toBeInstanceOf(Crashed);
    expect(disk.pending().length).toBe(1);
  });
});

describe("other faults", () => {
  test("short reads and writes transfer as many bytes as they return", () => {
    const disk = planted();
    const file = disk.open("/d/a", "write");
    disk.fault = () => ({ kind: "short", bytes: 2 });
    expect(file.write(bytes("new"), 0)).toBe(2);
    expect(file.read(new Uint8Array(3), 0)).toBe(2);
    expect(disk.peek("/d/a")).toEqual(bytes("ned"));
    expect(disk.fired.length).toBe(2);
  });

  test("a fault leaves the call without effect and names it", () => {
    const disk = planted();
    disk.fault = once("open", "EMFILE");
    expect(codeOf(() => disk.open("/d/b", "create"))).toBe("EMFILE");
    expect(disk.list("/d")).toEqual(["a"]);
    expect(disk.openCount).toBe(0);
  });

  test("a read-only disk refuses every change and still reads", () => {
    const disk = planted();
    const file = disk.open("/d/a", "write");
    disk.readOnly = true;
    const changes = [
      () => file.write(bytes("x"), 0),
      () => file.truncate(0),
      () => disk.open("/d/a", "write"),
      () => disk.makeDirectory("/d/e"),
      () => disk.rename("/d/a", "/d/b"),
      () => disk.link("/d/a", "/d/b"),
      () => disk.unlink("/d/a"),
    ];
    expect(changes.map(codeOf)).toEqual(changes.map(() => "EROFS"));
    expect(disk.open("/d/a", "read").read(new Uint8Array(9), 0)).toBe(3);
    expect(disk.fired.length).toBe(changes.length);
  });

  test("rot changes the cache and the disk", () => {
    const disk = planted();
    disk.rot("/d/a", 1, 1);
    expect(disk.peek("/d/a")).toEqual(bytes("omd"));
    expect(disk.durable("/d/a")).toEqual(bytes("omd"));
  });

  test("use of a closed file is a broken promise, not a fault", () => {
    const file = planted().open("/d/a", "read");
    file.close();
    expect(() => file.size()).toThrow(AssertionError);
  });
});
