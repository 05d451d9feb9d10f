// The killer: kills at random moments, from the dice. Sometimes it waits until everything has recovered, sometimes it
// kills
// in the middle of recovery, and sometimes it does not wait at all.
// R1. The first targets are an agent, as soon as there is one, and the daemon: even a short drill covers both, and on a
//     busy machine it continues until it has.
import { readClaim } from "../home/held/holder-files.ts";
import { pause, within } from "../world/wait.ts";
import type { Dice } from "./dice.ts";
import type { Going } from "./going.ts";
import { isOfAgent, isOfDaemon, type Kill, type Kills, type Target } from "./kills.ts";
import type { Ledger } from "./ledger.ts";
import { type Site, whoRuns } from "./site.ts";
import { Victims } from "./victims.ts";

/** The targets of fourteen kills on average. */
const TARGETS: readonly Target[] = [
  ...(["daemon", "daemon", "daemon", "daemon"] as const),
  ...(["watchdog", "watchdog", "both", "both", "web", "holder"] as const),
  ...(["agent", "agent", "agent holder", "agent holder"] as const),
];
/** R1. An agent exists within a second; if none appears at all, the agents' part of the drill reports it. */
const FIRST_MS = 60_000;
/** From "right after" to "nothing was going on". */
const BETWEEN_MS = [0, 600] as const;
const STRIKE_AGAIN = 0.25;
const DO_NOT_WAIT = 0.1;
/** The worst moment: something has just been acknowledged. The wait for it is limited. */
const AT_ACKNOWLEDGEMENT = 0.4;
const ACKNOWLEDGEMENT_MS = 600;
/** About the duration of a recovery, so that every moment of it is hit. */
const INTO_RECOVERY_MS = [0, 150] as const;
const MAX_STRIKES = 3;
/**
 * A daemon that dies before it is live waits longer each time, until one has lived for a second (watchdog/pace.ts, A2).
 */
const STEADY_MS = 1_050;

export class Killer {
  readonly #site: Site;
  readonly #ledger: Ledger;
  readonly #kills: Kills;
  readonly #dice: Dice;
  readonly #victims: Victims;

  constructor(site: Site, ledger: Ledger, kills: Kills, dice: Dice) {
    this.#site = site;
    this.#ledger = ledger;
    this.#kills = kills;
    this.#dice = dice;
    this.#victims = new Victims(site);
  }

  /** Reports each kill with its result. */
  async work(going: Going, told: (kill: Kill) => Promise<void>): Promise<void> {
    const { clock } = this.#site.world;
    const first: Target[] = ["agent", "daemon"];
    const deadline = clock.elapsed() + FIRST_MS;
    const goesOn = () => going.on || (first.length > 0 && clock.elapsed() < deadline); // R1
    while (goesOn()) {
      const wanted = first.shift();
      const what = wanted ?? this.#dice.pick(TARGETS) ?? "daemon";
      await pause(clock, this.#dice.between(...BETWEEN_MS));
      const kills = going.on || wanted !== undefined ? await this.#strike(what) : [];
      if (wanted !== undefined && kills.length === 0) first.push(wanted); // The target may exist later.
      for (const kill of kills) await told(kill);
    }
  }

  /** One kill, or several if it strikes again before the first has been recovered from. */
  async #strike(what: Target): Promise<readonly Kill[]> {
    if (isOfDaemon(what) && this.#dice.chance(AT_ACKNOWLEDGEMENT)) {
      await within(this.#site.world.clock, ACKNOWLEDGEMENT_MS, this.#ledger.acknowledgement);
    }
    const kill = this.#kill(what);
    if (kill === undefined) return isOfAgent(what) ? [] : this.#nobodyThere();
    if (isOfDaemon(what) && this.#dice.chance(STRIKE_AGAIN)) return this.#again(kill);
    if (!this.#dice.chance(DO_NOT_WAIT)) await this.#kills.back(kill);
    return [kill];
  }

  /** Both were killed without waiting: one must be back before the next kill. */
  async #nobodyThere(): Promise<readonly Kill[]> {
    await this.#kills.live();
    return [];
  }

  async #again(first: Kill): Promise<readonly Kill[]> {
    const kills = [first];
    for (let left = this.#dice.between(1, MAX_STRIKES); left > 0; left -= 1) {
      const next = await this.#kills.appeared(kills.flatMap(({ pids }) => pids));
      await pause(this.#site.world.clock, this.#dice.between(...INTO_RECOVERY_MS));
      const kill = next === undefined ? undefined : this.#kills.kill("daemon", [next]);
      if (kill !== undefined) kills.push(kill);
    }
    await this.#kills.back(kills.at(-1) ?? first);
    await pause(this.#site.world.clock, STEADY_MS);
    return kills;
  }

  #kill(what: Target): Kill | undefined {
    if (what === "holder") return this.#killHolder();
    if (isOfAgent(what)) return this.#killAgent(what);
    const { watchdog, daemon, web } = whoRuns(this.#site);
    const targets = { daemon: [daemon], watchdog: [watchdog], both: [watchdog, daemon], web: [web] }[what];
    return this.#kills.kill(
      what,
      targets.flatMap((who) => who ?? []),
    );
  }

  #killAgent(what: "agent" | "agent holder"): Kill | undefined {
    const victim = this.#victims.pick(what, this.#dice);
    return victim === undefined ? undefined : this.#kills.kill(what, [victim]);
  }

  /** Only the holder of a temporary terminal: its program cannot continue without it, and the ledger records that. */
  #killHolder(): Kill | undefined {
    const entry = this.#dice.pick(this.#ledger.running.filter(({ steady }) => !steady));
    const claim = entry === undefined ? undefined : readClaim(entry.attached.place);
    if (entry === undefined || claim?.by !== "holder" || !entry.attached.copy.ready) return undefined;
    entry.fate = "holder killed";
    return this.#kills.kill("holder", [claim]);
  }
}
