// `holdfast history`: a terminal's output as far as its tape still has it; as plain text, or with --vt unchanged.

import { ok } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { PlainText } from "../../core/terminal/plain-text.ts";
import { type HeldDirectory, terminalFiles } from "../../home/held/holder-files.ts";
import { tapeParts } from "../../home/held/tape-parts.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { Printer, say } from "../print.ts";
import { findTerminal } from "./find.ts";

export type HistoryFlags = DataFlags & { readonly vt?: boolean };

async function history(world: DaemonCommandWorld, flags: HistoryFlags, key: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const found = await findTerminal(world, home.value, key);
  if (!found.ok) return found;
  const { id, name } = found.value;
  const place = terminalFiles(world.disk, home.value, id);
  if (flags.json) return printJson(world, place, { id, name, vt: flags.vt === true });
  const missing = flags.vt ? await printRaw(world, place) : await printPlain(world, place);
  if (missing > 0) await say(world.console, `${missing} bytes of ${name} are missing from its tape.`);
  return ok(EXIT.ok);
}

/** Prints the bytes unchanged; returns how many are missing. */
async function printRaw({ terminal }: DaemonCommandWorld, place: HeldDirectory): Promise<number> {
  let missing = 0;
  for (const part of tapeParts(place, 0)) {
    if (part.kind === "bytes") await terminal.write(part.bytes);
    else missing += part.to - part.from;
  }
  return missing;
}

async function printPlain({ console }: DaemonCommandWorld, place: HeldDirectory): Promise<number> {
  const printer = new Printer(console.out);
  const missing = await plainLines(place, (line) => printer.add(visible(`${line}\n`)));
  await printer.flush();
  return missing;
}

async function plainLines(place: HeldDirectory, take: (line: string) => Promise<void> | void): Promise<number> {
  const plain = new PlainText();
  let missing = 0;
  for (const part of tapeParts(place, 0)) {
    if (part.kind === "bytes") for (const line of plain.push(part.bytes)) await take(line);
    else {
      plain.gap();
      missing += part.to - part.from;
    }
  }
  if (plain.last !== "") await take(plain.last);
  return missing;
}

type Wanted = { readonly id: string; readonly name: string; readonly vt: boolean };

async function printJson(
  { console }: DaemonCommandWorld,
  place: HeldDirectory,
  { id, name, vt }: Wanted,
): Promise<Exit> {
  const parts = [...tapeParts(place, 0)];
  const bytes = Buffer.concat(parts.flatMap((part) => (part.kind === "bytes" ? [part.bytes] : [])));
  const lines: string[] = [];
  const missing = await plainLines(place, (line) => void lines.push(line));
  const text = vt ? bytes.toString() : lines.map((line) => `${line}\n`).join("");
  const first = parts.find((part) => part.kind === "bytes");
  const from = first?.kind === "bytes" ? first.offset : 0;
  const value = { id, name, from, to: from + bytes.length, missing, text };
  await console.out.write(`${visibleLine(JSON.stringify(value))}\n`);
  return ok(EXIT.ok);
}

export const historyCommand = withDaemonWorld(history);
