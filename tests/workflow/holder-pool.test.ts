// Holders that hold one attempt after the other: when one is reused, and when it is released.
import { expect, test } from "bun:test";
import { HolderPool } from "../../src/daemon/workflow/holder-pool.ts";
import type { Children } from "../../src/world/children.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";

class Site {
  readonly clock = new SimClock();
  readonly told: string[] = [];
  readonly ends: (() => void)[] = [];
  readonly pool: HolderPool;

  constructor() {
    const never = (): never => {
      throw new Error("no other kind of child is started");
    };
    const children: Children = {
      pty: never,
      pipes: never,
      detached: never,
      watched: never,
      told: (_command, ended) => {
        const number = this.ends.push(ended);
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
    const world = { children, clock: this.clock, disk, home: "/h", self, sockets, processes: realProcesses() };
    this.pool = new HolderPool(world, { holderCommand: () => ({ runtime: "bun", entry: "holder.js" }) });
  }

  give(attempt: string): void {
    this.pool.give(attempt, { directory: attempt, secrets: {} });
  }
}

test("a returned holder is reused; one whose attempt was lost or never ended is not", () => {
  const site = new Site();
  site.give("a");
  site.give("b");
  site.pool.giveBack("a");
  site.pool.giveBack("a");
  site.give("c");
  site.pool.forget("b");
  site.pool.giveBack("b");
  site.give("d");
  expect(site.told).toEqual(["1 a", "2 b", "1 c", "2 goes", "3 d"]);
});

test("a holder that exited at rest is not reused", () => {
  const site = new Site();
  site.give("a");
  site.pool.giveBack("a");
  site.ends[0]?.();
  site.give("b");
  site.ends[1]?.();
  site.pool.giveBack("b");
  site.give("c");
  expect(site.told).toEqual(["1 a", "2 b", "3 c"]);
});

test("HP3 an order that its holder did not live to carry out goes to another, to a new one at most three times", () => {
  const site = new Site();
  site.give("a");
  site.pool.giveBack("a");
  site.give("b");
  site.pool.giveAgain("b");
  site.ends[0]?.();
  site.pool.giveAgain("b");
  for (const end of [1, 2, 3]) {
    site.ends[end]?.();
    site.pool.giveAgain("b");
  }
  expect(site.told).toEqual(["1 a", "1 b", "2 b", "3 b", "4 b"]);
});

test("no holder waits for long or is used forever, and all at rest exit when we do", () => {
  const site = new Site();
  site.give("a");
  site.pool.giveBack("a");
  site.clock.advance(3_000);
  expect(site.told).toEqual(["1 a", "1 goes"]);
  for (let use = 0; use < 201; use += 1) {
    site.give(`u${use}`);
    site.pool.giveBack(`u${use}`);
  }
  expect(site.told.slice(-2)).toEqual(["2 goes", "3 u200"]);
  site.pool.close();
  expect(site.told.at(-1)).toBe("3 goes");
});
