// Holds one child from its spec to its end.
// M1. First claimed, then started: the claim is durable before the child starts. The socket is bound before the claim,
//     unless whoever gave the order listens and the program gets no input (M6).
// M2. If a claim exists, or another holder answers on the socket, nothing is held: the command is started at most once,
//     ever.
// M6. Most steps are over at once, and nobody connects to them. Such a one is reachable when its program has run for a
//     moment, and earlier if someone looks for its socket (M3 of hold.ts).
import { Fault, isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { readWhole } from "../log/file/file.ts";
import type { Journal } from "../log/file/journal.ts";
import { parseSpec } from "../wire/holder/json.ts";
import type { HolderSpec } from "../wire/holder/protocol.ts";
import type { Variables } from "../wire/holder/secrets.ts";
import type { Disk } from "../world/disk.ts";
import { Holder, type HolderWorld } from "./holder.ts";
import type { HolderNews } from "./news.ts";
import { claim } from "./records.ts";
import { SocketKeeper } from "./socket-keeper.ts";

export type ToHold = {
  readonly directory: string;
  readonly secrets: Variables;
  readonly noInput?: boolean;
  /** E3 of records.ts */
  readonly journal?: Journal | undefined;
  /** There is something to see of it, for whoever gave the order (OR3 of wire/holder/orders.ts). */
  readonly say?: () => void;
};

/** What is currently held. */
export type Present = { readonly holder: Holder; readonly keeper: SocketKeeper; readonly spec: HolderSpec };

/** M6. Many times what a small command takes, and nothing for a person. */
const BRIEF_MS = 40;

/** Resolves when the child's end is durable and announced. `present` is called before the claim, and at the end. */
export async function holdOne(
  world: HolderWorld,
  held: ToHold,
  present: (now: Present | undefined) => void,
): Promise<void> {
  const { directory, say, journal } = held;
  const spec = readSpec(world.disk, held);
  const holder = new Holder(world, spec, directory, journal);
  const keeper = await open(world, spec, { holder, held });
  if (keeper === undefined) return say?.(); // M2
  present({ holder, keeper, spec });
  try {
    const isOurs = await claim({ ...world, directory, journal }, spec.generation); // M1, M2
    await (isOurs ? holder.run(newsOf(world, held, { holder, keeper })) : say?.());
  } finally {
    keeper.close();
    present(undefined);
  }
}

function readSpec(disk: Disk, { directory, secrets }: ToHold): HolderSpec {
  const path = joinPath(directory, "holder.json");
  const bytes = readWhole(disk, path);
  if (bytes === undefined) throw new Fault({ code: "ENOENT", operation: "read", path });
  const spec = parseSpec(bytes);
  if (!spec.ok) throw new Fault({ code: spec.error.message, operation: "read", path, hint: spec.error.hint });
  return { ...spec.value, env: { ...spec.value.env, ...secrets } };
}

/** M6 */
const isBrief = ({ noInput, say }: ToHold) => noInput === true && say !== undefined;

type Opening = { readonly holder: Holder; readonly held: ToHold };

async function open(world: HolderWorld, { socket }: HolderSpec, { holder, held }: Opening) {
  const accept: Parameters<typeof SocketKeeper.open>[2] = (connection) => holder.accept(connection);
  if (isBrief(held)) return SocketKeeper.later(world, socket, accept);
  try {
    return await SocketKeeper.open(world, socket, accept);
  } catch (error) {
    if (isFault(error, "EADDRINUSE")) return undefined; // M2
    throw error;
  }
}

function newsOf({ clock }: HolderWorld, held: ToHold, { holder, keeper }: Omit<Present, "spec">): HolderNews {
  let isReachable = !isBrief(held);
  let cancel: (() => void) | undefined;
  const reach = async () => {
    await keeper.look();
    isReachable = true;
    held.say?.();
  };
  return {
    changed: () => keeper.touch(),
    begun: () => {
      if (held.noInput === true) holder.endInput();
      if (isReachable) held.say?.();
      else cancel ??= clock.after(BRIEF_MS, () => void reach()); // M6
    },
    over: () => {
      cancel?.();
      keeper.touch();
      held.say?.();
    },
  };
}
