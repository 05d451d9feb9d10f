// When there is a spare, who gets it, and when it is let go.
import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimProcesses } from "../../../tests/sim/processes.ts";
import { Fault } from "../../base/fault.ts";
import type { Children } from "../../world/children.ts";
import { identify } from "../../world/process.ts";
import { SpareHolder } from "./spare-holder.ts";

const ORDER = { directory: "/h/terminals/a", secrets: { TOKEN: "hush" } };

class Site {
  readonly clock = new SimClock();
  readonly processes = new SimProcesses();
  readonly started: { readonly pid: number; readonly argv: readonly string[]; readonly ended: () => void }[] = [];
  readonly told: string[] = [];
  entry = "/h/run/bin/holder-1.js";
  isFull = false;
  mayStart = true;
  readonly spare: SpareHolder;

  constructor() {
    const never = (): never => {
      throw new Error("no other kind of child is started");
    };
    const children: Children = {
      ...{ pty: never, pipes: never, detached: never, watched: never },
      told: ({ argv }, { ended }) => {
        if (this.isFull) throw new Fault({ code: "EAGAIN", operation: "start", path: "bun" });
        const { pid } = this.processes.spawn();
        this.started.push({ pid, argv, ended });
        const tell = (bytes: Uint8Array) => void this.told.push(Buffer.from(bytes).toString().trim());
        return { pid, tell, release: () => void this.told.push("end of input") };
      },
    };
    const self = { environment: () => ({ SHELL: "/bin/sh" }) };
    const mayStart = () => this.mayStart;
    const world = { children, clock: this.clock, home: "/h", mayStart, processes: this.processes, self };
    this.spare = new SpareHolder(world, () => ({ runtime: "bun", entry: this.entry }));
  }

  /** And the moment after it. */
  prepare(): void {
    this.spare.prepare();
    this.clock.advance(10);
  }

  get pids(): number[] {
    return this.started.map(({ pid }) => pid);
  }

  lives(at: number): boolean {
    return this.processes.startTime(this.pids[at] ?? 0) !== undefined;
  }
}

test("SH2 it gets one order with its secrets, and nothing after that", () => {
  const site = new Site();
  expect(site.spare.give(ORDER)).toBe(undefined);
  site.spare.prepare();
  expect(site.pids).toEqual([]); // SH3
  site.prepare();
  site.prepare();
  expect(site.pids.length).toBe(1);
  expect(site.spare.give(ORDER)).toBe(site.pids[0]);
  expect(site.told).toEqual(['{"directory":"/h/terminals/a","secrets":"{\\"TOKEN\\":\\"hush\\"}"}', "end of input"]);
  expect(site.spare.give(ORDER)).toBe(undefined);
  site.spare.close();
  expect([site.told.length, site.lives(0)]).toEqual([2, true]);
});

test("SH3 a machine at rest has none; every start keeps it for a while", () => {
  const site = new Site();
  site.prepare();
  site.clock.advance(119_000);
  site.prepare();
  site.clock.advance(119_980);
  expect(site.lives(0)).toBe(true);
  site.clock.advance(10);
  expect([site.lives(0), site.told]).toEqual([false, ["end of input"]]);
  expect(site.spare.give(ORDER)).toBe(undefined);
  site.prepare();
  expect(site.spare.give(ORDER)).toBe(site.pids[1]);
});

test("SH1 one that has ended, is stopped, or is of another program is not used, and not left behind", () => {
  const site = new Site();
  site.prepare();
  site.started[0]?.ended();
  expect(site.spare.give(ORDER)).toBe(undefined);
  site.prepare();
  const second = identify(site.processes, site.pids[1] ?? 0);
  if (second !== undefined) site.processes.kill(second, "SIGSTOP");
  expect([site.spare.give(ORDER), site.lives(1)]).toEqual([undefined, false]);
  site.prepare();
  site.entry = "/h/run/bin/holder-2.js";
  expect([site.spare.give(ORDER), site.lives(2)]).toEqual([undefined, false]);
  site.prepare();
  expect(site.started[3]?.argv).toContain(site.entry);
  expect(site.spare.give(ORDER)).toBe(site.pids[3]);
});

test("SH1 if the system has no process to spare, there is none, and that is all", () => {
  const site = new Site();
  site.isFull = true;
  site.prepare();
  expect(site.spare.give(ORDER)).toBe(undefined);
});

test("SH4 what it shows is as long as the directory of a terminal, and names the home", () => {
  const site = new Site();
  site.prepare();
  const shown = site.started[0]?.argv.at(-1) ?? "";
  expect(shown).toStartWith("/h/");
  expect(shown.length).toBe(`/h/terminals/${"0".repeat(32)}`.length);
});

test("SH1 a spare gets no order while nothing may be started, and is still there afterwards", () => {
  const site = new Site();
  site.prepare();
  site.mayStart = false;
  expect([site.spare.give(ORDER), site.told]).toEqual([undefined, []]);
  site.mayStart = true;
  expect([site.spare.give(ORDER), site.told.length]).toEqual([site.pids[0], 2]);
});
