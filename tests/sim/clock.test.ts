// Claims about the simulated clock, random and processes.
import { describe, expect, test } from "bun:test";
import { identify } from "../../src/world/process.ts";
import { SimClock } from "./clock.ts";
import { SimProcesses } from "./processes.ts";
import { SimRandom } from "./random.ts";
import { nothing } from "./survive.ts";
import { afterKill, afterPowerCut, simWorld } from "./world.ts";

describe("the simulated clock", () => {
  test("runs timers in the order they are due, at their time, and only when moved", () => {
    const clock = new SimClock(1000);
    const seen: string[] = [];
    const note = (name: string) => () => void seen.push(`${name}@${clock.elapsed()}`);
    clock.after(20, note("c"));
    clock.after(10, note("a"));
    clock.after(10, () => {
      note("b")();
      clock.after(5, note("nested"));
    });
    clock.after(11, note("called off"))();
    clock.after(90, note("later"));
    expect(clock.nextTimer).toBe(10);
    clock.advance(30);
    expect(seen).toEqual(["a@10", "b@10", "nested@15", "c@20"]);
    expect([clock.now(), clock.elapsed(), clock.pendingTimers]).toEqual([1030, 30, 1]);
  });

  test("can have its wall time set without touching timers", () => {
    const clock = new SimClock(1000);
    clock.jump(-500);
    expect([clock.now(), clock.elapsed()]).toEqual([500, 0]);
  });

  test("`soon` comes after a chain of promises of any length", async () => {
    const clock = new SimClock();
    const seen: string[] = [];
    clock.soon(() => seen.push("soon"));
    void (async () => {
      for (let link = 0; link < 100; link += 1) await Promise.resolve();
      seen.push("chain");
    })();
    await clock.settle();
    expect(seen).toEqual(["chain", "soon"]);
  });
});

describe("the simulated random", () => {
  test("repeats itself for a seed and differs between seeds", () => {
    const draw = (seed: number): string => new SimRandom(seed).bytes(16).toHex();
    expect(draw(7)).toBe(draw(7));
    expect(new Set(Array.from({ length: 100 }, (_, seed) => draw(seed))).size).toBe(100);
  });

  test("spreads over its range", () => {
    const random = new SimRandom(1);
    const picks = Array.from({ length: 3000 }, () => random.pick(["a", "b", "c"]));
    for (const letter of ["a", "b", "c"]) {
      const share = picks.filter((pick) => pick === letter).length;
      expect(share).toBeGreaterThan(900);
      expect(share).toBeLessThan(1100);
    }
    expect(random.chance(0)).toBe(false);
    expect(random.chance(1)).toBe(true);
  });
});

describe("simulated processes", () => {
  test("a zombie, a stranger with its pid, and another boot are not the process", () => {
    const processes = new SimProcesses();
    const who = processes.spawn();
    expect(processes.alive(who)).toBe(true);
    expect(processes.kill(who, "SIGKILL")).toBe(true);
    expect(processes.alive(who)).toBe(false);
    processes.reap(who.pid);
    const stranger = processes.spawn(who.pid);
    expect([processes.alive(who), processes.kill(who, "SIGKILL"), processes.alive(stranger)]).toEqual([
      false,
      false,
      true,
    ]);
    processes.exit(stranger.pid);
    expect(processes.alive(stranger)).toBe(false);
    processes.reboot();
    expect(processes.alive(stranger)).toBe(false);
    expect(identify(processes, processes.pid)?.bootId).toBe("boot-2");
  });

  test("the next life has another pid after a kill, and another boot after a power cut", () => {
    const world = simWorld(1);
    const first = identify(world.processes, world.processes.pid);
    const second = afterKill(world);
    expect(second.processes.pid).not.toBe(first?.pid);
    expect(second.processes.bootId()).toBe("boot-1");
    expect(afterPowerCut(second, nothing).processes.bootId()).toBe("boot-2");
  });
});
