// A terminal that a person works in: xterm in the document, fitted to its place, with search, links, copy and paste.
// WI1. The screen has the terminal's own size (TS3); a larger one is scrolled to.
// WI2. Only this terminal uses the graphics card. If there is none, or it is lost, xterm draws by itself.
// WI3. A paste with several lines is confirmed first, unless the program marks pastes.
// WI4. One that is only looked at takes no keys and no pastes, and leaves the program's size alone.
import { effect, signal } from "@preact/signals";
import type { FitAddon } from "@xterm/addon-fit";
import type { SearchAddon } from "@xterm/addon-search";
import type { Terminal } from "@xterm/xterm";
import { after, openAddress } from "../browser.ts";
import { whenUp } from "../state/session.ts";
import { tell } from "../state/toasts.ts";
import { newSession, newTerminal } from "./emulator.ts";
import { hasGraphicsCard } from "./graphics-card.ts";
import { linkHandler } from "./links.ts";
import { followSwipes } from "./swipe.ts";
import { askPaste } from "./terminal-forms.tsx";
import type { SessionState, TerminalSession } from "./terminal-session.ts";
import { theme } from "./theme.ts";
import { type TouchKey, textOf, withControl } from "./touch-keys.ts";

export type WindowWish = Parameters<typeof newSession>[1];

export type WindowEvents = {
  state(state: SessionState): void;
  search(): void;
  leave(): void;
  /** The address of the link under the pointer. */
  link(address: string | undefined): void;
};

const OPTIONS = { scrollback: 10_000, fontSize: 13, lineHeight: 1.2, cursorBlink: false, macOptionIsMeta: true };
/** A window is dragged through many sizes; the program gets those where it rests. */
const REST_MS = 80;

export class Window {
  readonly #events: WindowEvents;
  readonly #stops: (() => void)[] = [];
  /** Ctrl is held (TK2 of touch-keys.ts). */
  readonly control = signal(false);
  #terminal: Terminal | undefined;
  #session: TerminalSession | undefined;
  #search: SearchAddon | undefined;
  #isClosed = false;
  #isRead = false;

  constructor(place: HTMLElement, wish: WindowWish, events: WindowEvents) {
    this.#events = events;
    void this.#open(place, wish);
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#session?.close();
    this.#terminal?.dispose();
  }

  /** A key of the key bar. */
  press(key: TouchKey): void {
    const terminal = this.#terminal;
    if (terminal === undefined || terminal.options.disableStdin === true) return; // WI4
    const { applicationCursorKeysMode: isApplication } = terminal.modes;
    const text = textOf(key, { ctrl: this.control.value, isApplication });
    this.control.value = false;
    terminal.input(text, true);
    terminal.focus();
  }

  /** For the next character, or not any more. */
  holdControl(): void {
    this.control.value = !this.control.value;
    this.focus();
  }

  focus(): void {
    this.#terminal?.focus();
  }

