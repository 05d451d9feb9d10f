// `holdfast new`: opens a terminal. It attaches if a person is at a terminal, and stays detached otherwise or with -d.

import { endedText } from "../../base/exit-code.ts";
import { ok } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { RestorePolicy } from "../../core/terminal/restoration.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { EXIT, type Exit, type Given } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { say } from "../print.ts";
import { createTerminal, wishOf } from "./create.ts";
import { rowOf } from "./listed.ts";

export type NewFlags = DataFlags & {
  readonly detach?: boolean;
  readonly lane?: string;
  readonly cwd?: string;
  readonly restore?: RestorePolicy;
};

async function open(world: DaemonCommandWorld, flags: NewFlags & Given, name = ""): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const wish = wishOf(world, name, flags);
  if (!wish.ok) return wish;
  const made = await createTerminal(world, home.value, wish.value);
  if (!made.ok) return made;
  if (flags.detach || flags.json || !world.terminal.there) return report(world, made.value, flags.json === true);
  const { visitTo } = await import("./attach.ts");
  return visitTo(world, home.value, made.value, {});
}

async function report({ console }: DaemonCommandWorld, terminal: ListedTerminal, json: boolean): Promise<Exit> {
  const { name, state } = terminal;
  await console.out.write(`${json ? visibleLine(JSON.stringify(rowOf(terminal))) : name}\n`);
  if (state.kind === "ended" && !json && state.code !== 0) {
    await say(console, `${name} ${endedText(state)} at once.\n  → holdfast history ${name}`);
  }
  return ok(EXIT.ok);
}

export const newCommand = withDaemonWorld(open);
