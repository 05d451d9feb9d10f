// How a tmux server ended, as reported by the client that waits for it: known when the server is found gone, whatever
// the order of events.
import { describe, expect, test } from "bun:test";
import { ok, type Result, refused } from "../../src/base/result.ts";
import { decideTmux } from "../../src/core/tmux/decide.ts";
import { applyTmux } from "../../src/core/tmux/events.ts";
import type { TmuxCare } from "../../src/core/tmux/tmux.ts";
import type { TmuxRun } from "../../src/daemon/tmux/client.ts";
import { TmuxKeeper } from "../../src/daemon/tmux/keeper.ts";
import type { Children, PipeEvents } from "../../src/world/children.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { SimProcesses } from "../sim/processes.ts";
import { SimRandom } from "../sim/random.ts";

const AT = new Date(Date.UTC(2026, 0, 1)).toISOString();
const NO_PATHS = { uid: 0, steps: () => [] };
const NO_SERVER = refused("no-server", "tmux has no server there.", "");

/** A keeper with one session that was just recreated: if its server ends normally, that is intentional. */
class Site {
  readonly clock = new SimClock();
  readonly processes = new SimProcesses();
  readonly server = this.processes.spawn();
  /** The clients that wait for the server, oldest first. */
  readonly waiting: PipeEvents[] = [];
  readonly keeper: TmuxKeeper;
  care: TmuxCare;
  answers = true;
  /** What a client that waits says of the server which it found. */
  found = [`${this.server.pid}\n`];
  /** Those that were contained, if any are expected. */
  bugs: string[] | undefined;
  /** Stands between the keeper and tmux. */
  look: () => void = () => undefined;

  constructor() {
    const state = { kind: "kept", place: { server: this.server, session: "$1" } } as const;
    const named = { id: "c1", socket: "/s", name: "work", policy: "auto", adoptedAt: AT } as const;
    this.care = { ...named, state, recreated: { at: AT, notes: [] }, released: false };
    const { clock, processes } = this;
    const world = {
      clock,
      processes,
      disk: new SimDisk(),
      random: new SimRandom(1),
      home: "/h",
      children: this.#children,
    };
    const options = { roundMs: 1_000, scrollbackLines: 0, environment: { allow: [], deny: [] } };
    const ports = {
      cares: () => [this.care],
      care: () => this.care,
      submit: async (command: Parameters<typeof decideTmux>[1]): Promise<Result<TmuxCare>> => {
        const decided = decideTmux(new Map([["c1", this.care]]), command, AT);
        if (!decided.ok) return decided;
        this.care = decided.value.reduce<TmuxCare>(applyTmux, this.care);
        return ok(this.care);
      },
      mayAct: () => false, // A lost session stays lost, and visible.
      onBug: (error: unknown, id: string) => {
        if (this.bugs === undefined) throw error;
        this.bugs.push(`${id}: ${error}`);
      },
      say: (words: string) => {
        throw new Error(words);
      },
    };
    this.keeper = new TmuxKeeper({ ...world, paths: NO_PATHS, environment: () => ({}) }, options, ports, this.#tmux);
    this.keeper.startPolling();
  }

  get #children(): Children {
    const none = () => {
      throw new Error("only clients that wait are started");
    };
    const pipes: Children["pipes"] = (_, events) => {
      this.waiting.push(events);
      for (const piece of this.found) events.output(Buffer.from(piece), "stdout");
      return { pid: 7, write: async () => undefined, closeInput: () => undefined, signal: () => true };
    };
    return { pipes, pty: none, detached: none, told: none, watched: none };
  }

  readonly #tmux: TmuxRun = async ({ commands }) => {
    this.look();
    if (!this.answers || !this.processes.alive(this.server)) return NO_SERVER;
    const format = commands[0]?.at(-1) ?? "";
    const word = format.slice(0, format.indexOf("+"));
    const known: Record<string, string> = {
      ...{ "#{pid}": String(this.server.pid), "#{session_id}": "$1", "#{window_id}": "@1", "#{pane_id}": "%1" },
      "#{window_layout}": "c195,80x24,0,0,1",
    };
    const fields = format
      .slice(word.length + 1)
      .split(`${word}-`)
      .slice(0, -1);
    return ok(`${word}+${fields.map((field) => `${known[field] ?? 1}${word}-`).join("")}\n`);
  };

  /** The server ends, and its client with it: with 0 after a normal end. */
  end(code: number): void {
    this.processes.exit(this.server.pid);
    this.waiting.at(-1)?.ended({ kind: "exited", code });
  }
}

