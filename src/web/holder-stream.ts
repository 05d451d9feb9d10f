// One stream of a tab: a terminal's holder, connected to the page. It works while the daemon is down.
// HS1. The holder's token never reaches the browser: the page's HELLO comes without one, and gets it here.
// HS2. Only frames of a window pass: typing, resizing, signals and questions for the status. A device that may not type
//      is read-only to the holder, whatever it says.
// HS3. While the page has not taken what was sent, nothing is read from this holder; other streams are not affected.
// HS4. The end is reported once, with the program's exit if it has ended.
import { isFault } from "../base/fault.ts";
import { isId } from "../base/ids.ts";
import type { Refusal } from "../base/result.ts";
import { type HeldDirectory, readExit, readSpec, terminalFiles, terminalSocket } from "../home/held/holder-files.ts";
import { encodeFrame, FrameReader, type RawFrame } from "../wire/holder/frames.ts";
import { parseHello } from "../wire/holder/json.ts";
import * as protocol from "../wire/holder/protocol.ts";
import { MAX_UNTAKEN } from "../wire/page/messages.ts";
import type { Disk } from "../world/disk.ts";
import type { Connection, ConnectionEvents, Sockets } from "../world/socket.ts";
import { EndedHolder, type HolderSide } from "./ended-holder.ts";

/** HS2 */
const PASSED: readonly number[] = [protocol.INPUT, protocol.RESIZE, protocol.SIGNAL, protocol.STATUS];
/** What may wait for a holder: more than anybody pastes. */
const MAX_INPUT_WAITING = 16 << 20;

export type StreamWorld = { readonly disk: Disk; readonly sockets: Sockets; readonly home: string };

export type StreamEvents = {
  bytes(bytes: Uint8Array): void;
  /** HS4 */
  closed(exit: protocol.HolderExit | null, why: Refusal | null): void;
};

export class HolderStream {
  readonly #world: StreamWorld & { readonly mayType: boolean };
  readonly #terminal: string;
  readonly #events: StreamEvents;
  readonly #reader = new FrameReader();
  #token: string | undefined;
  #side: HolderSide | undefined;
  /** Frames for a holder that is not connected yet. */
  #early: Uint8Array[] = [];
  #earlyBytes = 0;
  #greeted = false;
  #sent = 0;
  #taken = 0;
  #paused = false;
  #closed = false;

  constructor(world: StreamWorld & { readonly mayType: boolean }, terminal: string, events: StreamEvents) {
    this.#world = world;
    this.#terminal = terminal;
    this.#events = events;
  }

  /** A Fault ends the stream; anything else is a bug, and is thrown. */
  async open(): Promise<void> {
    try {
      const { disk, home } = this.#world;
      const place = isId(this.#terminal) ? terminalFiles(disk, home, this.#terminal) : undefined;
      const spec = place && readSpec(place);
      this.#token = spec?.token;
      if (place === undefined || spec?.mode !== "pty") this.#end(null, NO_TERMINAL);
      else await this.#connect(place);
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#end(null, { code: error.code, message: error.message, hint: error.hint });
    }
  }

  async #connect(place: HeldDirectory): Promise<void> {
    const closed = () => this.#end(exitOf(place), null);
    const events = { bytes: (bytes: Uint8Array) => this.#output(bytes), closed };
    const live = await connected(this.#world.sockets, terminalSocket(place), events);
    const exit = live === undefined ? exitOf(place) : null;
    if (live !== undefined) this.#begin(live);
    else if (exit !== null) this.#begin(new EndedHolder(place, exit, events));
    else this.#end(null, NOT_RUNNING);
  }

  /** From the page. Returns false if it is not in the protocol. */
  input(bytes: Uint8Array): boolean {
    const frames = this.#reader.push(bytes);
    return frames?.every((frame) => this.#pass(frame)) === true;
  }

  /** The page has processed this many bytes of the stream, in all. */
  took(bytes: number): void {
    this.#taken = Math.max(this.#taken, Math.min(bytes, this.#sent));
    if (!this.#paused || this.#sent - this.#taken > MAX_UNTAKEN) return;
    this.#paused = false;
    this.#side?.resume();
  }

  /** The page is not interested any more: nothing is reported. */
  close(): void {
    this.#closed = true;
    this.#side?.destroy();
  }

  #begin(side: HolderSide): void {
    if (this.#closed) side.destroy();
    this.#side = side;
    for (const frame of this.#early.splice(0)) side.send(frame);
  }

  #pass({ tag, payload }: RawFrame): boolean {
    if (this.#greeted) return PASSED.includes(tag) && this.#send(encodeFrame(tag, payload)); // HS2
    const hello = tag === protocol.HELLO ? parseHello(payload) : undefined;
    if (hello === undefined) return false;
    this.#greeted = true;
    const readOnly = hello.readOnly === true || !this.#world.mayType; // HS2
    return this.#send(protocol.jsonFrame(protocol.HELLO, { ...hello, token: this.#token, readOnly })); // HS1
  }

  /** Returns false if too much is waiting already. */
  #send(frame: Uint8Array): boolean {
    if (this.#side === undefined) this.#early.push(frame);
    else this.#side.send(frame);
    this.#earlyBytes += this.#side === undefined ? frame.length : 0;
    return this.#earlyBytes <= MAX_INPUT_WAITING && (this.#side?.waiting ?? 0) <= MAX_INPUT_WAITING;
  }

  #output(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#sent += bytes.length;
    if (this.#sent - this.#taken > MAX_UNTAKEN) {
      this.#paused = true;
      this.#side?.pause(); // HS3
    }
    this.#events.bytes(bytes);
  }

  #end(exit: protocol.HolderExit | null, why: Refusal | null): void {
    if (this.#closed) return;
    this.#closed = true; // HS4
    this.#events.closed(exit, why);
  }
}

/** Undefined if nothing listens. */
async function connected(sockets: Sockets, path: string, events: ConnectionEvents): Promise<Connection | undefined> {
  try {
    return await sockets.connect(path, events);
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

/**
 * Null if the program has not ended, or the disk does not tell for now: then the page opens the terminal again. The
 * exit of an earlier generation is there until the next one ends.
 */
function exitOf(place: HeldDirectory): protocol.HolderExit | null {
  try {
    const exit = readExit(place);
    return exit !== undefined && exit.generation === readSpec(place)?.generation ? exit : null;
  } catch (error) {
    if (isFault(error)) return null;
    throw error;
  }
}

const NO_TERMINAL: Refusal = {
  code: "no-terminal",
  message: "There is no such terminal.",
  hint: "`holdfast ls` lists them.",
};

const NOT_RUNNING: Refusal = {
  code: "not-running",
  message: "The terminal has no holder that answers.",
  hint: "If its process was lost, the daemon restores it. `holdfast ls` shows its state.",
};
