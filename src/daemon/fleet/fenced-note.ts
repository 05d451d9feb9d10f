// Notes on disk that another host has this home.
import { isFault } from "../../base/fault.ts";
import { writeFenced } from "../../home/fleet-files.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";

type Ports = {
  readonly world: { readonly disk: Disk; readonly clock: Clock; readonly home: string };
  say(words: string): void;
};

/** If the disk does not take it, the database says it too: a follower notes it as soon as it can (FM4 of member.ts). */
export async function noteFenced({ world, say }: Ports, owner: string, epoch: number): Promise<void> {
  try {
    await writeFenced(world, { at: new Date(world.clock.now()).toISOString(), owner, epoch });
  } catch (error) {
    if (!isFault(error)) throw error;
    say(`it could not be noted that ${owner} has this home: ${error.message}. ${error.hint}`);
  }
}
