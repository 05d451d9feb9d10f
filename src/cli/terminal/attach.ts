// `holdfast attach`: the user's window shows a terminal, until they detach or its program ends.

import { endedText, exitCodeOf } from "../../base/exit-code.ts";
import { ok, type Refusal, refused } from "../../base/result.ts";
import { TERMINAL_MARKER, whyNotAllowed } from "../../home/callers.ts";
import { sightOf } from "../../home/held/attach-view.ts";
import { terminalFiles } from "../../home/held/holder-files.ts";
import type { HolderSizing } from "../../wire/holder/protocol.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import type { Size } from "../../world/children.ts";
import { pause } from "../../world/wait.ts";
import { EXIT, type Exit, type Given } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { HomeFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { say } from "../print.ts";
import type { DetachKey } from "./after-key.ts";
import { refreshAgent } from "./agent-link.ts";
import { type AttachEnd, AttachSession, type VisitWish } from "./attach-session.ts";
import { findTerminal, listTerminals, type WhyNot } from "./find.ts";
import { rememberAttached } from "./last-attached.ts";

export type AttachFlags = HomeFlags & {
  readonly create?: boolean;
  readonly readOnly?: boolean;
  readonly size?: HolderSizing;
  readonly lane?: string;
  readonly cwd?: string;
};

/** Long enough to read a line. */
const WARNING_MS = 1_500;

/** Longer than it takes to draw a screen. */
const REMEMBER_MS = 50;

const USUAL_KEY = "ctrl-\\";

async function attach(world: DaemonCommandWorld, flags: AttachFlags & Given, key?: string): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  return key?.includes("/") ? attachThere(world, home.value, flags, key) : attachNamed(world, home.value, flags, key);
}

/** In another home of the fleet. */
async function attachThere(
  world: DaemonCommandWorld,
  home: string,
  flags: AttachFlags & Given,
  key: string,
): Promise<Exit> {
  if (flags.create || flags.words !== undefined)
    return refused("usage", "A terminal is created on its own host.", "Run it there: holdfast new");
  if (!world.terminal.there) return noTerminal();
  const { readOnly = false, size } = flags;
  const { onTerminalThere } = await import("../fleet/there.ts");
  const fixed = typeof size === "object" ? `${size.cols}x${size.rows}` : size;
  return onTerminalThere(world, {
    ...{ home, key, command: "attach", acts: !readOnly, isInteractive: true },
    words: (name) => [...(readOnly ? ["--read-only"] : []), ...(fixed === undefined ? [] : ["--size", fixed]), name],
    here: (at, name) => attachNamed(world, at, flags, name),
  });
}

export async function attachNamed(
  world: DaemonCommandWorld,
  home: string,
  flags: AttachFlags & Partial<Given>,
  key: string | undefined,
): Promise<Exit> {
  if (!world.terminal.there) return noTerminal();
  const whyNot = whyNotTo(world, home, flags);
  if (key === undefined) return attachToAny(world, home, flags, whyNot);
  const found = await findTerminal(world, home, key, { names: flags.create ? "exact" : "prefix", whyNot });
  if (found.ok) return attachTo(world, home, found.value, flags);
  if (!flags.create || found.error.code !== "unknown") return found;
  const { createTerminal, wishOf } = await import("./create.ts");
  const wish = wishOf(world, key, { words: undefined, ...flags });
  if (!wish.ok) return wish;
  const made = await createTerminal(world, home, wish.value);
  return made.ok ? visitTo(world, home, made.value, flags) : made;
}

/** Looks once who we are, which takes as long as the daemon's answer. */
function whyNotTo(world: DaemonCommandWorld, home: string, { readOnly }: AttachFlags): WhyNot {
  let looked: { readonly refusal: Refusal | undefined } | undefined;
  return () => {
    looked ??= { refusal: readOnly ? undefined : whyNotAllowed(world, home, "attach without --read-only") };
    return looked.refusal;
  };
}

