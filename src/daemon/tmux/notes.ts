// What a re-created tmux session lacks: `tmux/<id>/notes.json`.
// N1. Written before the call that makes the session whole. So the notes are there if the session is, even if the
//     daemon died, or did not hear the answer, before it could record them in the log.
// N2. A file that cannot be read does not keep a session from being back: it is then back without notes.
import { joinPath } from "../../base/path.ts";
import { readJson, writeJson } from "../../log/file/json-file.ts";
import { parseTmuxNotes } from "../../wire/stored/tmux-notes.ts";
import { type SaverWorld, tmuxDirectory } from "./saver.ts";

type NotesWorld = Pick<SaverWorld, "disk" | "home">;

export async function writeNotes({ disk, home }: NotesWorld, id: string, notes: readonly string[]): Promise<void> {
  await writeJson(disk, pathOf(home, id), { notes });
}

/** Those of the last attempt that came as far as its last call; empty if there are none. */
export function readNotes({ disk, home }: NotesWorld, id: string): readonly string[] {
  return parseTmuxNotes(readJson(disk, pathOf(home, id))) ?? []; // N2
}

function pathOf(home: string, id: string): string {
  return joinPath(tmuxDirectory(home, id), "notes.json");
}
