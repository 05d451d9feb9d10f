// `holdfast tail`: the last lines of a terminal as plain text, and with --follow new ones as they arrive.

import { ok, type Result } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { PlainText } from "../../core/terminal/plain-text.ts";
import { type HeldDirectory, terminalFiles } from "../../home/held/holder-files.ts";
import { tapeOf, tapeParts } from "../../home/held/tape-parts.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { findTerminal } from "./find.ts";
import { ReconnectingHolder } from "./reconnecting-holder.ts";
import { writerName } from "./writer-name.ts";

export type TailFlags = DataFlags & { readonly lines: number; readonly follow?: boolean };

/** Where the search for the last lines starts; it moves further back until there are enough. */
const FIRST_BYTES = 64 << 10;
const FURTHER = 8;

async function tail(world: DaemonCommandWorld, flags: TailFlags, key: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  return key.includes("/") ? tailThere(world, home.value, flags, key) : tailOf(world, home.value, flags, key);
}

/** In another home of the fleet. */
async function tailThere(world: DaemonCommandWorld, home: string, flags: TailFlags, key: string): Promise<Exit> {
  const { onTerminalThere } = await import("../fleet/there.ts");
  const { lines, follow = false, json = false } = flags;
  const given = ["--lines", `${lines}`, ...(follow ? ["--follow"] : []), ...(json ? ["--json"] : [])];
  return onTerminalThere(world, {
    ...{ home, key, command: "tail", acts: false, isInteractive: false },
    words: (name) => [...given, name],
    here: (at, name) => tailOf(world, at, flags, name),
  });
}

async function tailOf(world: DaemonCommandWorld, home: string, flags: TailFlags, key: string): Promise<Exit> {
  const found = await findTerminal(world, home, key);
  if (!found.ok) return found;
  const { id, name, state } = found.value;
  const place = terminalFiles(world.disk, home, id);
  const { lines, plain, end } = lastLines(place, flags.lines);
  const json = flags.json === true;
  if (!flags.follow) {
    const last = [...lines, ...(plain.last === "" ? [] : [plain.last])].slice(-flags.lines || Number.POSITIVE_INFINITY);
    const text = json ? `${visibleLine(JSON.stringify({ id, name, lines: last }))}\n` : linesText(last, false);
    await world.console.out.write(text);
    return ok(EXIT.ok);
  }
  await world.console.out.write(linesText(flags.lines === 0 ? [] : lines.slice(-flags.lines), json));
  if (state.kind === "ended" || state.kind === "uncertain") return rest(world, plain, json);
  return follow(world, { place, plain, from: end }, json);
}

function linesText(lines: readonly string[], json: boolean): string {
  return lines
    .map((line) => (json ? visibleLine(JSON.stringify({ line })) : visible(line)))
    .map((line) => `${line}\n`)
    .join("");
}

type Read = { readonly lines: string[]; readonly plain: PlainText; readonly end: number };

function lastLines(place: HeldDirectory, wanted: number): Read {
  const { start, end } = tapeOf(place);
  for (let size = FIRST_BYTES; ; size *= FURTHER) {
    const from = Math.max(start, end - size);
    const read = readFrom(place, from, from === start);
    // The first line may be incomplete, unless it is the tape's first.
    const lines = from === start ? read.lines : read.lines.slice(1);
    if (from === start || lines.length >= wanted) return { ...read, lines };
  }
}

function readFrom(place: HeldDirectory, from: number, whole: boolean): Read {
  const lines: string[] = [];
  const forget = () => void lines.splice(0);
  const plain = new PlainText(whole ? undefined : forget);
  let end = from;
  for (const part of tapeParts(place, from)) {
    if (part.kind === "bytes") lines.push(...plain.push(part.bytes));
    else plain.gap();
    end = part.kind === "bytes" ? part.offset + part.bytes.length : part.to;
  }
  return { lines, plain, end };
}

async function rest({ console }: DaemonCommandWorld, plain: PlainText, json: boolean): Promise<Exit> {
  if (plain.last !== "") await console.out.write(linesText([plain.last], json));
  return ok(EXIT.ok);
}

type Following = { readonly place: HeldDirectory; readonly plain: PlainText; readonly from: number };

async function follow(world: DaemonCommandWorld, { place, plain, from }: Following, json: boolean): Promise<Exit> {
  const { console } = world;
  const failed = Promise.withResolvers<never>();
  let printing: Promise<void> = Promise.resolve();
  const print = (lines: readonly string[]) => {
    if (lines.length === 0) return;
    line.hold();
    printing = printing.then(() => console.out.write(linesText(lines, json))).then(() => line.release());
    printing.catch(failed.reject);
  };
  const wish = { writer: writerName(world, "tail"), readOnly: true, from };
  const line = new ReconnectingHolder(world, place, wish, {
    output: (_, bytes) => print(plain.push(bytes)),
    resync: () => plain.gap(),
  });
  line.open();
  const stopped = console.interrupted().then(() => undefined);
  const end = await Promise.race([line.ended, stopped, failed.promise]);
  line.close();
  await printing;
  const over: Result<unknown> = end?.kind === "gone" ? { ok: false, error: end.refusal } : ok(undefined);
  return over.ok ? rest(world, plain, json) : over;
}

export const tailCommand = withDaemonWorld(tail);
