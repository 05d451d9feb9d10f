// `holdfast attach`: the user's window shows a terminal, until they detach or its program ends.

import { endedText, exitCodeOf } from "../../base/exit-code.ts";
import { ok, refused } from "../../base/result.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { terminalFiles } from "../../home/held/holder-files.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import { EXIT, type Exit, type Given } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { HomeFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { say } from "../print.ts";
import { refreshAgent } from "./agent-link.ts";
import { type AttachEnd, AttachSession } from "./attach-session.ts";
import { sightOf } from "./attach-view.ts";
import type { DetachKey } from "./detach-key.ts";
import { listTerminals, pick } from "./find.ts";

export type AttachFlags = HomeFlags & {
  readonly create?: boolean;
  readonly readOnly?: boolean;
  readonly lane?: string;
  readonly cwd?: string;
};

const USUAL_KEY = "ctrl-\\";

/** Set in every program that a holder runs (holder/child.ts). */
const MARKER = "HOLDFAST_TERMINAL";

async function attach(world: DaemonCommandWorld, flags: AttachFlags & Given, key: string): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  if (!world.terminal.there) return noTerminal();
  const refusal = flags.readOnly === true ? undefined : whyNotAllowed(world, home.value, "attach without --read-only");
  if (refusal !== undefined) return { ok: false, error: refusal };
  const listing = await listTerminals(world, home.value, "now");
  if (!listing.ok) return listing;
  const found = pick(listing.value.terminals, key);
  if (found.ok) return attachTo(world, home.value, found.value, flags);
  if (!flags.create || found.error.code !== "unknown") return found;
  const { createTerminal, wishOf } = await import("./create.ts");
  const wish = wishOf(world, key, flags);
  if (!wish.ok) return wish;
  const made = await createTerminal(world, home.value, wish.value);
  return made.ok ? visitTo(world, home.value, made.value, flags) : made;
}

async function attachTo(
  world: DaemonCommandWorld,
  home: string,
  terminal: ListedTerminal,
  how: Pick<AttachFlags, "readOnly">,
): Promise<Exit> {
  const { id, name, state } = terminal;
  if (world.console.env(MARKER) === id) return itself(name);
  if (state.kind === "ended") return hasEnded(name, endedText(state));
  if (state.kind === "uncertain") return waits(name, state.reason);
  if (how.readOnly !== true) refreshAgent(world, home, terminal.recipe.env);
  return visitTo(world, home, terminal, how);
}

/** For a new terminal: if its program has already ended, its output and exit code are still shown. */
export async function visitTo(
  world: DaemonCommandWorld,
  home: string,
  terminal: ListedTerminal,
  { readOnly = false }: Pick<AttachFlags, "readOnly">,
): Promise<Exit> {
  const { disk } = world;
  const sight = await sightOf(disk, home, terminal, world.terminal.size());
  const wish = { readOnly, sight, key: () => configuredKey(world) };
  const visit = new AttachSession(world, terminalFiles(disk, home, terminal.id), wish);
  return detachMessage(world, terminal.name, await visit.run());
}

/** Loaded late, since drawing does not need it. An invalid configuration must not lock anybody out, or in. */
async function configuredKey(world: DaemonCommandWorld): Promise<DetachKey> {
  const [{ readConfig }, { detachKey }] = await Promise.all([
    import("../../home/start-watchdog.ts"),
    import("./detach-key.ts"),
  ]);
  const config = readConfig(world);
  return detachKey(config.ok ? config.value.config.terminal.detachKey : USUAL_KEY);
}

async function detachMessage({ console }: DaemonCommandWorld, name: string, end: AttachEnd): Promise<Exit> {
  if (end.kind === "gone") return { ok: false, error: end.refusal };
  if (end.kind === "ended") {
    await say(console, `${name} ${endedText(end.exit)}.`);
    return ok(exitCodeOf(end.exit));
  }
  if (end.kind === "told") return ok(exitCodeOf({ code: null, signal: end.signal }));
  await say(console, `detached; ${name} keeps running.\n  → holdfast attach ${name}`);
  return ok(EXIT.ok);
}

function waits(name: string, reason: string): Exit {
  const hint = `\`holdfast restore ${name}\` starts it again; \`holdfast history ${name}\` shows its output.`;
  return refused("not-running", `${name} is not running (${reason}).`, hint);
}

function hasEnded(name: string, how: string): Exit {
  const hint = `\`holdfast history ${name}\` shows its output; \`holdfast rm ${name}\` frees the name.`;
  return refused("not-running", `${name} ${how}.`, hint);
}

/** A terminal attached to itself would print its own output forever. */
function itself(name: string): Exit {
  return refused(
    "itself",
    `You are already in ${name}.`,
    "Attach to it from another window; Ctrl-\\ leaves it running.",
  );
}

function noTerminal(): Exit {
  const hint = "From a program, use holdfast send, history, tail and wait; or attach from a terminal.";
  return refused("no-terminal", "Standard input or output is not a terminal.", hint);
}

export const attachCommand = withDaemonWorld(attach);
