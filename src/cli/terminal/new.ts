// `holdfast new`: opens a terminal. It attaches if a person is at a terminal, and stays detached otherwise or with -d.

import { endedText } from "../../base/exit-code.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import type { RestorePolicy } from "../../core/terminal/restoration.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { EXIT, type Exit, type Given } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { say } from "../print.ts";
import { dropAgentLink } from "./agent-link.ts";
import { createTerminal, type Wish, wishOf } from "./create.ts";
import { findTerminal } from "./find.ts";
import { rowOf } from "./listed.ts";

export type NewFlags = DataFlags & {
  readonly detach?: boolean;
  readonly lane?: string;
  readonly cwd?: string;
  readonly restore?: RestorePolicy;
};

async function open(world: DaemonCommandWorld, flags: NewFlags & Given, name?: string): Promise<Exit> {
  if (name === "") return refused("usage", "The name is empty.", "Give one, or leave it out.");
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const wish = wishOf(world, name ?? "", flags);
  if (!wish.ok) return wish;
  const made = await createOrReplace(world, home.value, wish.value, flags.json === true);
  if (!made.ok) return made;
  if (flags.detach || flags.json || !world.terminal.there) return report(world, made.value, flags.json === true);
  const { visitTo } = await import("./attach.ts");
  return visitTo(world, home.value, made.value, {});
}

/** An ended terminal gives its name back, in the same decision that makes the new one. */
async function createOrReplace(
  world: DaemonCommandWorld,
  home: string,
  wish: Wish,
  json: boolean,
): Promise<Result<ListedTerminal>> {
  const made = await createTerminal(world, home, wish);
  if (made.ok || made.error.code !== "name-taken") return made;
  const found = await findTerminal(world, home, wish.name, { names: "exact" });
  const old = found.ok && found.value.name === wish.name ? found.value : undefined;
  if (old?.state.kind !== "ended") return made;
  if (!json) await say(world.console, `${old.name} ${endedText(old.state)}; it is replaced.`);
  const again = await createTerminal(world, home, { ...wish, replaces: old.id });
  if (again.ok) dropAgentLink(world, home, old.recipe.env);
  return again;
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
