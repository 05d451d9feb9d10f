// The file with what a re-created tmux session lacks, given its type again.
import { fitting } from "../check.ts";
import { list, object, text } from "../shape.ts";

const NOTES = object({ notes: list(text) });

/** Undefined if the value has another shape. */
export function parseTmuxNotes(value: unknown): readonly string[] | undefined {
  return fitting(NOTES, value)?.notes;
}