  /** Xterm keeps a text of its screen for screen readers. */
  setReader(on: boolean): void {
    this.#isRead = on;
    if (this.#terminal !== undefined) this.#terminal.options.screenReaderMode = on;
  }

  /** False if it is nowhere. */
  find(text: string, way: "next" | "previous"): boolean {
    if (text === "") this.#search?.clearDecorations();
    return (way === "next" ? this.#search?.findNext(text) : this.#search?.findPrevious(text)) === true;
  }

  async #open(place: HTMLElement, wish: WindowWish): Promise<void> {
    const [terminal, { FitAddon: Fit }, { SearchAddon: Find }, { WebLinksAddon: Links }] = await Promise.all([
      newTerminal(OPTIONS),
      import("@xterm/addon-fit"),
      import("@xterm/addon-search"),
      import("@xterm/addon-web-links"),
    ]);
    if (this.#isClosed) return terminal.dispose();
    this.#terminal = terminal;
    terminal.options.screenReaderMode = this.#isRead; // It may have been chosen while xterm was loaded.
    const fit = new Fit();
    this.#search = new Find();
    const links = linkHandler({ show: this.#events.link, open: openAddress });
    terminal.options.linkHandler = links;
    for (const addon of [fit, this.#search, new Links(links.activate, links)]) terminal.loadAddon(addon);
    terminal.open(place);
    terminal.textarea?.setAttribute("aria-label", wish.readOnly ? "Terminal, look only" : "Terminal input");
    void this.#accelerate(terminal);
    const session = newSession(terminal, wish, this.#events.state);
    this.#session = session;
    terminal.options.disableStdin = wish.readOnly; // WI4
    this.#listen(terminal, session, place);
    this.#fitTo(place, fit, session);
    this.#stops.push(
      whenUp(() => session.open()),
      effect(() => {
        terminal.options.theme = theme.value;
      }),
    );
    terminal.focus();
  }

  /** WI2 */
  async #accelerate(terminal: Terminal): Promise<void> {
    if (!hasGraphicsCard()) return;
    try {
      const { WebglAddon } = await import("@xterm/addon-webgl");
      if (this.#isClosed) return;
      const addon = new WebglAddon();
      addon.onContextLoss(() => addon.dispose());
      terminal.loadAddon(addon);
    } catch (error) {
      // There are too many contexts already; xterm goes on with elements of the document.
      if (!(error instanceof Error)) throw error;
    }
  }

  #listen(terminal: Terminal, session: TerminalSession, place: HTMLElement): void {
    const typed = new TextEncoder();
    terminal.onData((text) => session.input(typed.encode(this.#controlled(text))));
    terminal.onBinary((text) => session.input(Uint8Array.from(text, (character) => character.charCodeAt(0))));
    terminal.attachCustomKeyEventHandler((event) => this.#passes(event));
    const paste = (event: ClipboardEvent) => {
      event.preventDefault();
      event.stopPropagation();
      this.#paste(event.clipboardData?.getData("text/plain") ?? "");
    };
    place.addEventListener("paste", paste, { capture: true });
    this.#stops.push(() => place.removeEventListener("paste", paste, { capture: true }), followSwipes(place, terminal));
  }

  #controlled(text: string): string {
    if (!this.control.value) return text;
    this.control.value = false;
    return withControl(text);
  }

  /** The page's keys in a terminal; all others are the program's. */
  #passes(event: KeyboardEvent): boolean {
    if (event.isComposing) return true; // It belongs to the input method, which gives the result to xterm.
    if (event.metaKey && ["k", "c", "v"].includes(event.key)) return false;
    if (event.type !== "keydown" || !event.ctrlKey || !event.shiftKey) return true;
    const key = event.key.toLowerCase();
    if (key === "c") this.#copy();
    else if (key === "f") this.#events.search();
    else if (key === "arrowup") this.#events.leave();
    else return key !== "k" && key !== "v";
    event.preventDefault();
    return false;
  }

  #copy(): void {
    const text = this.#terminal?.getSelection() ?? "";
    if (text === "") return;
    navigator.clipboard.writeText(text).then(
      () => tell("Copied."),
      () =>
        tell("The browser did not allow it.", { code: "", message: "", hint: "Copy with the menu of the browser." }),
    );
  }

  /** WI3 */
  #paste(text: string): void {
    const terminal = this.#terminal;
    if (terminal === undefined || terminal.options.disableStdin === true || text === "") return; // WI4
    const paste = () => {
      terminal.paste(text);
      terminal.focus();
    };
    if (!text.includes("\n") || terminal.modes.bracketedPasteMode) paste();
    else askPaste(text, paste);
  }

  #fitTo(place: HTMLElement, fit: FitAddon, session: TerminalSession): void {
    let cancel: () => void = () => undefined;
    const apply = () => {
      const size = fit.proposeDimensions();
      if (size !== undefined && size.cols > 1 && size.rows > 1) session.resize({ cols: size.cols, rows: size.rows });
    };
    const observer = new ResizeObserver(() => {
      cancel();
      cancel = after(REST_MS, apply);
    });
    observer.observe(place);
    apply();
    this.#stops.push(
      () => observer.disconnect(),
      () => cancel(),
    );
  }
}
