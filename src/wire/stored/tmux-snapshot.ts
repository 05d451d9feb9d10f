// A tmux session's checkpoint, given its type again. One that is undamaged (its hash matches) but of another shape is
// not used.
import { isLayout, type TmuxPane, type TmuxSnapshot, type TmuxWindow } from "../../core/tmux/snapshot.ts";
import { fitting } from "../check.ts";
import { count, flag, list, object, type Shape, table, text, textOf } from "../shape.ts";

const PANE: Shape<TmuxPane> = object({
  title: text,
  directory: text,
  active: flag,
  command: list(text),
  scrollback: text,
});

const WINDOW: Shape<TmuxWindow> = object({
  index: count,
  name: text,
  automatic: flag,
  layout: textOf({ is: isLayout }),
  size: object({ cols: count, rows: count }),
  active: flag,
  last: flag,
  zoomed: flag,
  panes: list(PANE, 1),
});

const SNAPSHOT: Shape<TmuxSnapshot> = object({
  name: text,
  environment: table(text),
  leftOut: list(text),
  windows: list(WINDOW, 1),
});

export function parseSnapshot(value: unknown): TmuxSnapshot | undefined {
  return fitting(SNAPSHOT, value);
}
