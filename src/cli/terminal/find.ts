// Lists the terminals, and finds the one that a person means.
// FD1. A name means the terminal with exactly this name; anything else is a prefix of an id that matches only one. No
//      match is refused; it never means the current or the last one.
// FD2. A live daemon is asked. If it is down because the operator wants so, or cannot answer, the disk is read.
// FD3. If the operator wants it up and it is not running, looking starts it, like every command.
// FD4. A daemon of another version does not block access to terminals: the protocol of holders never changes.
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

/** Whether the operator wants it up; a home that was never started is left alone. */
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
