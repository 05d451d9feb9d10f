// A terminal in the page: its holder's output on a screen, and what is typed. It survives lost connections.
// TS1. Input is typed once and in order, whatever is killed in between: the writer and its numbers live here, in the
//      page (wire/holder/client.ts, L1). What is typed before the first connection waits for it. What the holder
//      refuses is reported.
// TS2. The first picture is exact if the host knows one; else it is the end of the tape, made harmless (vt/replay.ts),
//      and the program is asked to draw again.
// TS3. The screen always has the terminal's own size. Our window's size is a wish, which the holder weighs with those
//      of others; a session that only watches has none.
// TS4. What the program asks its terminal is answered by one window: the others do not get the question.
// TS5. Only an exit ends a session; after everything else it connects again, where it was.
import { backoffMs } from "../../base/backoff.ts";
import type { Refusal } from "../../base/result.ts";
import { type AttachView, type ScreenSnapshot, SOFT_RESET } from "../../core/terminal/screen.ts";
import { Replay, WithoutQueries } from "../../vt/replay.ts";
import { GONE, HolderClient } from "../../wire/holder/client.ts";
import type { HolderWireEvents } from "../../wire/holder/framed-connection.ts";
import type { HolderExit, HolderSize, HolderStatus } from "../../wire/holder/protocol.ts";
import type { PageClient } from "../../wire/page/client.ts";
import { TerminalStream } from "./stream.ts";

/** Where the output is shown. Both keep their order: a new size applies to what is written after it. */
export type Screen = {
  write(bytes: Uint8Array, parsed: () => void): void;
  resize(size: HolderSize): void;
  readonly isAlternate: boolean;
};

export type SessionState =
  | { readonly kind: "connecting"; readonly why: string }
  | { readonly kind: "attached" }
  | { readonly kind: "ended"; readonly exit: HolderExit };

export type SessionPorts = {
  readonly open: PageClient["open"];
  readonly call: PageClient["call"];
  after(ms: number, fn: () => void): () => void;
  chance(): number;
  /** Something that was typed did not reach the program. */
  refused(refusal: Refusal): void;
};

export type SessionWish = {
  readonly terminal: string;
  /** Unique, and the same for the life of the session (TS1). */
  readonly writer: string;
  /** It only watches. */
  readonly readOnly: boolean;
};

/** What is shown if the host knows no picture: some screens of history. */
const REPLAY_BYTES = 256 << 10;
/** A holder that is just being restarted is back within a second. */
const AGAIN = { firstMs: 150, mostMs: 1_000, jitter: 0.2 };
/** A program draws again when its size changes; two changes at once may look like none. */
const JIGGLE_MS = 40;
/** TS1. More than anybody types while waiting for a picture. */
const MAX_EARLY = 1_000;
const CLEAR = "\u001b[H\u001b[2J";

export class TerminalSession {
  readonly #ports: SessionPorts;
  readonly #wish: SessionWish;
  readonly #screen: Screen;
  readonly #tell: (state: SessionState) => void;
  #client: HolderClient | undefined;
  #stream: TerminalStream | undefined;
  #view: AttachView | undefined;
  #replay: Replay | undefined;
  /** What came, or was typed, before the replay could begin. */
  #early: (() => void)[] = [];
  #size: HolderSize | undefined;
  /** While another window answers (TS4). */
  #silent: WithoutQueries | undefined;
  #failures = 0;
  /** Why the last stream was closed, in the host's words. */
  #why = "";
  #isBusy = false;
  #isOver = false;
  #cancel: () => void = () => undefined;

  constructor(ports: SessionPorts, wish: SessionWish, screen: Screen, tell: (state: SessionState) => void) {
    this.#ports = ports;
    this.#wish = wish;
    this.#screen = screen;
    this.#tell = tell;
  }