describe("a server's end", () => {
  const fates = [
    [0, "ended"],
    [1, "lost"],
  ] as const;

  test.each(fates)("with code %d, reported between two rounds: %s", async (code, fate) => {
    const site = new Site();
    await site.keeper.round();
    expect(site.waiting).toHaveLength(1);
    site.end(code);
    await site.keeper.round();
    expect(site.care.state.kind).toBe(fate);
  });

  test.each(fates)("with code %d, reported during a round: %s", async (code, fate) => {
    const site = new Site();
    await site.keeper.round();
    site.look = () => site.processes.alive(site.server) && site.end(code);
    await site.keeper.round();
    expect(site.care.state.kind).toBe(fate);
  });

  test.each(fates)("with code %d, reported after a round has found it gone: %s", async (code, fate) => {
    const site = new Site();
    await site.keeper.round();
    site.processes.exit(site.server.pid);
    const round = site.keeper.round();
    await new Promise<void>((turn) => site.clock.soon(turn));
    expect(site.care.state.kind).toBe("kept"); // It waits for the client.
    site.end(code);
    await round;
    expect(site.care.state.kind).toBe(fate);
  });

  test("normally, although the server takes long to exit and no longer answers: ended", async () => {
    const site = new Site();
    await site.keeper.round();
    site.answers = false;
    site.waiting.at(-1)?.ended({ kind: "exited", code: 0 });
    for (let pause = 0; pause < 150; pause += 1) {
      await new Promise<void>((turn) => site.clock.soon(turn));
      site.clock.advance(10);
    }
    expect(site.care.state.kind).toBe("kept");
    expect(site.waiting).toHaveLength(1); // A client would only report that it cannot connect.
    site.processes.exit(site.server.pid);
    await site.keeper.round();
    expect(site.care.state.kind).toBe("ended");
  });

  test("counts although the number of the server comes in pieces", async () => {
    const site = new Site();
    site.found = [...`${site.server.pid}\n`];
    await site.keeper.round();
    site.end(0);
    await site.keeper.round();
    expect(site.care.state.kind).toBe("ended");
  });

  const others = [
    ["at another server", () => ["4000\n"]],
    ["at none that can be seen", () => ["5000\n"]],
    ["without a word", () => []],
    ["with words", () => ["can't say\n"]],
  ] as const;

  test.each(others)("of a client that waited %s says nothing of ours: it is lost", async (_, found) => {
    const site = new Site();
    site.processes.spawn(4000);
    site.found = [...found()];
    await site.keeper.round();
    site.processes.exit(4000);
    site.end(0);
    await site.keeper.round();
    expect(site.care.state.kind).toBe("lost");
  });

  test("is not mistaken for the end of the next server at the same socket", async () => {
    const site = new Site();
    await site.keeper.round();
    site.waiting.at(-1)?.ended({ kind: "exited", code: 0 }); // It was detached by a user: the server is still there.
    for (let pause = 0; pause < 150; pause += 1) {
      await new Promise<void>((turn) => site.clock.soon(turn));
      site.clock.advance(10);
    }
    expect(site.waiting).toHaveLength(2);
    site.end(1);
    await site.keeper.round();
    expect(site.care.state.kind).toBe("lost");
  });
});

test("PB2 a server whose answer cannot be handled fails for its sessions alone, and is looked at again", async () => {
  const site = new Site();
  site.bugs = [];
  site.look = () => {
    throw new TypeError("a bug");
  };
  expect(await site.keeper.round()).toMatchObject([{ care: { id: "c1" }, trouble: "TypeError: a bug" }]);
  site.keeper.attend("c1");
  await site.clock.settle();
  expect(site.bugs).toEqual(["c1: TypeError: a bug", "c1: TypeError: a bug"]);
  site.look = () => undefined;
  expect(await site.keeper.round()).toMatchObject([{ care: { id: "c1" }, trouble: undefined }]);
});
