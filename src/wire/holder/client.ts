// A client of a holder: attaches, types, and receives output. The caller passes in how to connect, and decides when to
// connect again.
// L1. Input is typed once and in order, even if connections are lost in between (pending-inputs.ts).
// L2. Output comes in order, each byte once, across connections too: the next one begins where the last one stopped.
// L3. Every promise settles: with a result or with a refusal.
import { ok, type Refusal, type Result } from "../../base/result.ts";
import { FramedConnection, type HolderDial, type HolderWire } from "./framed-connection.ts";
import type { RawFrame } from "./frames.ts";
import { parseAnswers, parseExit, parseRefusal, parseSizeAt, parseStatus } from "./json.ts";
import { PendingInputs } from "./pending-inputs.ts";
import * as protocol from "./protocol.ts";

/** What a connection is for. `writer` is unique among the clients, and stays the same after a reconnection. */
export type HolderWish = Omit<protocol.Hello, "v">;

export type HolderEvents = {
  output?(offset: number, bytes: Uint8Array): void;
  /** What comes next begins at this offset: something was left out, and the screen should be redrawn. */
  resync?(offset: number): void;
  ended?(exit: protocol.HolderExit): void;
  /** Whether our window is the one that answers what the program asks its terminal; it is, until told otherwise. */
  answers?(answers: boolean): void;
  /** The size of the program's window from an offset on. Holders of older versions do not send it. */
  size?(at: protocol.HolderSizeAt): void;
  refused?(refusal: protocol.HolderRefusal): void;
  /** The connection is lost; `connect` makes another one. Not called after `close`. */
  lost?(): void;
};

/** Frames are limited; longer input is cut into pieces of this size. */
export const MAX_INPUT = 64 << 10;

type Answer = (answer: Result<protocol.HolderStatus>) => void;

export class HolderClient {
  readonly #dial: HolderDial;
  readonly #events: HolderEvents;
  readonly #inputs = new PendingInputs();
  #wish: HolderWish;
  #status: protocol.HolderStatus | undefined;
  /** The one that was welcomed. */
  #wire: HolderWire | undefined;
  #questions: Answer[] = [];

  constructor(dial: HolderDial, wish: HolderWish, events: HolderEvents = {}) {
    this.#dial = dial;
    this.#wish = wish;
    this.#events = events;
    this.#inputs.refuse(GONE);
  }

  /** The last one received. */
  get status(): protocol.HolderStatus | undefined {
    return this.#status;
  }

  /** The offset of the next byte of output, for a later client. */
  get offset(): number | undefined {
    return this.#wish.from;
  }

  get connected(): boolean {
    return this.#wire !== undefined;
  }

