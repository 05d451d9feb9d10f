// Drives a run to its end through the crashes that a seed selects.

import type { Json } from "../../src/base/json.ts";
import type { Definition } from "../../src/core/workflow/definition.ts";
import { effectsOf } from "../../src/core/workflow/effects.ts";
import { type Attempt, attemptsOf, stateOf } from "../../src/core/workflow/run.ts";
import { Crash, creation, Daemon, Home, isOver } from "./world.ts";

export type Trouble = {
  /** A fraction in [0, 1). */
  readonly chance: () => number;
  /** The probability that the daemon dies at each boundary, and that the machine dies with it. */
  readonly daemon: number;
  readonly machine: number;
  readonly checkpoints: number;
  /** The probability of a Ctrl-C; the run is resumed as soon as it has stopped. */
  readonly interrupts?: number;
};

/** More turns than any of our workflows needs: a run that takes more does not end. */
const MAX_TURNS = 20_000;
/** Crashes stop at some time; otherwise no run would end. */
const MAX_CRASHES = 40;

export type Driven = { readonly home: Home; readonly daemon: Daemon; readonly crashes: number };

export function drive(definition: Definition, items: readonly Json[], trouble: Trouble): Driven {
  const home = new Home(items);
  let crashes = 0;
  const boundary = () => {
    if (crashes >= MAX_CRASHES || trouble.daemon <= trouble.chance()) return;
    crashes += 1;
    throw new Crash();
  };
  const state = { daemon: new Daemon(home, boundary) };
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    try {
      if (state.daemon.runs.size === 0) state.daemon.submit(creation(definition));
      if (state.daemon.run.status.kind === "interrupted")
        state.daemon.submit({ kind: "resume", id: state.daemon.run.id, force: false });
      if (isOver(state.daemon.run)) return { home, daemon: state.daemon, crashes };
      oneTurn(state.daemon, trouble);
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      state.daemon = reborn(home, boundary, trouble);
    }
  }
  throw new Error(`the run did not end: ${stateOf(state.daemon.run)} ${JSON.stringify(effectsOf(state.daemon.run))}`);
}

/** Recovery may be interrupted as well, and then starts over. */
function reborn(home: Home, boundary: () => void, trouble: Trouble): Daemon {
  if (trouble.chance() < trouble.machine) home.powerCut();
  for (;;) {
    try {
      const daemon = new Daemon(home, boundary);
      if (daemon.runs.size > 0) daemon.recover();
      return daemon;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
  }
}

function oneTurn(daemon: Daemon, trouble: Trouble): void {
  if (trouble.chance() < trouble.checkpoints) daemon.save();
  if (
    trouble.interrupts !== undefined &&
    daemon.home.interrupts < MAX_CRASHES &&
    trouble.chance() < trouble.interrupts
  ) {
    daemon.home.interrupts += 1;
    daemon.submit({ kind: "interrupt", id: daemon.run.id });
    return;
  }
  const living = attemptsOf(daemon.run).filter(({ id }) => daemon.home.holders.get(id) !== undefined);
  const chosen = living[Math.floor(trouble.chance() * living.length)];
  if (chosen !== undefined && (trouble.chance() < 0.5 || daemon.queue.length === 0)) liveOn(daemon, chosen);
  else performOne(daemon, trouble, living.length > 0);
}

function liveOn(daemon: Daemon, { id, state }: Attempt): void {
  const holder = daemon.home.holders.get(id);
  if (state.kind === "uncertain") daemon.resolve(id, "rerun");
  else if (holder?.phase === "ended") daemon.report(id);
  else if (holder?.phase === "gone") daemon.lose(id);
  else if (holder !== undefined) daemon.home.live(holder);
}

/** Time passes only when nothing else can happen. */
function performOne(daemon: Daemon, trouble: Trouble, busy: boolean): void {
  const { queue } = daemon;
  const [effect] = queue.splice(Math.floor(trouble.chance() * queue.length), 1);
  if (effect === undefined) return;
  if (effect.kind === "timer" && (queue.length > 0 || busy)) queue.push(effect);
  else daemon.perform(effect);
}
