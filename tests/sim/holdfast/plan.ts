// The plan of a story (story.ts): how each of its lives ends, and what goes wrong in it.
// PL1. A seed gives the plan.
import { SimRandom } from "../random.ts";
import { CODES, type Code, isCode } from "./faulty-doors.ts";
import type { FleetPlan } from "./fleet.ts";
import type { TmuxTrouble } from "./tmux/client.ts";

/**
 * Another host takes the home: this one is dead, cannot reach the database any more, or an operator wants it there.
 */
export type Taking = "dead" | "cut off" | "robbed";
/** How a life ends: at this moment of it (SM2 of machine.ts), or in order after its wishes if there are fewer. */
export type Ending = {
  readonly kind: "daemon" | "power" | "holder" | "watchdog" | "tmux" | "sync" | Taking | Code;
  readonly at: number;
  /** Whose call fails; the daemon's if not given. */
  readonly whose?: "holder" | "watchdog";
};
export type LifePlan = {
  readonly ending: Ending;
  readonly wishes: number;
  /** The start of a holder with this number fails once, with EAGAIN. */
  readonly fork: number;
  /** From this one on, so many starts of programs by their holders fail like this. */
  readonly refused?: { readonly from: number; readonly times: number; readonly code: string };
  /** How long the first holder takes to start, in milliseconds; `never`: it dies before it does anything. */
  readonly slow?: number | "never";
  /** By how much the wall clock is set before it. */
  readonly jump?: number;
  /** At this moment of it the wall clock is set by so much. */
  readonly set?: { readonly at: number; readonly ms: number };
  /** At this moment of it the machine is suspended for so long. */
  readonly sleep?: { readonly at: number; readonly ms: number; readonly stopped: boolean };
  /** At this moment of it the database of the fleet cannot be reached for so long. */
  readonly away?: { readonly at: number; readonly ms: number };
  /** From this one on, so many calls of tmux meet this trouble. */
  readonly troubled?: { readonly from: number; readonly times: number; readonly how: TmuxTrouble };
};
/**
 * `watched`: there is a watchdog, which starts the daemon again (ST5). `tmux`: there is one, with sessions under
 * Holdfast's care. `model`: some agents are bare LLMs. `fleet`: the home is in one, with this database.
 */
export type Plan = {
  readonly seed: number;
  readonly lives: readonly LifePlan[];
  readonly watched?: boolean;
  readonly tmux?: boolean;
  readonly model?: boolean;
  readonly fleet?: FleetPlan;
};
const KINDS = [
  ...(["daemon", "daemon", "daemon", "power", "power", "power", "holder", "watchdog", "sync"] as const),
  ...CODES,
];
const WATCHED = 0.3;
const WITH_TMUX = 0.25;
const WITH_MODEL = 0.25;
const IN_FLEET = 0.1;
const TAKINGS: readonly Taking[] = ["dead", "cut off", "robbed"];
const TAKEN = 0.6;
/** Longer than a stage of a recovery may be silent. */
const MAX_AWAY_MS = 45_000;
const RATES = [0, 0.02, 0.1];
/** Besides the seed: the stories of those that are in no fleet are as they were. */
const OF_FLEETS = 0x5eed;
const MAX_DEATHS = 3;
const MAX_WISHES = 6;
/** A life has a hundred moments or more: a third of the deaths come during recovery, most others in the work after. */
const SPREADS = [40, 120, 300];
const MAX_SLOW_MS = 30_000;
const HOUR_MS = 3_600_000;
/** Less than a prompt stays open. */
const DAY_MS = 24 * HOUR_MS;
const JUMPS = [-HOUR_MS, -1_000, 1_000, DAY_MS];
const SLEEPS = [5_000, 5 * 60_000, 8 * HOUR_MS];
const REFUSALS = ["EAGAIN", "ENOMEM", "EMFILE", "EIO"];
const MAX_REFUSED = 8;
/** More than a daemon waits for tmux. */
const MAX_TMUX_MS = 25_000;
const TROUBLES: readonly TmuxTrouble[] = ["fails", "unheard", 500, MAX_TMUX_MS];
const TMUX_ENDINGS = 4;
const MAX_TMUX_CALLS = 30;

