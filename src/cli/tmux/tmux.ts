// `holdfast adopt tmux`: adopts sessions of a running tmux server.
import { ok, refused } from "../../base/result.ts";
import type { TmuxPolicy } from "../../core/tmux/tmux.ts";
import type { AdoptParams } from "../../wire/rpc/rpc.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { showRows } from "./rows.ts";

export type AdoptFlags = DataFlags & {
  readonly socket?: string;
  readonly socketPath?: string;
  readonly all?: boolean;
  readonly policy?: TmuxPolicy;
};

async function adopt(world: DaemonCommandWorld, flags: AdoptFlags, ...sessions: string[]): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  if (flags.socket !== undefined && flags.socketPath !== undefined) {
    return refused("usage", "--socket and --socket-path exclude each other.", "Give one of them.");
  }
  const params = { ...whichServer(world, flags), sessions, all: flags.all === true, policy: flags.policy ?? null };
  const adopted = await onDaemon(world, home.value, (client) => client.call("tmux.adopt", params));
  if (!adopted.ok) return adopted;
  await showRows(world, adopted.value, flags.json);
  return ok(EXIT.ok);
}

/** Finds the server as tmux itself does: by path, by name, by the current session, or the default one. */
function whichServer(
  { console }: DaemonCommandWorld,
  flags: AdoptFlags,
): Pick<AdoptParams, "path" | "name" | "directory"> {
  const directory = console.env("TMUX_TMPDIR") ?? null;
  if (flags.socketPath !== undefined) return { path: console.absolute(flags.socketPath), name: null, directory };
  if (flags.socket !== undefined) return { path: null, name: flags.socket, directory };
  const [inside = ""] = (console.env("TMUX") ?? "").split(",");
  return { path: inside.startsWith("/") ? inside : null, name: null, directory };
}

export const adoptTmuxCommand = withDaemonWorld(adopt);
