// The screens of a machine drill: what every terminal showed at the crash, and what is left of that afterwards.
// SS1. Before: the whole tape after everything was killed, through an emulator that uses nothing else.
// SS2. After: the last checkpoint's snapshot and the tape from there to the end of the old screen, as Holdfast does it.
// SS3. Two screens are equal if every cell, the cursor, the modes and the title are.

import { joinPath } from "../../base/path.ts";
import { CHECKPOINT_VERSION, readSessions } from "../../core/terminal/checkpoint.ts";
import type { ScreenCells, ScreenSnapshot } from "../../core/terminal/screen.ts";
import { readSpec, tapeDirectory, terminalFiles } from "../../home/held/holder-files.ts";
import { firstUsable } from "../../log/checkpoint/load.ts";
import { TapeReader } from "../../log/tape/reader.ts";
import type { Site } from "../site.ts";
import type { Look, ScreenEye } from "./screen-eye.ts";

/** As in the daemon's checkpoint writer. */
const CHECKPOINT = { kind: "terminals", version: CHECKPOINT_VERSION, fold: 1 };
const FILES = ["recovery/checkpoint.json", "recovery/checkpoint.backup.json"];

export type Shot = {
  readonly end: number;
  readonly cells: ScreenCells | undefined;
  /** Its snapshot in the existing checkpoint. */
  readonly from: ScreenSnapshot | undefined;
};

/** The snapshots in the existing checkpoint, by terminal. */
export function savedScreens({ world, home }: Site): ReadonlyMap<string, ScreenSnapshot> {
  const paths = FILES.map((file) => joinPath(home, file));
  const loaded = firstUsable(world.disk, paths, CHECKPOINT);
  if (loaded.kind !== "loaded") return new Map();
  const { sessions } = readSessions(loaded.checkpoint.body);
  return new Map(
    sessions.flatMap(({ terminalId, screen, scrollbackSnapshot }) =>
      screen === null ? [] : [[terminalId, { ...screen, vt: scrollbackSnapshot }]],
    ),
  );
}

/** SS1 */
export async function shoot(site: Site, eye: ScreenEye, ids: readonly string[]): Promise<ReadonlyMap<string, Shot>> {
  const saved = savedScreens(site);
  const shots = new Map<string, Shot>();
  for (const id of ids) {
    const end = tapeEnd(site, id);
    shots.set(id, { end, cells: await seen(eye, lookAt(site, id, end)), from: saved.get(id) });
  }
  return shots;
}

/** SS2, SS3. `boundary`: where the old screen ends now. */
export async function isEqual(site: Site, eye: ScreenEye, id: string, shot: Shot, boundary: number): Promise<boolean> {
  const usable = shot.from !== undefined && shot.from.offset <= boundary ? { from: shot.from } : {};
  const now = await seen(eye, { ...lookAt(site, id, boundary), ...usable });
  return now !== undefined && shot.cells !== undefined && comparable(now) === comparable(shot.cells);
}

function comparable({ behind: _, ...seen }: ScreenCells): string {
  return JSON.stringify(seen);
}

async function seen(eye: ScreenEye, look: Look): Promise<ScreenCells | undefined> {
  const cells = await eye.cells(look);
  return cells.ok ? cells.value : undefined;
}

function lookAt({ world, home }: Site, id: string, until: number): Look {
  const place = terminalFiles(world.disk, home, id);
  return { directory: place.directory, size: readSpec(place)?.size ?? { cols: 80, rows: 24 }, until };
}

export function tapeEnd({ world, home }: Site, id: string): number {
  return new TapeReader(world.disk, tapeDirectory(terminalFiles(world.disk, home, id))).end;
}

/** A terminal's output from an offset on. */
export function tapeText({ world, home }: Site, id: string, from: number): string {
  const read = new TapeReader(world.disk, tapeDirectory(terminalFiles(world.disk, home, id))).read(from, 1 << 20);
  return read.kind === "bytes" ? Buffer.from(read.bytes).toString("utf8") : "";
}
