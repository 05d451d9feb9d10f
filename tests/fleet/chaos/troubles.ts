// What happens to a fleet: each trouble comes, lasts for a while, and goes.
import type { SimRandom } from "../../sim/random.ts";
import type { FailOver } from "./databases.ts";
import type { Fleet } from "./fleet.ts";
import type { Host } from "./hosts.ts";
import type { Hearing } from "./relay.ts";

export type Trouble = {
  readonly name: string;
  readonly weight: number;
  run(fleet: Fleet, random: SimRandom): Promise<void>;
};

const GUARD = "src/standby";
const PROGRAMS = ["src/daemon", "src/watchdog", GUARD, "holders/"];
const MAX_UP_S = 1_000_000;
const MAX_SKEW_S = 3_600;
const CANCELS = 10;

/** From an instant to long enough that the home is taken. */
function aWhile(random: SimRandom, mostMs: number): Promise<void> {
  return Bun.sleep(random.fraction() ** 2 * mostMs);
}

function aHost(fleet: Fleet, random: SimRandom): Host | undefined {
  const on = fleet.hosts.filter(({ machine }) => machine.isOn);
  return on.length === 0 ? undefined : random.pick(on);
}

function onHost(
  name: string,
  weight: number,
  act: (host: Host, random: SimRandom, fleet: Fleet) => Promise<void>,
): Trouble {
  return {
    name,
    weight,
    run: async (fleet, random) => {
      const host = aHost(fleet, random);
      if (host !== undefined) await act(host, random, fleet);
    },
  };
}

function onDatabases(name: string, weight: number, act: (fleet: Fleet, random: SimRandom) => Promise<void>): Trouble {
  return { name, weight, run: (fleet, random) => fleet.databaseTrouble(() => act(fleet, random)) };
}

export const TROUBLES: readonly Trouble[] = [
  onHost("kill programs", 4, async (host, random) => {
    const { machine } = host;
    const pids = host.running(random.pick(PROGRAMS));
    if (pids.length > 0) machine.signal(random.chance(0.3) ? pids : [random.pick(pids)], "SIGKILL");
  }),
  onHost("stop a program", 3, async (host, random, fleet) => {
    const { ticks } = fleet;
    const { machine } = host;
    const program = random.pick(PROGRAMS);
    const pids = host.running(program);
    if (program === GUARD) ticks.unguarded(host.name);
    machine.signal(pids, "SIGSTOP");
    await aWhile(random, fleet.longestMs);
    machine.signal(pids, "SIGCONT");
    if (program === GUARD) ticks.guarded(host.name);
  }),
  onHost("stop everything on a host", 2, async ({ machine }, random, fleet) => {
    const pids = machine.pids();
    machine.signal(pids, "SIGSTOP");
    await aWhile(random, fleet.longestMs);
    machine.signal(pids, "SIGCONT");
  }),
  onHost("lose the power", 2, async (host, random, fleet) => {
    await host.machine.powerOff();
    await aWhile(random, fleet.longestMs);
    await host.start(random.int(MAX_UP_S));
  }),
  onHost("pull the cable", 3, async ({ machine }, random, fleet) => {
    machine.node.unplug();
    await aWhile(random, fleet.longestMs);
    machine.node.plug();
  }),
  onHost("deaf relays", 3, async ({ relays }, random, fleet) => {
    const hearing = random.pick<Hearing>(["nothing", "questions only"]);
    for (const relay of relays) relay.hearing = hearing;
    await aWhile(random, fleet.longestMs);
    for (const relay of relays) relay.hearing = "all";
  }),
  onHost("full disk", 1, async ({ machine }, random, fleet) => {
    machine.fill();
    await aWhile(random, fleet.longestMs);
    machine.empty();
  }),
  onHost("full disk, and no cable", 2, async ({ machine }, random, fleet) => {
    machine.fill();
    machine.node.unplug();
    await Bun.sleep((fleet.longestMs * 2) / 3); // In a long round, others have its homes by then.
    await aWhile(random, fleet.longestMs);
    machine.node.plug();
    machine.empty();
  }),
  onHost("another wall clock", 1, async ({ machine }, random) => {
    machine.skew(random.int(2 * MAX_SKEW_S) - MAX_SKEW_S);
  }),
  onDatabases("promote the standby", 2, async ({ databases }, random) => {
    await databases.failOver(random.pick<FailOver>(["killed", "cut off", "both"]));
  }),
  onDatabases("a standby that is not heard, and waits that are cancelled", 2, async ({ databases }, random) => {
    databases.standby.node.unplug();
    await databases.cancelWaits(random.int(CANCELS));
    databases.standby.node.plug();
  }),
  onDatabases("stop the database", 2, async (fleet, random) => {
    const { databases } = fleet;
    databases.primary.signal("SIGSTOP");
    await aWhile(random, fleet.longestMs);
    databases.primary.signal("SIGCONT");
  }),
];

/** `like`: a part of its name; empty: any. */
export function aTrouble(random: SimRandom, like: string): Trouble {
  const some = TROUBLES.filter(({ name }) => name.includes(like));
  return random.pick(some.flatMap((trouble) => Array<Trouble>(trouble.weight).fill(trouble)));
}
