// Which terminals there are, and which one a person means.
// FD1. A name means the terminal of exactly this name; anything else is the beginning of an id that fits only one. What fits nothing is
//      refused, and never means the current one or the last one.
// FD2. The daemon is asked where it is live. Where it is down on the operator's wish, or cannot answer, the disk is.
// FD3. Where the operator wants it up and nobody is there, looking starts it, as every command does.
// FD4. A daemon of another version keeps nobody from their terminals: what is said to holders never changes.
import { matchOne } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { dial } from "../../home/dial.ts";
import { wantedPath } from "../../home/wanted.ts";
import { readJson } from "../../log/file/json-file.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { within } from "../../world/wait.ts";
import { LOOK_MS, liveDaemon } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

/** A list asks every holder; one that hangs must not keep the others from being seen. */
const LIST_MS = 5_000;
/** Who wants to type does not wait for a daemon that hangs: the disk says where the holder is. */
const NOW_MS = 700;

export type Listing = { readonly terminals: readonly ListedTerminal[]; readonly from: "daemon" | "disk" };

/** `now`: who is not live yet is not waited for, and no holder is woken for what it would say of itself. */
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
  if (line.value === undefined && !wantsUp(world, home)) return fromDisk(world, home); // FD2
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

/** Undefined where it is not live: until then the list may be half. */
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

/** Whether the operator said so; a home where nobody ever did is left alone. */
function wantsUp({ disk }: DaemonCommandWorld, home: string): boolean {
  return readJson(disk, wantedPath(home))?.["wanted"] === "up";
}

export async function findTerminal(
  world: DaemonCommandWorld,
  home: string,
  key: string,
): Promise<Result<ListedTerminal>> {
  const listing = await listTerminals(world, home, "now");
  return listing.ok ? pick(listing.value.terminals, key) : listing;
}

/** FD1 */
export function pick<T extends { readonly id: string; readonly name: string }>(
  all: readonly T[],
  key: string,
): Result<T> {
  const named = all.find(({ name }) => name === key);
  if (named !== undefined) return ok(named);
  const id = matchOne(
    all.map((terminal) => terminal.id),
    key,
  );
  const found = id.ok ? all.find((terminal) => terminal.id === id.value) : undefined;
  if (found !== undefined) return ok(found);
  const words = id.ok || id.error.code === "unknown" ? unknownWords(key) : id.error.message;
  return refused(id.ok ? "unknown" : id.error.code, words, "`holdfast ls` shows all.");
}

function unknownWords(key: string): string {
  return key === "" ? "No name was given." : `There is no terminal ${JSON.stringify(key)}.`;
}
