// `holdfast reload`: the running daemon reads the configuration again.
import { ok } from "../../base/result.ts";
import { RESTART } from "../../home/config-file.ts";
import type { ReloadResult } from "../../wire/rpc/rpc.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { lookLive } from "../look.ts";
import { printJson, say } from "../print.ts";

async function reload(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const done = await lookLive(world, home.value, (client) => client.call("config.reload", {}));
  if (!done.ok) return done;
  if (flags.json) await printJson(world.console, done.value);
  else await say(world.console, wordsOf(done.value));
  return ok(EXIT.ok);
}

function wordsOf({ path, applied, restart }: ReloadResult): string {
  const now = applied.length === 0 ? "no change that counts now" : `now in effect: ${applied.join(", ")}`;
  const later = restart.length === 0 ? "" : `\nfrom the next start on: ${restart.join(", ")}\n  → ${RESTART}`;
  return `${path ?? "the configuration"} was read; ${now}.${later}`;
}

export const reloadCommand = withDaemonWorld(reload);
