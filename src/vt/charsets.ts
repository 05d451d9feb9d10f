// Names of the emulator's character sets, which it distinguishes by identity alone: each is selected once by its name.
import { type Charset, Xterm } from "../world/xterm.ts";

const NAMES = ["0", "A", "4", "C", "R", "Q", "K", "Y", "E", "Z", "H", "="];
const ASCII = "B";
let known: ReadonlyMap<Charset, string> | undefined;

export function charsetName(charset: Charset): string {
  known ??= learn();
  return charset === undefined ? ASCII : (known.get(charset) ?? ASCII);
}

function learn(): Map<Charset, string> {
  const xterm = new Xterm({ cols: 2, rows: 1 }, 0);
  const found = new Map<Charset, string>();
  for (const name of NAMES) {
    xterm.write(`\u001b(${name}`);
    found.set(xterm.charsets.active, name);
  }
  xterm.dispose();
  return found;
}