  /** Connects, or connects again. A Fault of the dial is passed on: it has the reason. */
  async connect(): Promise<Result<protocol.HolderStatus>> {
    this.#leave()?.destroy();
    const welcome = Promise.withResolvers<Result<protocol.HolderStatus>>();
    const line = new FramedConnection(this.#dial, {
      frame: (frame) => this.#take(frame, line, welcome.resolve),
      closed: () => {
        welcome.resolve({ ok: false, error: GONE }); // L3
        if (this.#wire === line) this.#lost();
      },
    });
    await line.open(protocol.jsonFrame(protocol.HELLO, { v: protocol.PROTOCOL, ...this.#wish }));
    return welcome.promise;
  }

  /** Resolves once the holder has taken or refused it. While the connection is lost, it waits for the next one (L1). */
  async input(bytes: Uint8Array): Promise<Result<void>> {
    const answers: Promise<Result<void>>[] = [];
    for (let at = 0; at < bytes.length; at += MAX_INPUT) {
      const { pending, answer } = this.#inputs.add(bytes.subarray(at, at + MAX_INPUT));
      if (pending !== undefined) this.#sendInput(pending.number, pending.bytes);
      answers.push(answer);
    }
    const found = await Promise.all(answers);
    return found.find((answer) => !answer.ok) ?? ok(undefined);
  }

  resize(size: protocol.HolderSize): void {
    this.#wish = { ...this.#wish, size };
    this.#wire?.send(protocol.jsonFrame(protocol.RESIZE, size));
  }

  /** If it reached no process, `refused` is called. */
  signal(signal: string): void {
    this.#wire?.send(protocol.jsonFrame(protocol.SIGNAL, { signal }));
  }

  /** Pipe mode: the daemon has stored everything before this offset. */
  consumed(offset: number): void {
    this.#wire?.send(protocol.numberFrame(protocol.CONSUMED, offset));
  }

  /** Pipe mode: the program's input ends. */
  endInput(): void {
    this.#wire?.send(protocol.jsonFrame(protocol.END_INPUT, {}));
  }

  /** Answers a question of the status, for the generation that asked it. */
  answer(answer: protocol.HolderAnswer): void {
    this.#wire?.send(protocol.jsonFrame(protocol.ANSWER, answer));
  }

  askStatus(): Promise<Result<protocol.HolderStatus>> {
    if (this.#wire === undefined) return Promise.resolve({ ok: false, error: GONE });
    const { promise, resolve } = Promise.withResolvers<Result<protocol.HolderStatus>>();
    this.#questions.push(resolve);
    this.#wire.send(protocol.jsonFrame(protocol.STATUS, {}));
    return promise;
  }

  /** Sends what waits, and closes. Input that was not confirmed is refused: it may or may not have been typed (L3). */
  close(): void {
    const wire = this.#leave();
    this.#inputs.refuse(UNCONFIRMED);
    wire?.end();
  }

  #leave(): HolderWire | undefined {
    const wire = this.#wire;
    this.#wire = undefined;
    for (const answer of this.#questions.splice(0)) answer({ ok: false, error: GONE }); // L3
    return wire;
  }

  #lost(): void {
    this.#leave();
    this.#events.lost?.();
  }

  #sendInput(number: number, bytes: Uint8Array): void {
    if (this.#status === undefined) return;
    this.#wire?.send(protocol.inputFrame(number, this.#status.generation, bytes));
  }

  /** False if it is not in this protocol. Unknown tags are ignored: a newer holder may send more. */
  #take({ tag, payload }: RawFrame, line: HolderWire, welcome: Answer): boolean {
    if (tag === protocol.WELCOME) return given(parseStatus(payload), (status) => this.#welcomed(status, line, welcome));
    if (tag === protocol.REFUSED) return given(parseRefusal(payload), (refusal) => this.#refused(refusal, welcome));
    if (line !== this.#wire) return true;
    if (tag === protocol.STATUS_IS) return given(parseStatus(payload), (status) => this.#statusIs(status));
    if (tag === protocol.ENDED) return given(parseExit(payload), (exit) => this.#events.ended?.(exit));
    if (tag === protocol.OUTPUT) return given(protocol.readNumber(payload), (found) => this.#output(found));
    if (tag === protocol.INPUT_TAKEN)
      return given(protocol.readNumber(payload), ({ number }) => this.#inputs.taken(number));
    if (tag === protocol.ANSWERS) return given(parseAnswers(payload), ({ answers }) => this.#events.answers?.(answers));
    if (tag === protocol.SIZE_IS) return given(parseSizeAt(payload), (at) => this.#events.size?.(at));
    if (tag === protocol.RESYNC) return given(protocol.readNumber(payload), ({ number }) => this.#resync(number));
    return true;
  }

  #welcomed(status: protocol.HolderStatus, line: HolderWire, welcome: Answer): void {
    const before = this.#status?.generation ?? status.generation;
    this.#wire = line;
    this.#status = status;
    if (this.#wish.from === -1) this.#wish = { ...this.#wish, from: status.tape.end }; // L2
    if (before !== status.generation) this.#inputs.refuse(OTHER_GENERATION);
    const rest = this.#inputs.agree(status.writers[this.#wish.writer] ?? 0); // L1
    for (const { number, bytes } of rest) this.#sendInput(number, bytes);
    welcome(ok(status));
  }

  #output({ number, bytes }: protocol.Numbered): void {
    this.#wish = { ...this.#wish, from: number + bytes.length }; // L2
    this.#events.output?.(number, bytes);
  }

  #resync(offset: number): void {
    this.#wish = { ...this.#wish, from: offset };
    this.#events.resync?.(offset);
  }

  #statusIs(status: protocol.HolderStatus): void {
    this.#status = status;
    this.#questions.shift()?.(ok(status));
  }

  #refused(refusal: protocol.HolderRefusal, welcome: Answer): void {
    if (refusal.number !== undefined) this.#inputs.refuse(refusal);
    this.#events.refused?.(refusal);
    welcome({ ok: false, error: refusal });
  }
}

function given<T>(value: T | undefined, act: (value: T) => void): boolean {
  if (value !== undefined) act(value);
  return value !== undefined;
}

export const GONE: Refusal = {
  code: "holder.gone",
  message: "There is no connection to the holder.",
  hint: "Attach again; `holdfast ls` shows whether the terminal is still running.",
};

const UNCONFIRMED: Refusal = {
  code: "holder.unconfirmed",
  message: "The connection was closed before the input was confirmed.",
  hint: "Look at the screen before typing it again: it may have arrived.",
};

const OTHER_GENERATION: Refusal = {
  code: "holder.generation",
  message: "The terminal was restarted before the input was confirmed.",
  hint: "Look at the screen as it is now, then type again.",
};
