// A home that was taken over from another host: what was begun there (`recovery/taken.json`, fleet-files.ts).
// TO1. Before anything is examined or started, every program that was begun, and whose end is not on record, gets a
//      claim that names the other host (HS4 of home/held/held-state.ts): a missing claim must not mean that it has not
//      run. Once all of them are on disk, that is noted. What is begun later is begun here, and without a claim it has
//      not run.
// TO2. The programs of a session that was set aside are not known. It is noted durably before that, and gets its claims
//      in the first recovery that can read it, even if that is long after the report.
import { someAtOnce } from "../../base/all-of.ts";
import { readTaken, readUnclaimed, writeTaken, writeUnclaimed } from "../../home/fleet-files.ts";
import { claimForHost } from "../../home/held/held-state.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import type { Part } from "../part.ts";

/** How many claims are written in parallel. */
const AT_ONCE = 64;

type Parts = readonly Pick<Part, "begun" | "asides">[];

/** Does nothing in a home that was never taken over. `progress` is called after each claim. */
export async function claimTaken(world: HomeWorld, parts: Parts, progress: () => void): Promise<void> {
  const waiting = readUnclaimed(world);
  const taken = readTaken(world);
  const isNew = taken !== undefined && taken.claimed !== true; // TO1
  if (!isNew && waiting.size === 0) return;
  const asides = new Set(parts.flatMap((part) => [...part.asides.keys()]));
  const hostOf = (session: string) => waiting.get(session) ?? (isNew ? taken.from : undefined);
  const begun = parts.flatMap((part) => [...(part.begun?.() ?? [])]).filter(({ session }) => !asides.has(session));
  await someAtOnce(AT_ONCE, begun, async (one) => {
    const host = hostOf(one.session);
    if (host !== undefined) await claimForHost(world, one, host);
    progress();
  });
  const left = [...asides].flatMap((session) => withHost(session, hostOf(session)));
  await writeUnclaimed(world, new Map(left)); // TO2
  if (isNew) await writeTaken(world, { ...taken, claimed: true });
}

function withHost(session: string, host: string | undefined): [string, string][] {
  return host === undefined ? [] : [[session, host]];
}
