// `holdfast adopt release` and `holdfast adopt recreate`: stops managing one session, or recreates it.
// CH1. A daemon that died in between may already have released it: then it is done.
import { ok } from "../../base/result.ts";
import type { ListedTmux } from "../../wire/rpc/rpc.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { showRow } from "./rows.ts";

async function release(world: DaemonCommandWorld, flags: DataFlags, session: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const released = await onDaemon<ListedTmux | undefined>(world, home.value, async (client, again) => {
    const answer = await client.call("tmux.release", { session });
    return !answer.ok && again && answer.error.code === "unknown" ? ok(undefined) : answer; // CH1
  });
  if (!released.ok) return released;
  if (released.value !== undefined) await showRow(world, released.value, flags.json);
  return ok(EXIT.ok);
}

async function recreate(world: DaemonCommandWorld, flags: DataFlags, session: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const made = await onDaemon(world, home.value, (client) => client.call("tmux.recreate", { session }));
  if (!made.ok) return made;
  await showRow(world, made.value, flags.json);
  return ok(made.value.state.kind === "kept" ? EXIT.ok : EXIT.failed);
}

export const releaseCommand = withDaemonWorld(release);
export const recreateCommand = withDaemonWorld(recreate);
