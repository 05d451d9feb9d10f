// Commands for a terminal of another home: `HOST/NAME`. A home that is on this host is used directly, and one of
// another host by ssh, which runs the same command there.
// TH1. Where that is comes from the home's sealed listing (fleet/listings.ts): what could be changed in the database
//      leads nobody anywhere.
// TH2. Nothing of ours is between the two: ssh has this window and these streams, and its exit code is ours.
import { exitCodeOf } from "../../base/exit-code.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { sshWords } from "../../core/fleet/ssh.ts";
import { apart, labelsOf, placesNamed } from "../../core/fleet/where.ts";
import type { HomeListing } from "../../fleet/listings.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { END_SIGNALS } from "../../world/console.ts";
import { runInOurPlace } from "../../world/real/in-our-place.ts";
import { realProgram } from "../../world/real/program.ts";
import type { Exit } from "../command-world.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { listingsOf, ownId } from "./all.ts";
import { configured, hostNameOf } from "./reach.ts";

export type ThereWish = {
  readonly home: string;
  /** `HOST/NAME` */
  readonly key: string;
  /** `acts`: it changes something. */
  readonly command: string;
  readonly acts: boolean;
  /** It takes over this window. */
  readonly isInteractive: boolean;
  /** What follows the command and the home. */
  words(name: string): readonly string[];
  /** The same in a home that is on this host. */
  here(home: string, name: string): Promise<Exit>;
};

/** OpenSSH: it could not connect, or lost the connection. */
const SSH_FAILED = 255;

export async function onTerminalThere(world: DaemonCommandWorld, wish: ThereWish): Promise<Exit> {
  const { home, key, command } = wish;
  const refusal = wish.acts ? whyNotAllowed(world, home, `${command} ${key}`) : undefined;
  if (refusal !== undefined) return { ok: false, error: refusal };
  const listings = await listingsOf(world);
  if (!listings.ok) return listings;
  const found = placeOf(listings.value, key);
  if (!found.ok) return found;
  const { at, name } = found.value;
  if (at.home === ownId(world, home)) return wish.here(home, name);
  const { listing } = at;
  if (listing === undefined) return refused("fleet-listing", `${at.name} has no list: ${at.why}.`, "holdfast fleet ls");
  if (isHere(world, at, listing.directory)) return wish.here(listing.directory, name);
  const words = [...listing.command, command, "--home", listing.directory, ...wish.words(name)];
  const ssh = sshWords({ destination: listing.ssh, words, isInteractive: wish.isInteractive }); // TH1
  return ssh.ok ? runSsh(world, ssh.value, listing.ssh) : ssh;
}

/** A path means something else on another host, also if something is there. */
function isHere(world: DaemonCommandWorld, { owner, home }: HomeListing, directory: string): boolean {
  const config = configured(world);
  return config.ok && hostNameOf(config.value) === owner && ownId(world, directory) === home;
}

type Found = { readonly at: HomeListing; readonly name: string };

/** Of several homes on a host, the one that has a terminal of this name. */
function placeOf(all: readonly HomeListing[], key: string): Result<Found> {
  const { where, name } = apart(key) ?? { where: "", name: key };
  const places = placesNamed(all, where);
  const labels = labelsOf(all);
  const names = (some: readonly HomeListing[]) => some.map(({ home }) => labels.get(home)).join(", ");
  if (places.length === 0)
    return refused("unknown", `There is no host ${JSON.stringify(where)} in the fleet.`, `There are: ${names(all)}.`);
  const having = places.filter(({ listing }) => listing?.terminals.some((one) => one.name === name));
  const [at, ...others] = places.length === 1 ? places : having;
  if (at !== undefined && others.length === 0) return ok({ at, name });
  const message = `${having.length} of the homes on ${where} have a terminal ${JSON.stringify(name)}.`;
  return refused("ambiguous", message, `Give the home: ${names(places)}.`);
}

/** TH2 */
async function runSsh({ self }: DaemonCommandWorld, argv: readonly [string, ...string[]], to: string): Promise<Exit> {
  const child = runInOurPlace({ argv, cwd: "/", env: self.environment() });
  const program = realProgram();
  for (const signal of END_SIGNALS) program.onSignal(signal, () => child.signal(signal)); // It ends first, then we do.
  const ending = await child.ended;
  if (ending.kind !== "exited") return ok(exitCodeOf({ code: null, signal: ending.signal }));
  if (ending.code !== SSH_FAILED) return ok(ending.code);
  return refused(
    "fleet-ssh",
    `ssh did not reach ${to}, or lost it.`,
    `Try: ssh ${to}. [fleet] ssh says there how it is reached.`,
  );
}
