// Zombies again, and whole: everything on a host stands still until another host has its home and works there, and then
// goes on, with the programs of its steps.
// DZ1. The daemon follows, and refuses work by saying where the home is; its steps are stopped, and nothing of it is in
//      the log behind the take.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SimRandom } from "../../sim/random.ts";
import { until } from "../../until.ts";
import type { At, Client } from "./clients.ts";
import { Fleet } from "./fleet.ts";

const TAKEN_MS = 180_000;

export type WholeZombies = { readonly zombies: number; readonly refused: number; readonly faults: readonly string[] };

export async function tryDaemons(seed: number, wanted: number): Promise<WholeZombies> {
  const random = new SimRandom(seed);
  const fleet = new Fleet(random);
  try {
    await fleet.start();
    let isOver = false;
    const watching = fleet.watch(() => isOver);
    const faults: string[] = [];
    for (let done = 0; done < wanted; done++) {
      const fault = await aZombie(fleet, random.pick(fleet.clients));
      if (fault !== undefined) faults.push(fault);
    }
    isOver = true;
    await watching;
    const refused = wanted - faults.length;
    return { zombies: wanted, refused, faults: [...faults, ...(await fleet.check())] };
  } finally {
    await fleet.stop();
    fleet.remove();
  }
}

/** Returns what is wrong. */
async function aZombie(fleet: Fleet, client: Client): Promise<string | undefined> {
  const before = await at(fleet, client);
  for (const kind of ["ticker", "run", "terminal"] as const) await client.once(kind);
  const { machine } = before.host;
  const pids = machine.pids();
  machine.signal(pids, "SIGSTOP");
  const isElsewhere = async () =>
    (await fleet.find(client.home))?.host !== before.host && (await client.once("terminal"));
  await until(`${client.home} works elsewhere`, isElsewhere, () => client.lastFailure, TAKEN_MS);
  machine.signal(pids, "SIGCONT");
  const follows = () => existsSync(join(before.home, "fleet/fenced.json"));
  await until(`${before.host.name} follows`, follows, () => before.host.log(), TAKEN_MS);
  const refused = await before.host.do(["new", "late", "--detach", "--home", before.home, "--", "cat"]);
  if (refused.code === 0) return `${before.home} took new work`;
  return /This home is on h\d now/.test(refused.err) ? undefined : `${before.home} refused with: ${refused.err}`;
}

function at(fleet: Fleet, client: Client): Promise<At> {
  const find = () => fleet.find(client.home);
  return until(`${client.home} is somewhere`, find, () => fleet.hosts.map((host) => host.log()));
}
