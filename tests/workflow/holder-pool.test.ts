// Holders that hold one attempt after the other: when one is reused, and when it is released.
import { expect, test } from "bun:test";
import { Fault } from "../../src/base/fault.ts";
import { HolderPool } from "../../src/daemon/workflow/holder-pool.ts";
import type { Children } from "../../src/world/children.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";

class Site {
  readonly clock = new SimClock();
  readonly told: string[] = [];
  readonly ends: (() => void)[] = [];
  readonly says: ((text: string) => void)[] = [];
  readonly heard: string[] = [];
  readonly pool: HolderPool;
  mayStart = true;

  constructor() {
    const never = (): never => {
      throw new Error("no other kind of child is started");
    };
    const children: Children = {
      pty: never,
      pipes: never,
      detached: never,
      watched: never,
      told: (_command, { said, ended }) => {
        if (!this.mayStart) throw new Fault({ code: "EAGAIN", operation: "start", path: "without a lease" });
        const number = this.ends.push(ended);
        this.says.push((text) => said?.(Buffer.from(text)));
        return {
          pid: number,
          tell: (bytes) => {
            const { directory } = JSON.parse(Buffer.from(bytes).toString());
            if (directory !== undefined) this.told.push(`${number} ${directory}`);
          },
          release: () => void this.told.push(`${number} goes`),
        };
      },
    };
    const self = {
      command: () => ["bun"] as const,
      lasting: () => ["bun"] as const,
      files: () => [],
      binary: () => undefined,
      holder: async () => undefined,
      environment: () => ({}),
      collect: () => undefined,
      capacity: () => ({ cores: 1, memoryBytes: 0 }),
    };
    const disk = new SimDisk();
    const sockets = { listen: never, connect: never };
    const mayStart = () => this.mayStart;
    const world = { children, clock: this.clock, disk, home: "/h", mayStart, self, sockets };
    this.pool = new HolderPool(
      { ...world, processes: realProcesses() },
      {
        holderCommand: () => ({ runtime: "bun", entry: "holder.js" }),
        heard: (attempt) => void this.heard.push(attempt),
        journals: { take: async () => undefined, giveBack: () => undefined },
      },
    );
  }

  async settled(): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  }

  async give(attempt: string): Promise<void> {
    await this.pool.give(attempt, { directory: attempt, secrets: {} });
  }
}

test("a returned holder is reused; one whose attempt was lost or never ended is not", async () => {
  const site = new Site();
  await site.give("a");
  await site.give("b");
  site.pool.giveBack("a");
  site.pool.giveBack("a");
  await site.give("c");
  site.pool.forget("b");
  site.pool.giveBack("b");
  await site.give("d");
  expect(site.told).toEqual(["1 a", "2 b", "1 c", "2 goes", "3 d"]);
});

test("a holder that exited at rest is not reused", async () => {
  const site = new Site();
  await site.give("a");
  site.pool.giveBack("a");
  site.ends[0]?.();
  await site.give("b");
  site.ends[1]?.();
  site.pool.giveBack("b");
  await site.give("c");
  expect(site.told).toEqual(["1 a", "2 b", "3 c"]);
});

test("HP3 an order that its holder did not live to carry out goes to another, to a new one at most three times", async () => {
  const site = new Site();
  await site.give("a");
  site.pool.giveBack("a");
  await site.give("b");
  site.pool.giveAgain("b");
  site.ends[0]?.();
  site.pool.giveAgain("b");
  await site.settled();
  for (const end of [1, 2, 3]) {
    site.ends[end]?.();
    site.pool.giveAgain("b");
    await site.settled();
  }
  expect(site.told).toEqual(["1 a", "1 b", "2 b", "3 b", "4 b"]);
});

test("no holder waits for long or is used forever, and all at rest exit when we do", async () => {
  const site = new Site();
  await site.give("a");
  site.pool.giveBack("a");
  site.clock.advance(3_000);
  expect(site.told).toEqual(["1 a", "1 goes"]);
  for (let use = 0; use < 201; use += 1) {
    await site.give(`u${use}`);
    site.pool.giveBack(`u${use}`);
  }
  expect(site.told.slice(-2)).toEqual(["2 goes", "3 u200"]);
  site.pool.close();
  expect(site.told.at(-1)).toBe("3 goes");
});

test("HP6 what a holder says, in whatever pieces, is about its own attempt, and so is its end", async () => {
  const site = new Site();
  await site.give("a");
  await site.give("b");
  site.says[0]?.('{"look":');
  expect(site.heard).toEqual([]);
  site.says[0]?.('"a"}\n{"look":"b"}\n');
  expect(site.heard).toEqual(["a"]);
  site.ends[1]?.();
  expect(site.heard).toEqual(["a", "b"]);
  expect([site.pool.tells("a"), site.pool.has("b")]).toEqual([true, false]);
});

test("HP7 beyond a few, an attempt waits for a holder that comes back, and for a new one only as long as a start takes", async () => {
  const site = new Site();
  for (const attempt of ["a", "b", "c", "d", "e", "f"]) await site.give(attempt);
  expect(site.told).toEqual(["1 a", "2 b", "3 c"]);
  expect([site.pool.has("d"), site.pool.has("g")]).toEqual([true, false]);
  site.pool.giveBack("b");
  site.pool.forget("e");
  expect(site.told.slice(3)).toEqual(["2 d"]);
  site.clock.advance(30);
  await site.settled();
  expect(site.told.slice(4)).toEqual([]);
  site.clock.advance(30);
  await site.settled();
  expect(site.told.slice(4)).toEqual(["4 f"]);
  site.pool.close();
});

test("HP8 while nothing may be started, a holder at rest gets no order, and the attempt is refused for now", async () => {
  const site = new Site();
  await site.give("a");
  site.pool.giveBack("a");
  site.mayStart = false;
  const taken = site.give("b").then(
    () => "taken",
    (error: Error) => error.message,
  );
  expect(await taken).toContain("without a lease: EAGAIN");
  expect([site.told, site.pool.has("b")]).toEqual([["1 a"], false]);
  site.mayStart = true;
  await site.give("b");
  expect(site.told).toEqual(["1 a", "1 b"]);
});
