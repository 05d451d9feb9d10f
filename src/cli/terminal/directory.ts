// What lies in a terminal's directory, read without asking anybody.

import { joinPath } from "../../base/path.ts";
import { childOf, type Terminal, type TerminalState } from "../../core/terminal/terminal.ts";
import { readWhole } from "../../log/file/file.ts";
import { parseClaim, parseExit, parseSpec } from "../../wire/holder/json.ts";
import type { HolderClaim, HolderExit, HolderSpec } from "../../wire/holder/protocol.ts";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/process.ts";

/** A terminal's directory, on some disk. */
export type TerminalDirectory = { readonly disk: Disk; readonly directory: string };

export function placeOf(disk: Disk, home: string, id: string): TerminalDirectory {
  return { disk, directory: joinPath(home, `terminals/${id}`) };
}

export function tapeDirectory({ directory }: TerminalDirectory): string {
  return joinPath(directory, "tape");
}

export function readSpec(place: TerminalDirectory): HolderSpec | undefined {
  const spec = read(place, "holder.json", parseSpec);
  return spec?.ok === true ? spec.value : undefined;
}

export function readExit(place: TerminalDirectory): HolderExit | undefined {
  return read(place, "exit.json", parseExit);
}

export function readClaim(place: TerminalDirectory): HolderClaim | undefined {
  return read(place, "claim.json", parseClaim);
}

function read<T>({ disk, directory }: TerminalDirectory, name: string, parse: (bytes: Uint8Array) => T): T | undefined {
  const bytes = readWhole(disk, joinPath(directory, name));
  return bytes === undefined ? undefined : parse(bytes);
}

/** The state a terminal is in while no daemon keeps its record: what its holder left behind says more than the log. */
export function stateNow(
  place: TerminalDirectory,
  processes: Processes,
  { state, generation }: Terminal,
): TerminalState {
  if (state.kind === "ended") return state;
  const exit = readExit(place);
  if (exit?.generation === generation) {
    return { kind: "ended", code: exit.code, signal: exit.signal, at: exit.at };
  }
  const claim = readClaim(place);
  if (claim?.generation !== generation || processes.alive(claim)) return state;
  return { kind: "uncertain", reason: "its holder is gone and left no exit", child: childOf(state) };
}
