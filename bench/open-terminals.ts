// Terminals to be checkpointed: real shells with a real foreground job, each in its own terminal, growing tapes, and
// the real screen program that draws them. Only the holders are not real (nothing is asked over a socket).
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { applyTerminal } from "../src/core/terminal/events.ts";
import type { Terminal } from "../src/core/terminal/terminal.ts";
import { CheckpointState } from "../src/daemon/terminal/checkpoint-state.ts";
import { Screens } from "../src/daemon/terminal/screens.ts";
import { identify } from "../src/world/process.ts";
import { realChildren } from "../src/world/real/children.ts";
import { realSelf } from "../src/world/self.ts";
import { realWorld } from "../src/world/world.ts";
import { type Bench, makePlace } from "./scratch.ts";

const SNAPSHOT_BYTES = 10_240;
const LINE =
  "\u001b[1;32mann@box\u001b[0m:\u001b[1;34m~/src\u001b[0m$ make test && echo done\r\nok, 12 files checked\r\n";
/** Twice of what is kept: a screen and some history. */
const VT = LINE.repeat(Math.ceil((2 * SNAPSHOT_BYTES) / LINE.length));

export type OpenTerminals = {
  readonly home: string;
  readonly state: CheckpointState;
  /** Every one of them prints something. */
  print(): void;
  close(): Promise<void>;
};

export function openTerminals(bench: Pick<Bench, "directory">, count: number): OpenTerminals {
  const home = makePlace(bench, `terminals-${count}`);
  const world = { ...realWorld(), home };
  const env = environment();
  const children = Array.from({ length: count }, () =>
    Bun.spawn(["sh", "-mc", "sleep 1000; :"], { cwd: home, terminal: { cols: 120, rows: 40 } }),
  );
  const terminals = children.map(({ pid }, n): Terminal => {
    const id = `0190b6a0-0000-7000-8000-${String(n).padStart(12, "0")}`;
    makePlace(bench, `terminals-${count}/terminals/${id}/tape`);
    const who = identify(world.processes, pid) ?? { pid, startTime: 0, bootId: "" };
    const recipe = { argv: ["sh", "-mc", "sleep 1000; :"], cwd: home, env, size: { cols: 120, rows: 40 } };
    const data = { name: `t${n}`, lane: "main", generation: 1, at: "", ...recipe };
    const made = applyTerminal(undefined, { event: "terminal.created", id, data });
    return { ...made, state: { kind: "running", holder: 1, ...who } };
  });
  const tapeOf = (id: string) => join(home, "terminals", id, "tape", "0000000000000000.seg");
  for (const { id } of terminals) appendFileSync(tapeOf(id), VT);
  const place = { children: realChildren(), clock: world.clock, self: realSelf(), home };
  const screens = new Screens(place, (crash) => {
    throw new Error(`the screen program crashed: ${crash.reason}`);
  });
  const state = new CheckpointState(
    world,
    { scrollbackBytes: SNAPSHOT_BYTES, environment: { allow: [], deny: [] } },
    {
      terminals: () => terminals,
      status: async () => undefined,
      late: () => undefined,
      onBug: (error) => {
        throw error;
      },
      guard: (_, work) => work(),
      screens,
      agents: { look: () => undefined },
    },
  );
  return {
    home,
    state,
    print: () => {
      for (const { id } of terminals) appendFileSync(tapeOf(id), "output\r\n");
    },
    close: async () => {
      screens.close();
      for (const child of children) process.kill(-child.pid, "SIGKILL");
      await Promise.all(children.map((child) => child.exited));
    },
  };
}

/** As large as that of a typical desktop. */
function environment(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 45 }, (_, n) => [`VARIABLE_NUMBER_${n}`, "x".repeat(20 + n)]));
}