/** Without a name: the only terminal that runs, or the one that the person chooses. */
async function attachToAny(world: DaemonCommandWorld, home: string, flags: AttachFlags, whyNot: WhyNot): Promise<Exit> {
  const refusal = whyNot();
  if (refusal !== undefined) return { ok: false, error: refusal };
  if (flags.create) return refused("usage", "No name was given.", "holdfast attach --create NAME");
  const listing = await listTerminals(world, home, "now");
  if (!listing.ok) return listing;
  const { chosenOf, reachable } = await import("./switch.ts");
  const others = reachable(world, listing.value.terminals);
  if (others.length === 0) return refused("not-running", "No terminal is running.", "`holdfast new` opens one.");
  const chosen = others.length === 1 ? others[0] : await chosenOf(world, home, others);
  if (chosen === undefined) return ok(EXIT.failed);
  const found = await findTerminal(world, home, chosen.id);
  return found.ok ? attachTo(world, home, found.value, flags) : found;
}

async function attachTo(
  world: DaemonCommandWorld,
  home: string,
  terminal: ListedTerminal,
  how: Pick<AttachFlags, "readOnly" | "size">,
): Promise<Exit> {
  const { id, name, state } = terminal;
  if (world.console.env(TERMINAL_MARKER) === id) return itself(name);
  if (state.kind === "ended") return hasEnded(name, endedText(state));
  if (state.kind === "uncertain") return waits(name, state.reason);
  return visitTo(world, home, terminal, how);
}

/** The window is cleared when it attaches, so the warning is left there for a moment. */
async function warnNested({ console, clock }: DaemonCommandWorld, name: string): Promise<void> {
  await say(console, `you are in a terminal already; the detach key leaves that one. Press it twice to leave ${name}.`);
  await pause(clock, WARNING_MS);
}

/**
 * Shows the terminal, and then those to which the person switches. For a new terminal: if its program has already
 * ended, its output and exit code are still shown.
 */
export async function visitTo(
  world: DaemonCommandWorld,
  home: string,
  terminal: ListedTerminal,
  how: Pick<AttachFlags, "readOnly" | "size">,
): Promise<Exit> {
  if (world.console.env(TERMINAL_MARKER) !== undefined) await warnNested(world, terminal.name);
  let typedAhead: Uint8Array = new Uint8Array();
  for (let at = terminal; ; ) {
    const session = await sessionFor(world, home, at, { ...how, typedAhead });
    const remember = how.readOnly ? () => undefined : rememberingLater(world, home, at.id);
    const end = await session.run();
    remember();
    if (end.kind !== "switched") return detachMessage(world, at.name, end, session.wasDrawn);
    const { switchFrom } = await import("./switch.ts");
    at = await switchFrom(world, home, at, end.to);
    typedAhead = end.to === "chosen" ? new Uint8Array() : session.typedAhead;
  }
}

/** Not before the screen is drawn: that would wait for it. Returns what does it now, if it was not done yet. */
function rememberingLater(world: DaemonCommandWorld, home: string, id: string): () => void {
  let isDone = false;
  const remember = () => {
    if (!isDone) rememberAttached(world, home, id);
    isDone = true;
  };
  const cancel = world.clock.after(REMEMBER_MS, remember);
  return () => {
    cancel();
    remember();
  };
}

async function sessionFor(
  world: DaemonCommandWorld,
  home: string,
  terminal: ListedTerminal,
  { readOnly = false, size, typedAhead }: Pick<AttachFlags, "readOnly" | "size"> & Pick<VisitWish, "typedAhead">,
): Promise<AttachSession> {
  const { disk } = world;
  if (!readOnly) refreshAgent(world, home, terminal.recipe.env);
  const sight = await sightOf(disk, home, terminal, world.terminal.size());
  const drawn = async (bounds: Size) => {
    const { drawnScreen } = await import("./drawn-screen.ts"); // Few windows need it.
    return drawnScreen(world, home, terminal, bounds);
  };
  const wish = { readOnly, sight, key: () => configuredKey(world), drawn, typedAhead, sizing: size };
  return new AttachSession(world, terminalFiles(disk, home, terminal.id), wish);
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

type VisitEnd = Exclude<AttachEnd, { kind: "switched" }>;

async function detachMessage(
  { console }: DaemonCommandWorld,
  name: string,
  end: VisitEnd,
  wasDrawn: boolean,
): Promise<Exit> {
  if (end.kind === "gone") return { ok: false, error: end.refusal };
  if (end.kind === "ended") {
    await say(console, `${name} ${endedText(end.exit)}.${wasDrawn ? `\n  → holdfast history ${name}` : ""}`);
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
