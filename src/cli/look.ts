// Commands that only look. If Holdfast is down, and the operator wants it so, they start nothing.
// LK1. While it is down, what can be shown without a daemon is read from disk, and the output says so.
// LK2. A home that was never started is down as well (`wantedOn` is undefined), and empty.
import { type Result, refused } from "../base/result.ts";
import { dial } from "../home/dial.ts";
import { wantedOn } from "../home/wanted.ts";
import { type Act, onDaemon } from "./client.ts";
import type { DaemonCommandWorld } from "./daemon-command-world.ts";
import type { Reader } from "./disk-reader.ts";
import { say } from "./print.ts";

/** `json`: whether a program reads the output, for which the note of LK1 is not meant. */
export type Looking = { readonly home: string; readonly json: boolean | undefined };

/** Runs `act` with a live daemon, or while Holdfast is down with what is on disk (LK1). */
export async function look<T>(
  world: DaemonCommandWorld,
  { home, json }: Looking,
  act: (reader: Reader) => Promise<Result<T>>,
): Promise<Result<T>> {
  const wanted = wantedOn(world.disk, home);
  if (wanted === "up" || (await answers(world, home))) return onDaemon(world, home, act);
  const { DiskReader } = await import("./disk-reader.ts"); // Before anything is said (FQ1 of scripts/quick-parts.ts).
  if (wanted === "down" && json !== true)
    await say(world.console, "Holdfast is down; this is from disk. `holdfast up` starts it.");
  return act(new DiskReader(world, home));
}

/** Runs `act` with a live daemon, and refuses while Holdfast is down: only the daemon knows the answer. */
export async function lookLive<T>(world: DaemonCommandWorld, home: string, act: Act<T>): Promise<Result<T>> {
  if (wantedOn(world.disk, home) === "up" || (await answers(world, home))) return onDaemon(world, home, act);
  return refused("down", "Holdfast is down.", "`holdfast up` starts it.");
}

/** Also a daemon that refuses us, for example because of its version: then the request says so. */
async function answers(world: DaemonCommandWorld, home: string): Promise<boolean> {
  const line = await dial(world, home);
  if (line.ok) line.value?.close();
  return !line.ok || line.value !== undefined;
}
