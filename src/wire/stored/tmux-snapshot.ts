// A tmux session's checkpoint, given its type again. One that is whole (its hash says so) but not of this shape is not used.
import { isLayout, type TmuxPane, type TmuxSnapshot, type TmuxWindow } from "../../core/tmux/snapshot.ts";
import { isObject } from "../lines.ts";

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown): boolean => typeof value === "string";
const isYesNo = (value: unknown): boolean => typeof value === "boolean";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

export function parseSnapshot(value: unknown): TmuxSnapshot | undefined {
  if (!isObject(value) || !isText(value["name"]) || !isTexts(value["leftOut"])) return undefined;
  const { environment, windows } = value;
  if (!isObject(environment) || !Object.values(environment).every(isText)) return undefined;
  if (!Array.isArray(windows) || windows.length === 0 || !windows.every(isWindow)) return undefined;
  return value as TmuxSnapshot;
}

function isWindow(value: unknown): value is TmuxWindow {
  if (!isObject(value)) return false;
  const { index, name, layout, size, panes } = value;
  const flags: (keyof TmuxWindow)[] = ["automatic", "active", "last", "zoomed"];
  if (!isCount(index) || !isText(name) || !flags.every((flag) => isYesNo(value[flag]))) return false;
  if (typeof layout !== "string" || !isLayout(layout)) return false;
  if (!isObject(size) || !isCount(size["cols"]) || !isCount(size["rows"])) return false;
  return Array.isArray(panes) && panes.length > 0 && panes.every((pane) => isObject(pane) && isPane(pane));
}

function isPane(pane: Fields): boolean {
  const texts: (keyof TmuxPane)[] = ["title", "directory", "scrollback"];
  return texts.every((field) => isText(pane[field])) && isYesNo(pane["active"]) && isTexts(pane["command"]);
}
