// xterm as the screen of a session. It is loaded when the first terminal is shown.
import type { ITerminalOptions, Terminal } from "@xterm/xterm";
import { newId, shortId } from "../../base/ids.ts";
import type { Refusal } from "../../base/result.ts";
import { after, chance, randomBytes } from "../browser.ts";
import { call, openStream } from "../state/session.ts";
import { tell as say } from "../state/toasts.ts";
import { type Screen, type SessionState, TerminalSession } from "./terminal-session.ts";
import { theme } from "./theme.ts";
import { WIDTHS } from "./widths.ts";

export const FONT = 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';

export async function newTerminal(options: ITerminalOptions): Promise<Terminal> {
  const { Terminal: Xterm } = await import("@xterm/xterm");
  const terminal = new Xterm({ allowProposedApi: true, theme: theme.value, fontFamily: FONT, ...options });
  terminal.unicode.register(WIDTHS);
  terminal.unicode.activeVersion = WIDTHS.version;
  return terminal;
}

/** Xterm looks at the clock only between two pieces, and lets the browser do other things after 12 ms. */
const PIECE_LENGTH = 1 << 10;

/** Xterm's own decoder loses a character that is cut after a byte 0x80; the browser's waits for the rest. */
function screenOf(terminal: Terminal): Screen {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return {
    write: (bytes, parsed) => {
      const text = decoder.decode(bytes, { stream: true });
      const last = Math.max(0, text.length - PIECE_LENGTH);
      for (let at = 0; at < last; at += PIECE_LENGTH) terminal.write(text.slice(at, Math.min(last, at + PIECE_LENGTH)));
      terminal.write(text.slice(last), parsed);
    },
    // Behind what is written already, which was made for the size before.
    resize: ({ cols, rows }) => terminal.write("", () => terminal.resize(cols, rows)),
    get isAlternate() {
      return terminal.buffer.active.type === "alternate";
    },
  };
}

export function newSession(
  terminal: Terminal,
  wish: { readonly id: string; readonly readOnly: boolean },
  tell: (state: SessionState) => void,
): TerminalSession {
  const writer = `page-${shortId(newId(randomBytes(16)))}-${newId(randomBytes(16))}`;
  const refused = (refusal: Refusal) => say(refusal.message, refusal);
  const ports = { open: openStream, call, after, chance, refused };
  return new TerminalSession(ports, { terminal: wish.id, writer, readOnly: wish.readOnly }, screenOf(terminal), tell);
}