/** PL1 */
export function planOf(seed: number): Plan {
  const random = new SimRandom(seed);
  const watched = random.chance(WATCHED);
  const tmux = random.chance(WITH_TMUX);
  const model = random.chance(WITH_MODEL);
  const lives = Array.from({ length: 1 + random.int(MAX_DEATHS) }, () => ({
    ending: endingOf(random, watched, tmux),
    wishes: random.int(MAX_WISHES),
    fork: random.chance(0.2) ? 1 + random.int(4) : 0,
    ...(random.chance(0.2) && { slow: random.chance(0.3) ? ("never" as const) : random.int(MAX_SLOW_MS) }),
    ...(random.chance(0.2) && {
      refused: { from: 1 + random.int(4), times: 1 + random.int(MAX_REFUSED), code: random.pick(REFUSALS) },
    }),
    ...(random.chance(0.2) && { jump: random.pick(JUMPS) }),
    ...(random.chance(0.2) && {
      sleep: { at: 1 + random.int(random.pick(SPREADS)), ms: random.pick(SLEEPS), stopped: random.chance(0.5) },
    }),
    ...(random.chance(0.2) && {
      set: { at: 1 + random.int(random.pick(SPREADS)), ms: random.pick([-DAY_MS, DAY_MS]) },
    }),
    ...(tmux && random.chance(0.4) && { troubled: troubledOf(random) }),
  }));
  const plan = { seed, lives, watched, ...(tmux && { tmux }), ...(model && { model }) };
  return new SimRandom(seed + OF_FLEETS).chance(IN_FLEET) ? inFleet(plan) : plan;
}

/** The same lives in a fleet: some of them end because another host takes the home. */
export function inFleet({ seed, lives, model = false }: Plan): Plan {
  const random = new SimRandom(seed + OF_FLEETS + 1);
  const mode = random.chance(0.8) ? "sync" : "async";
  const containers = new SimRandom(seed + OF_FLEETS + 2).chance(0.3);
  const fleet: FleetPlan = { mode, rate: random.pick(RATES), ships: random.chance(0.5), containers };
  // The clocks of hosts agree.
  const ended = lives.map(({ troubled: _, jump: __, set: ___, ...life }): LifePlan => {
    const kind = mode === "sync" && random.chance(TAKEN) ? random.pick(TAKINGS) : undefined;
    const { ending } = life;
    const other = ending.kind === "tmux" || ending.whose === "watchdog" ? "daemon" : ending.kind;
    const away = { at: 1 + random.int(random.pick(SPREADS)), ms: random.int(MAX_AWAY_MS) };
    return { ...life, ...(random.chance(0.3) && { away }), ending: { kind: kind ?? other, at: ending.at } };
  });
  return { seed, lives: ended, fleet, ...(model && { model }) };
}

function endingOf(random: SimRandom, watched: boolean, tmux: boolean): Ending {
  const kinds = tmux ? [...KINDS, ...Array.from({ length: TMUX_ENDINGS }, () => "tmux" as const)] : KINDS;
  const ending = { kind: random.pick<Ending["kind"]>(kinds), at: 1 + random.int(random.pick(SPREADS)) };
  if (!isCode(ending.kind)) return ending;
  if (watched && random.chance(0.5)) return { ...ending, whose: "watchdog" };
  return random.chance(0.4) ? { ...ending, whose: "holder" } : ending;
}

function troubledOf(random: SimRandom) {
  return { from: 1 + random.int(MAX_TMUX_CALLS), times: 1 + random.int(MAX_REFUSED), how: random.pick(TROUBLES) };
}
