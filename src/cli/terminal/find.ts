// Lists the terminals, and finds the one that a person means.
// FD1. A name means the terminal with exactly this name; anything else is a prefix of a name or an id that matches only
//      one. No match is refused, with the name that was probably meant; it never means the current or the last one.
// FD2. A live daemon is asked. If it is down because the operator wants so, or cannot answer, the disk is read.
// FD3. If the operator wants it up and it is not running, looking starts it, like every command.
// FD4. A daemon of another version does not block access to terminals: the protocol of holders never changes.
import { ok, type Result, refused } from "../../base/result.ts";
import { dial } from "../../home/dial.ts";
import { wantedOn } from "../../home/wanted.ts";
import { nearest } from "../../wire/files/nearest.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { within } from "../../world/wait.ts";
import { LOOK_MS, liveDaemon } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

/** A list asks every holder; one that hangs must not hide the others. */
const LIST_MS = 5_000;
/** To type, nobody waits for a daemon that hangs: the disk says where the holder is. */
const NOW_MS = 700;

export type Listing = { readonly terminals: readonly ListedTerminal[]; readonly from: "daemon" | "disk" };

/** `now`: does not wait for a daemon that is not live yet, and does not query the holders for their status. */
export type Patience = "wait" | "now";

export async function listTerminals(
  world: DaemonCommandWorld,
  home: string,
  patience: Patience,
): Promise<Result<Listing>> {
  const patienceMs = patience === "now" ? NOW_MS : LIST_MS;
  const line = await dial(world, home, patienceMs);
  if (!line.ok) return patience === "now" ? fromDisk(world, home) : line; // FD4
  const found = line.value === undefined ? undefined : await ask(world, line.value, patienceMs, patience === "now");
  line.value?.close();
  if (found !== undefined) return ok(found);
  if (line.value === undefined && wantedOn(world.disk, home) !== "up") return fromDisk(world, home); // FD2
  if (patience === "now") {
    if (line.value === undefined) await (await import("../start.ts")).ensureStarted(world, home); // FD3
    return fromDisk(world, home);
  }
  const live = await liveDaemon(world, home, LOOK_MS); // FD3
  if (!live.ok) return live.error.code === "bad-config" ? live : fromDisk(world, home);
  const listing = await ask(world, live.value, LIST_MS, false);
  live.value.close();
  return listing === undefined ? fromDisk(world, home) : ok(listing);
}

/** Returns undefined if the daemon is not live: until then the list may be incomplete. */
async function ask(
  world: DaemonCommandWorld,
  client: RpcClient,
  patienceMs: number,
  brief: boolean,
): Promise<Listing | undefined> {
  const both = Promise.all([client.call("status", {}), client.call("terminal.list", { brief })]);
  const [status, list] = (await within(world.clock, patienceMs, both)) ?? [];
  if (status?.ok !== true || list?.ok !== true || status.value.recovery.stage !== "LIVE") return undefined;
  return { terminals: list.value, from: "daemon" };
}

async function fromDisk(world: DaemonCommandWorld, home: string): Promise<Result<Listing>> {
  const { listFromDisk } = await import("./list-from-disk.ts");
  return ok({ terminals: await listFromDisk(world, home), from: "disk" });
}

export async function findTerminal(
  world: DaemonCommandWorld,
  home: string,
  key: string,
): Promise<Result<ListedTerminal>> {
  const listing = await listTerminals(world, home, "now");
  return listing.ok ? pick(listing.value.terminals, key, "prefix") : listing;
}

/** Each is found before anything is done to one of them; one that is named twice counts once. */
export async function findTerminals(
  world: DaemonCommandWorld,
  home: string,
  keys: readonly string[],
): Promise<Result<readonly ListedTerminal[]>> {
  const listing = await listTerminals(world, home, "now");
  return listing.ok ? pickAll(listing.value.terminals, keys) : listing;
}

export function pickAll<T extends NamedTerminal>(all: readonly T[], keys: readonly string[]): Result<readonly T[]> {
  const found = new Set<T>();
  for (const key of keys) {
    const one = pick(all, key, "prefix");
    if (!one.ok) return one;
    found.add(one.value);
  }
  return ok([...found]);
}

type NamedTerminal = { readonly id: string; readonly name: string };

/** How many candidates are named: enough to recognise the right one, few enough for one line. */
const MAX_NAMED = 5;

/** FD1. `exact`: a name has to be whole, because another one would be a new terminal. */
export function pick<T extends NamedTerminal>(
  all: readonly T[],
  key: string,
  names: "exact" | "prefix" = "exact",
): Result<T> {
  const named = all.find(({ name, id }) => name === key || id === key);
  if (named !== undefined) return ok(named);
  if (key === "") return refused("unknown", "No name was given.", SEE_ALL);
  const found = all.filter(({ id, name }) => id.startsWith(key) || (names === "prefix" && name.startsWith(key)));
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return ok(only);
  return only === undefined ? unknown(all, key) : ambiguous(found, key);
}

const SEE_ALL = "`holdfast ls` shows all.";

function unknown(all: readonly NamedTerminal[], key: string): Result<never> {
  const near = nearest(
    key,
    all.map(({ name }) => name),
  );
  const hint = near === undefined ? SEE_ALL : `Did you mean ${near}? ${SEE_ALL}`;
  return refused("unknown", `There is no terminal ${JSON.stringify(key)}.`, hint);
}

function ambiguous(found: readonly NamedTerminal[], key: string): Result<never> {
  const named = found.slice(0, MAX_NAMED).map(({ name, id }) => (name.startsWith(key) ? name : `${name} (${id})`));
  const more = found.length > MAX_NAMED ? `, and ${found.length - MAX_NAMED} more` : "";
  return refused("ambiguous", `"${key}" matches ${found.length}: ${named.join(", ")}${more}.`, "Give more of it.");
}
