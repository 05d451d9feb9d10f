// Access to a foreign terminal emulator, @xterm/headless, including internals that its public API does not show: scroll
// region, saved cursors, character sets, tab stops, titles, and the state of its parser. The version is pinned; a test
// compares these shapes with it.
// X1. Bytes are parsed synchronously. Characters must be whole: the emulator's own decoder loses those that are cut in
//     two.
// X2. It neither replies nor prints by itself: the terminal in front of a person replies to what programs ask of their
//     terminal. If there is none, `replyTo` is asked.
// X3. A count in a sequence is at most what the screen can show of it: the emulator would count to two billion.
import { type IParser, Terminal } from "@xterm/headless";
import type { Size } from "./children.ts";
import { WIDTHS } from "./widths.ts";

/** The attributes of a cell or the pen: colours and flags in two words, the rest beside them if BG_EXTENDED is set. */
export type Attributes = { readonly fg: number; readonly bg: number; readonly extended: ExtendedAttributes };
export type ExtendedAttributes = { readonly _ext: number; readonly urlId: number };

export interface BufferLine {
  readonly length: number;
  readonly isWrapped: boolean;
  getString(x: number): string;
  getWidth(x: number): number;
  getFg(x: number): number;
  getBg(x: number): number;
  hasContent(x: number): number;
  readonly _extendedAttrs: Readonly<Record<number, ExtendedAttributes | undefined>>;
  /** Three words for each cell: content, fg (`getFg`) and bg (`getBg`). */
  readonly _data: Uint32Array;
}

/** Distinguished by identity alone; undefined is plain ASCII. */
export type Charset = object | undefined;

export interface ScreenBuffer {
  readonly lines: { readonly length: number; get(index: number): BufferLine | undefined };
  /** How many lines are above the visible ones. */
  readonly ybase: number;
  readonly x: number;
  readonly y: number;
  readonly scrollTop: number;
  readonly scrollBottom: number;
  readonly tabs: Readonly<Record<number, boolean | undefined>>;
  readonly savedX: number;
  /** Counted from the very first line, not from the first visible one. */
  readonly savedY: number;
  readonly savedCurAttrData: Attributes;
  readonly savedCharset: Charset;
}

type PrivateModes = {
  readonly applicationCursorKeys: boolean;
  readonly applicationKeypad: boolean;
  readonly bracketedPasteMode: boolean;
  readonly cursorBlink: boolean | undefined;
  readonly cursorStyle: "block" | "underline" | "bar" | undefined;
  readonly origin: boolean;
  readonly reverseWraparound: boolean;
  readonly sendFocus: boolean;
  readonly synchronizedOutput: boolean;
  readonly wraparound: boolean;
};

type Link = { readonly id?: string; readonly uri: string };

/** What repeats something as often as a program says. */
type Counting =
  | "insertLines"
  | "deleteLines"
  | "scrollUp"
  | "scrollDown"
  | "cursorForwardTab"
  | "cursorBackwardTab"
  | "repeatPrecedingCharacter";
type Count = { readonly params: readonly number[] };

type Core = {
  readonly _inputHandler: { [K in Counting]: (params: Count) => boolean } & {
    parse(bytes: Uint8Array | string): void;
    eraseInDisplay(params: Count): boolean;
    eraseInLine(params: Count): boolean;
    readonly _curAttrData: Attributes;
    readonly _windowTitle: string;
    readonly _iconName: string;
    readonly _windowTitleStack: readonly string[];
    readonly _iconNameStack: readonly string[];
    readonly _parser: {
      readonly currentState: number;
      readonly precedingJoinState: number;
      readonly _transitions: { readonly table: ArrayLike<number> };
    };
  };
  readonly _bufferService: {
    readonly buffers: { readonly normal: ScreenBuffer; readonly alt: ScreenBuffer; readonly active: ScreenBuffer };
  };
  readonly _charsetService: {
    readonly charset: Charset;
    readonly glevel: number;
    readonly _charsets: readonly Charset[];
  };
  readonly coreService: {
    readonly isCursorHidden: boolean;
    readonly modes: { readonly insertMode: boolean };
    readonly decPrivateModes: PrivateModes;
  };
  readonly coreMouseService: { readonly activeProtocol: string; readonly activeEncoding: string };
  readonly _oscLinkService: { getLinkData(id: number): Link | undefined };
  readonly optionsService: { readonly rawOptions: { readonly convertEol: boolean; readonly cursorBlink: boolean } };
};

