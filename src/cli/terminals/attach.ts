// `holdfast attach`: the user's window becomes a terminal's, until they detach or its program ends.
import { ok, refused } from "../../base/result.ts";
import { TapeReader } from "../../log/tape-reader.ts";
import { configRefusal } from "../../wire/config.ts";
import type { ListedTerminal } from "../../wire/rpc.ts";
import { readConfig } from "../configuration.ts";
import { endedText, exitCodeOf } from "../ending.ts";
import type { HomeFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { EXIT, type Exit, type Given } from "../outside.ts";
import { say } from "../print.ts";
import { type Reach, reaching } from "../reach.ts";
import { createTerminal, wishOf } from "./create.ts";
import { detachKey } from "./detach-key.ts";
import { listTerminals, pick } from "./find.ts";
import { placeOf, tapeDirectory } from "./place.ts";
import { Visit, type VisitEnd } from "./visit.ts";

export type AttachFlags = HomeFlags & {
  readonly create?: boolean;
  readonly readOnly?: boolean;
  readonly lane?: string;
  readonly cwd?: string;
};

/** How much of the tape is shown again: some screens' worth of scrollback, drawn in a few milliseconds. */
const REPLAY_BYTES = 256 << 10;

async function attach(reach: Reach, flags: AttachFlags & Given, key: string): Promise<Exit> {
  const home = meantHome(reach, flags.home);
  if (!home.ok) return home;
  if (!reach.terminal.there) return noTerminal();
  const listing = await listTerminals(reach, home.value, "now");
  if (!listing.ok) return listing;
  const found = pick(listing.value.terminals, key);
  if (found.ok) return attachTo(reach, home.value, found.value, flags);
  if (!flags.create || found.error.code !== "unknown") return found;
  const wish = wishOf(reach, key, flags);
  if (!wish.ok) return wish;
  const made = await createTerminal(reach, home.value, wish.value);
  return made.ok ? attachTo(reach, home.value, made.value, flags) : made;
}

export async function attachTo(
  reach: Reach,
  home: string,
  { id, name, state }: ListedTerminal,
  { readOnly = false }: Pick<AttachFlags, "readOnly">,
): Promise<Exit> {
  const config = readConfig(reach);
  if (!config.ok) return { ok: false, error: configRefusal(config.error) };
  const place = placeOf(reach.disk, home, id);
  if (state.kind === "ended") return hasEnded(name, endedText(state));
  if (state.kind === "uncertain") return hasEnded(name, `is not running (${state.reason})`);
  const { end } = new TapeReader(reach.disk, tapeDirectory(place));
  const key = detachKey(config.value.config.terminal.detachKey);
  const visit = new Visit(reach, place, { readOnly, from: Math.max(0, end - REPLAY_BYTES), key });
  return farewell(reach, name, await visit.run());
}

async function farewell({ console }: Reach, name: string, end: VisitEnd): Promise<Exit> {
  if (end.kind === "gone") return { ok: false, error: end.refusal };
  if (end.kind === "ended") {
    await say(console, `${name} ${endedText(end.exit)}.`);
    return ok(exitCodeOf(end.exit));
  }
  if (end.kind === "told") return ok(exitCodeOf({ code: null, signal: end.signal }));
  await say(console, `detached; ${name} runs on.\n  → holdfast attach ${name}`);
  return ok(EXIT.ok);
}

function hasEnded(name: string, how: string): Exit {
  const hint = `\`holdfast history ${name}\` shows what it said; \`holdfast rm ${name}\` makes the name free.`;
  return refused("not-running", `${name} ${how}.`, hint);
}

function noTerminal(): Exit {
  const hint = "From a program, use holdfast send, history, tail and wait; or attach from a terminal.";
  return refused("no-terminal", "There is no terminal to attach: standard input or output is something else.", hint);
}

export const attachCommand = reaching(attach);
