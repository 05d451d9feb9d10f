// `holdfast cancel`: stops a run for good.
import { ok } from "../../base/result.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { say } from "../print.ts";
import { findRun, printRun } from "./rows.ts";

async function cancel(world: DaemonCommandWorld, flags: DataFlags, key: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  // Cancelling twice has the same effect as once, so a lost reply does not matter.
  const cancelled = await onDaemon<ListedRun>(world, home.value, async (client) => {
    const run = await findRun(world, client, key, { meant: "endable" });
    return run.ok ? client.call("workflow.cancel", { id: run.value.id }) : run;
  });
  if (!cancelled.ok) return cancelled;
  if (flags.json) await printRun(world, cancelled.value);
  else if (cancelled.value.state !== "cancelled") await say(world.console, `${cancelled.value.name} is being stopped.`);
  return ok(EXIT.ok);
}

export const cancelCommand = withDaemonWorld(cancel);
