// `holdfast notify mute|unmute`: agents, lanes, or everything, that nobody is called about.
// MC1. Exactly one of them is named: nothing is muted by mistake, and everything only by its flag.
import { localTime } from "../../base/local-time.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { Params } from "../../wire/rpc/params.ts";
import type { ListedMute } from "../../wire/rpc/rpc.ts";
import { findAgent } from "../agent/find.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { Reader } from "../disk-reader.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { printJson, say } from "../print.ts";

export type UnmuteFlags = DataFlags & { readonly lane?: string; readonly all?: boolean };
export type MuteFlags = UnmuteFlags & { readonly for?: number };
type Meant = Pick<Params<"notify.mute">, "agent" | "lane" | "all">;

function muting(muted: boolean) {
  return async (world: DaemonCommandWorld, flags: MuteFlags, agent?: string): Promise<Exit> => {
    const home = meantHome(world, flags.home);
    if (!home.ok) return home;
    const time = flags.for === undefined ? {} : { forMs: flags.for };
    const done = await onDaemon(world, home.value, async (client) => {
      const meant = await meantOf(client, flags, agent);
      return meant.ok ? client.call("notify.mute", { ...meant.value, muted, ...time }) : meant;
    });
    if (!done.ok) return done;
    const { mutes = [] } = done.value;
    if (flags.json) await printJson(world.console, mutes);
    else await say(world.console, visibleLine(sentence(world, mutes)));
    return ok(EXIT.ok);
  };
}

/** MC1 */
async function meantOf(client: Reader, { lane, all = false }: UnmuteFlags, key?: string): Promise<Result<Meant>> {
  if ([key !== undefined, lane !== undefined, all].filter(Boolean).length !== 1) return WHICH;
  if (key === undefined) return ok(lane === undefined ? { all } : { lane });
  const found = await findAgent(client, key);
  return found.ok ? ok({ agent: found.value.id }) : found;
}

const WHICH = refused(
  "usage",
  "Name one agent, a lane, or everything.",
  "For example: holdfast notify mute builder, --lane night, or --all --for 2h",
);

function sentence({ console }: DaemonCommandWorld, mutes: readonly ListedMute[]): string {
  return mutes.length === 0 ? "nothing is muted" : `muted: ${mutes.map((one) => muteText(console, one)).join(", ")}`;
}

/** "builder", "lane night until 07:00", "everything". */
export function muteText(view: Parameters<typeof localTime>[0], { of, name, until }: ListedMute): string {
  const what = { agent: name, lane: `the lane ${name}`, all: "everything" }[of];
  return until === null ? what : `${what} until ${localTime(view, until)}`;
}

export const muteCommand = withDaemonWorld(muting(true));
export const unmuteCommand = withDaemonWorld(muting(false));
