// Asks a person at a terminal to choose one of several terminals: arrows and Enter, or a number.
// PK1. The window is used as it is: some lines below the cursor, which are erased when a choice was made.
// PK2. No more lines are drawn than the window has; the list is moved so that the marked one is visible.
import type { Size } from "../../world/children.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { fit } from "../print.ts";

const ESC = "\u001b";

/** What a key does to the choice: marks another, makes it, or gives up. */
export type PickerKey =
  | { readonly kind: "mark"; readonly at: number }
  | { readonly kind: "take"; readonly at: number }
  | { readonly kind: "none" };

const UP = [`${ESC}[A`, `${ESC}OA`, "k", "\u0010"];
const DOWN = [`${ESC}[B`, `${ESC}OB`, "j", "\u000e", "\t"];
const TAKE = ["\r", "\n"];
/** Escape, q, Ctrl-C, Ctrl-D and Ctrl-\\. */
const NONE = [ESC, "q", "\u0003", "\u0004", "\u001c"];

/** An arrow, or a character: several may come at once. */
const KEY = new RegExp(`${ESC}[[O][A-D]|.`, "gsu");

/** Returns undefined for a key without a meaning. */
export function pickerKey(typed: string, at: number, count: number): PickerKey | undefined {
  if (UP.includes(typed)) return { kind: "mark", at: (at + count - 1) % count };
  if (DOWN.includes(typed)) return { kind: "mark", at: (at + 1) % count };
  if (TAKE.includes(typed)) return { kind: "take", at };
  if (NONE.includes(typed)) return { kind: "none" };
  const number = /^[1-9]$/.test(typed) ? Number(typed) : 0;
  return number >= 1 && number <= count ? { kind: "take", at: number - 1 } : undefined;
}

/** Which of the lines are drawn (PK2). */
export function visibleFrom(at: number, count: number, room: number): number {
  return Math.max(0, Math.min(at - Math.floor(room / 2), count - room));
}

/** The number of the line that was chosen; undefined if none was. */
export async function choose(
  world: DaemonCommandWorld,
  title: string,
  lines: readonly string[],
  first: number,
): Promise<number | undefined> {
  const { terminal } = world;
  const choice = Promise.withResolvers<number | undefined>();
  let at = first;
  let drawing = Promise.resolve();
  const draw = (text: string) => {
    drawing = drawing.then(() => terminal.write(Buffer.from(text)));
    drawing.catch(choice.reject);
  };
  const show = () => draw(drawn(title, lines, at, terminal.size(), world.console.widthOf));
  const press = (pressed: string) => {
    const key = pickerKey(pressed, at, lines.length);
    if (key?.kind === "mark") at = key.at;
    if (key?.kind === "mark") show();
    else if (key !== undefined) choice.resolve(key.kind === "take" ? key.at : undefined);
  };
  const typed = (bytes: Uint8Array) => {
    for (const [key] of Buffer.from(bytes).toString().matchAll(KEY)) press(key);
  };
  const giveBack = terminal.take(
    { typed, resized: show, told: () => choice.resolve(undefined) },
    () => `${ESC}[J${ESC}[?25h`,
  );
  draw(`${ESC}[?25l`);
  show();
  try {
    return await choice.promise;
  } finally {
    await drawing;
    giveBack(); // PK1
  }
}

/** The list, with the cursor back at its first line. */
function drawn(
  title: string,
  lines: readonly string[],
  at: number,
  { cols, rows }: Size,
  widthOf: (text: string) => number,
): string {
  const room = Math.max(1, Math.min(lines.length, rows - 2)); // PK2
  const from = visibleFrom(at, lines.length, room);
  const shown = lines.slice(from, from + room).map((line, index) => {
    const text = fit(`${String(from + index + 1).padStart(3)}  ${line}`, cols - 1, widthOf);
    return from + index === at ? `${ESC}[7m${text}${ESC}[0m` : text;
  });
  const all = [fit(title, cols - 1, widthOf), ...shown];
  return `${all.map((line) => `\r${ESC}[K${line}`).join("\r\n")}\r${ESC}[${all.length - 1}A`;
}