export class Xterm {
  readonly parser: IParser;
  readonly #terminal: Terminal;
  readonly #core: Core;

  constructor(size: Size, scrollback: number) {
    const windowOptions = { pushTitle: true, popTitle: true };
    // X2
    this.#terminal = new Terminal({ ...size, scrollback, windowOptions, allowProposedApi: true, logLevel: "off" });
    this.#terminal.unicode.register(WIDTHS);
    this.#terminal.unicode.activeVersion = WIDTHS.version;
    this.parser = this.#terminal.parser;
    this.#core = (this.#terminal as unknown as { readonly _core: Core })._core;
    this.parser.registerCsiHandler({ final: "J" }, ([what]) => what === 1 && this.#eraseAbove());
    this.#bound("L", "insertLines", () => this.rows);
    this.#bound("M", "deleteLines", () => this.rows);
    this.#bound("S", "scrollUp", () => this.rows);
    this.#bound("T", "scrollDown", () => this.rows);
    this.#bound("I", "cursorForwardTab", () => this.cols);
    this.#bound("Z", "cursorBackwardTab", () => this.cols);
    this.#bound("b", "repeatPrecedingCharacter", () => this.cols * this.rows);
  }

  /** X3 */
  #bound(final: string, method: Counting, most: () => number): void {
    this.parser.registerCsiHandler({ final }, ([count]) => {
      if (typeof count !== "number" || count <= most()) return false;
      return this.#core._inputHandler[method]({ params: [most()] });
    });
  }

  get cols(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  get normal(): ScreenBuffer {
    return this.#core._bufferService.buffers.normal;
  }

  get alternate(): ScreenBuffer {
    return this.#core._bufferService.buffers.alt;
  }

  get active(): ScreenBuffer {
    return this.#core._bufferService.buffers.active;
  }

  get pen(): Attributes {
    return this.#core._inputHandler._curAttrData;
  }

  get titles() {
    const { _windowTitle, _iconName, _windowTitleStack, _iconNameStack } = this.#core._inputHandler;
    return { title: _windowTitle, icon: _iconName, titles: _windowTitleStack, icons: _iconNameStack };
  }

  get charsets() {
    const { charset, glevel, _charsets } = this.#core._charsetService;
    return { active: charset, level: glevel, sets: _charsets };
  }

  get modes() {
    const { coreService, coreMouseService, optionsService } = this.#core;
    return {
      ...coreService.decPrivateModes,
      hidden: coreService.isCursorHidden,
      insert: coreService.modes.insertMode,
      newLine: optionsService.rawOptions.convertEol,
      blink: optionsService.rawOptions.cursorBlink,
      mouse: coreMouseService.activeProtocol,
      mouseEncoding: coreMouseService.activeEncoding,
    };
  }

  /** Whether the last thing was a printed character: the next one may join or repeat it. */
  get printedLast(): boolean {
    return this.#core._inputHandler._parser.precedingJoinState !== 0;
  }

  /** The parser's own table: what follows from a state and a character. */
  get transitions(): ArrayLike<number> {
    return this.#core._inputHandler._parser._transitions.table;
  }

  get parserState(): number {
    return this.#core._inputHandler._parser.currentState;
  }

  link(id: number): Link | undefined {
    return this.#core._oscLinkService.getLinkData(id);
  }

  /** X1 */
  write(bytes: Uint8Array | string): void {
    this.#core._inputHandler.parse(bytes);
  }

  /** What a terminal with this screen says to a query; empty if the emulator does not know it. */
  replyTo(query: string): string {
    let reply = "";
    const heard = this.#terminal.onData((text) => {
      reply += text;
    });
    this.write(query);
    heard.dispose();
    return reply;
  }

  resize({ cols, rows }: Size): void {
    this.#terminal.resize(cols, rows);
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  /**
   * The emulator throws if everything up to the last column of the last line is erased, because it looks at the line
   * below. Returns true if we erased it here instead.
   */
  #eraseAbove(): boolean {
    const buffer = this.active as { x: number } & ScreenBuffer;
    const { x, y } = buffer;
    if (x + 1 < this.cols || buffer.lines.get(y + 1) !== undefined) return false;
    this.#core._inputHandler.eraseInLine({ params: [2] });
    buffer.x = 0;
    this.#core._inputHandler.eraseInDisplay({ params: [1] });
    buffer.x = x;
    return true;
  }
}
