// Sessions to compare screens on: real programs as they were recorded (record.ts), and a coding agent's screen as such
// programs draw it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Session = {
  readonly name: string;
  readonly cols: number;
  readonly rows: number;
  /** Offsets at which the program waited for input. */
  readonly stations: readonly number[];
  readonly bytes: Buffer;
};

const DIRECTORY = join(import.meta.dir, "recordings");
const NEWLINE = 10;

export function recordedSessions(): Session[] {
  return readdirSync(DIRECTORY)
    .sort()
    .map((file) => {
      const all = readFileSync(join(DIRECTORY, file));
      const head = all.indexOf(NEWLINE);
      const facts: Omit<Session, "name" | "bytes"> = JSON.parse(all.toString("utf8", 0, head));
      return { name: file.replace(".vt", ""), ...facts, bytes: all.subarray(head + 1) };
    });
}

const ESC = "\u001b";
const COLS = 80;
const orange = `${ESC}[38;2;215;119;87m`;
const dim = `${ESC}[2m`;
const off = `${ESC}[0m`;

/** A frame with a prompt below: redrawn in place, in one write, with the cursor hidden. */
function frame(spinner: string, typed: string, previous: number): string {
  const bar = "─".repeat(COLS - 2);
  const lines = [
    `${orange}${spinner} Pondering…${off} ${dim}(esc to interrupt · ↑ 1.2k tokens)${off}`,
    `${ESC}[38;5;244m╭${bar}╮${off}`,
    `${ESC}[38;5;244m│${off} > ${typed}${ESC}[7m ${off}`,
    `${ESC}[38;5;244m╰${bar}╯${off}`,
    `  ${ESC}[48;5;237m${ESC}[1m accept edits on ${off} ${dim}(shift+tab to cycle)${off}`,
  ];
  const up = previous === 0 ? "" : `${`${ESC}[2K${ESC}[1A`.repeat(previous - 1)}${ESC}[2K${ESC}[G`;
  return `${ESC}[?2026h${up}${lines.join("\r\n")}${ESC}[?2026l`;
}

export function agentSession(): Session {
  const parts = [
    `${ESC}[?2004h${ESC}[?1004h${ESC}[?25l${ESC}[>1u${ESC}[>4;2m${ESC}]0;✳ Fix the tests${ESC}\\`,
    `${orange}✻${off} ${ESC}[1mWelcome${off} to the agent — 你好, café, e\u0301tude\r\n\r\n`,
    frame("✻", "", 0),
    ...["f", "fix", "fix 漢字", "fix 漢字 and the rest of it"].map((typed, n) => frame("✶✳✻✽"[n] ?? "✻", typed, 5)),
    `${`${ESC}[2K${ESC}[1A`.repeat(4)}${ESC}[2K${ESC}[G`,
    `${ESC}[38;2;78;186;101m⏺${off} ${ESC}[1mBash${off}(npm test)\r\n  ⎿  ${ESC}[31m✗ 3 failed${off}, ${ESC}[32m12 passed${off}\r\n`,
    `${ESC}[48;2;34;92;43m${ESC}[38;2;255;255;255m + const a = "added";${ESC}[K${off}\r\n${ESC}[48;2;122;41;54m - const a = 1;${ESC}[K${off}\r\n`,
    ...Array.from({ length: 14 }, (_, n) => `${dim}${n}${off} a line of output that scrolls the others away\r\n`),
    frame("✻", "", 0),
    `${ESC}[?1049h${ESC}[2J${ESC}[H${ESC}[44m a transcript ${off}\r\n\r\n${ESC}[3;10r${ESC}[10;1Hat the bottom\r\nscrolled${ESC}[r`,
    `${ESC}[5;7H${ESC}[?1003h${ESC}[?1006h`,
    `${ESC}[?1003l${ESC}[?1006l${ESC}[?1049l`,
    frame("✽", "and then", 5),
  ].map((text) => Buffer.from(text));
  const stations = parts.map((_, n) => parts.slice(0, n + 1).reduce((sum, part) => sum + part.length, 0));
  return { name: "agent", cols: COLS, rows: 24, stations, bytes: Buffer.concat(parts) };
}
