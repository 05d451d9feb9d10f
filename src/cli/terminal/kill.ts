// `holdfast kill`: ends the program in a terminal and waits for its end; with --signal it only delivers that signal.

import { endedText, signalNamed } from "../../base/exit-code.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { say } from "../print.ts";
import { endTerminal, signalTerminal } from "./end.ts";
import { findTerminal } from "./find.ts";
import type { LineEnd } from "./reconnecting-holder.ts";

export type KillFlags = DataFlags & { readonly signal?: string };

async function kill(world: DaemonCommandWorld, flags: KillFlags, key: string): Promise<Exit> {
  const signal = flags.signal === undefined ? undefined : signalNamed(flags.signal);
  if (flags.signal !== undefined && signal === undefined) return noSignal(flags.signal);
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const found = await findTerminal(world, home.value, key);
  if (!found.ok) return found;
  if (signal === undefined) return report(world, found.value, await endTerminal(world, home.value, found.value), flags);
  const sent = await signalTerminal(world, home.value, { id: found.value.id, signal });
  return sent.ok ? ok(EXIT.ok) : sent;
}

async function report(
  { console }: DaemonCommandWorld,
  { id, name }: ListedTerminal,
  ended: Result<LineEnd>,
  { json }: DataFlags,
): Promise<Exit> {
  if (!ended.ok) return ended;
  const end = ended.value.kind === "ended" ? ended.value.exit : { code: null, signal: null };
  if (json) {
    await console.out.write(`${visibleLine(JSON.stringify({ id, name, exitCode: end.code, signal: end.signal }))}\n`);
  } else if (console.err.tty) await say(console, `${name} ${endedText(end)}.`);
  return ok(EXIT.ok);
}

function noSignal(name: string): Exit {
  return refused(
    "usage",
    `${JSON.stringify(name)} is not a signal.`,
    "Use a name from `kill -l`: TERM, HUP, INT, USR1 …",
  );
}

export const killCommand = withDaemonWorld(kill);
