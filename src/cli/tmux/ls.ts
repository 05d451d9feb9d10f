// `holdfast adopt ls`: the adopted sessions; from disk while Holdfast is down.
import { ok } from "../../base/result.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { look } from "../look.ts";
import { showRows } from "./rows.ts";

async function ls(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const listed = await look(world, { home: home.value, json: flags.json }, (client) =>
    allRows(client, "tmux.list", {}),
  );
  if (!listed.ok) return listed;
  await showRows(
    world,
    listed.value.toSorted((a, b) => a.adoptedAt.localeCompare(b.adoptedAt)),
    flags.json,
  );
  return ok(EXIT.ok);
}

export const adoptLsCommand = withDaemonWorld(ls);