  /** Connects, or tries again at once. */
  open(): void {
    this.#cancel();
    if (!this.#isOver && !this.#isBusy && this.#client?.connected !== true) void this.#connect();
  }

  /** The window's size, as far as we have a say. */
  resize(size: HolderSize): void {
    if (this.#wish.readOnly || (size.cols === this.#size?.cols && size.rows === this.#size.rows)) return;
    this.#size = size;
    this.#client?.resize(size);
  }

  /** TS1 */
  input(bytes: Uint8Array): void {
    if (this.#wish.readOnly || this.#isOver) return;
    if (this.#replay !== undefined) void this.#type(bytes);
    else if (this.#early.length < MAX_EARLY) this.#early.push(() => this.input(bytes));
    else this.#ports.refused(GONE);
  }

  async #type(bytes: Uint8Array): Promise<void> {
    const taken = await this.#client?.input(bytes);
    if (taken?.ok === false && !this.#isOver) this.#ports.refused(taken.error);
  }

  close(): void {
    this.#isOver = true;
    this.#cancel();
    this.#client?.close();
    this.#stream?.end();
  }

  async #connect(): Promise<void> {
    this.#isBusy = true;
    this.#client ??= await this.#firstLook();
    const welcome = await this.#client?.connect();
    this.#isBusy = false;
    if (this.#isOver) return this.close();
    if (welcome?.ok === true) this.#joined(welcome.value);
    else this.#again();
  }

  /** TS5 */
  #again(): void {
    if (this.#isOver) return;
    this.#failures += 1;
    this.#tell({ kind: "connecting", why: this.#why });
    this.#cancel = this.#ports.after(backoffMs(this.#failures, this.#ports.chance(), AGAIN), () => this.open());
  }

  /** TS2. The size is asked for first: a picture is exact for one size only. */
  async #firstLook(): Promise<HolderClient | undefined> {
    const { terminal, writer, readOnly } = this.#wish;
    const look = new HolderClient(this.#dial, { token: "", writer: `${writer}-look`, readOnly: true });
    const status = await look.connect();
    look.close();
    if (!status.ok) return undefined;
    const { size, tape } = status.value;
    const view = await this.#ports.call("web.screen", { terminal, ...size });
    this.#view = view.ok ? view.value : { from: Math.max(0, tape.end - REPLAY_BYTES), exact: false };
    this.#screen.resize(size); // TS3
    const events = {
      output: (offset: number, bytes: Uint8Array) => this.#inOrder(() => this.#replay?.push(offset, bytes)),
      resync: () => this.#inOrder(() => this.#resync()),
      answers: (answers: boolean) => this.#inOrder(() => this.#letAnswer(answers)),
      size: (at: HolderSize) => this.#inOrder(() => this.#screen.resize(at)),
      ended: (exit: HolderExit) => this.#inOrder(() => this.#ended(exit)),
      lost: () => this.#again(),
    };
    return new HolderClient(this.#dial, { token: "", writer, readOnly, from: this.#view.from }, events);
  }

  readonly #dial = async (events: HolderWireEvents): Promise<TerminalStream> => {
    const stream = new TerminalStream(this.#ports.open, this.#wish.terminal, {
      ...events,
      ended: ({ exit, why }) => {
        this.#why = why?.message ?? "";
        if (exit !== null) this.#ended(exit);
      },
    });
    this.#stream = stream;
    if (!stream.isOpen) events.closed();
    return stream;
  };

  /** Output may arrive together with the welcome, before we have seen that. */
  #inOrder(work: () => void): void {
    if (this.#replay === undefined) this.#early.push(work);
    else work();
  }

  #joined(status: HolderStatus): void {
    this.#failures = 0;
    this.#letAnswer(true); // As every window that has just attached.
    this.#tell({ kind: "attached" });
    if (this.#replay === undefined) this.#begin(status);
    else if (this.#size !== undefined) this.#client?.resize(this.#size); // It may have changed while we were away.
  }

  /** TS2 */
  #begin({ tape, size }: HolderStatus): void {
    const { from, screen, exact } = this.#view ?? { from: 0, exact: false };
    const replay = new Replay(tape.end, (bytes) => this.#draw(bytes));
    if (from > 0) replay.cut();
    if (screen !== undefined) replay.over({ offset: screen.offset, text: (behind) => pictureOf(screen, behind) });
    this.#replay = replay;
    for (const work of this.#early.splice(0)) work();
    if (from >= tape.end) replay.finish();
    if (this.#wish.readOnly || this.#size === undefined) return;
    this.#client?.resize(this.#size);
    if (this.#size.cols !== size.cols || this.#size.rows !== size.rows) return; // The new size makes it draw.
    if (!exact && (from > 0 || this.#screen.isAlternate)) this.#ports.after(JIGGLE_MS, () => this.#jiggle());
  }

  #jiggle(): void {
    const size = this.#size;
    if (this.#wish.readOnly || size === undefined || size.rows < 2) return;
    this.#client?.resize({ ...size, rows: size.rows - 1 });
    this.#ports.after(JIGGLE_MS, () => this.#client?.resize(this.#size ?? size));
  }

  /** Some output was left out for us. */
  #resync(): void {
    this.#replay?.lacks();
    this.#draw(new TextEncoder().encode(CLEAR));
    this.#jiggle();
  }

  /** TS4 */
  #letAnswer(answers: boolean): void {
    const silent = this.#silent;
    this.#silent = answers ? undefined : (silent ?? new WithoutQueries());
    if (answers && silent !== undefined) this.#draw(silent.end());
  }

  #draw(bytes: Uint8Array): void {
    this.#screen.write(this.#silent?.push(bytes) ?? bytes, this.#stream?.parsing() ?? (() => undefined));
  }

  #ended(exit: HolderExit): void {
    if (this.#isOver) return;
    this.#replay?.finish();
    this.#isOver = true;
    this.#cancel();
    this.#tell({ kind: "ended", exit });
  }
}

/** The screen, in place of what the history has left of it. */
function pictureOf({ vt, behind = 0 }: ScreenSnapshot, hasHistory: boolean): string {
  return `${SOFT_RESET}${CLEAR}${hasHistory ? vt.slice(behind) : vt}`;
}
