// Client: one connection, from its HELLO to its close. The host carries out its requests.
// C1. Nothing is done for a connection before it has sent the token, and it has little time to do so (holder.ts, H1).
// C2. An invalid frame closes its connection, and affects nothing else.
// C3. Only the operator acts (core/principal.ts): before its first act, the process behind the connection is looked at.
//     A client that may not act sees everything, and gets the reason. Resizing is not an act: otherwise attaching would
//     wait for the look.
import { isFault } from "../base/fault.ts";
import { FrameReader, type RawFrame } from "../wire/holder/frames.ts";
import { parseAnswer, parseHello, parseSignal, parseSize } from "../wire/holder/json.ts";
import * as protocol from "../wire/holder/protocol.ts";
import type { Clock } from "../world/clock.ts";
import { sameSecret } from "../world/hash.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";
import { Follower } from "./follower.ts";
import type { Recorder } from "./recorder.ts";

/** What a client can use of the holder. */
export interface Host {
  readonly clock: Clock;
  readonly token: string;
  readonly recorder: Recorder;
  /** Why it may not act (C3); looked up once for each connection. */
  whyNot(connection: Connection): protocol.HolderRefusal | undefined;
  /** Returns false if there is no place for it. */
  seat(connection: Connection): boolean;
  joined(client: Client): void;
  welcomed(client: Client): void;
  /** Called whether it had joined or not. */
  left(client: Client): void;
  status(): protocol.HolderStatus;
  input(client: Client, input: protocol.Input): void;
  resize(client: Client, size: protocol.HolderSize): void;
  /** Whose window determines the size from now on. */
  choose(sizing: protocol.HolderSizing): void;
  signal(name: string): boolean;
  consumed(offset: number): void;
  endInput(): void;
  /** What the screen program knows about an open question. */
  answer(answer: protocol.HolderAnswer): void;
}

/** C1: our clients send HELLO at once. */
const HELLO_MS = 10_000;

export class Client {
  readonly connection: Connection;
  readonly #host: Host;
  readonly #reader = new FrameReader();
  readonly #stopWaiting: () => void;
  readonly follower: Follower;
  #hello: protocol.Hello | undefined;
  /** Why it may not act, once that was looked up; null if it may. */
  #whyNot: protocol.HolderRefusal | null | undefined;
  #closed = false;

  constructor(connection: Connection, host: Host) {
    this.connection = connection;
    this.#host = host;
    this.follower = new Follower(connection, host.recorder, host.clock);
    this.#stopWaiting = host.clock.after(HELLO_MS, () => connection.destroy()); // C1
  }

  get events(): ConnectionEvents {
    return {
      bytes: (bytes) => this.#bytes(bytes),
      drained: () => this.follower.drained(),
      closed: () => this.#close(),
    };
  }

  get writer(): string {
    return this.#hello?.writer ?? "";
  }

  /** Whether it wants only to look. */
  get readOnly(): boolean {
    return this.#hello?.readOnly === true;
  }

  /** Why it may not type or signal; null if it may (C3). */
  get whyNot(): protocol.HolderRefusal | null {
    if (this.readOnly) return READ_ONLY;
    if (this.#whyNot !== undefined) return this.#whyNot;
    try {
      this.#whyNot = this.#host.whyNot(this.connection) ?? null;
      return this.#whyNot;
    } catch (error) {
      if (!isFault(error)) throw error;
      return { code: error.code, message: error.message, hint: error.hint }; // The next act looks again.
    }
  }

  send(frame: Uint8Array): void {
    this.connection.send(frame);
  }

  refuse(refusal: protocol.HolderRefusal): void {
    this.send(protocol.jsonFrame(protocol.REFUSED, refusal));
  }

  /** Stops reading its input until there is room. */
  pause(): void {
    this.connection.pause();
  }

  resume(): void {
    this.connection.resume();
  }

  /** Closes it: another connection took over its writer, or it may not be here. */
  dismiss(refusal: protocol.HolderRefusal): void {
    this.refuse(refusal);
    this.connection.end();
  }

  #bytes(bytes: Uint8Array): void {
    const frames = this.#reader.push(bytes);
    for (const frame of frames ?? []) {
      if (this.#closed) return;
      const fine = this.#hello === undefined ? this.#greet(frame) : this.#take(frame);
      if (!fine) {
        this.connection.destroy(); // C2
        return;
      }
    }
    if (frames === undefined) this.connection.destroy(); // C2
  }

  #greet({ tag, payload }: RawFrame): boolean {
    const hello = tag === protocol.HELLO ? parseHello(payload) : undefined;
    if (hello === undefined) return false;
    this.#stopWaiting();
    if (!sameSecret(hello.token, this.#host.token)) {
      this.dismiss(WRONG_TOKEN); // C1
      this.#closed = true;
      return true;
    }
    if (!this.#host.seat(this.connection)) {
      this.dismiss(NO_PLACE);
      this.#closed = true;
      return true;
    }
    this.#hello = hello;
    this.#host.joined(this);
    if (hello.sizing !== undefined && !this.readOnly) this.#host.choose(hello.sizing);
    if (hello.size !== undefined) this.#resize(hello.size);
    const status = this.#host.status();
    this.send(protocol.jsonFrame(protocol.WELCOME, status));
    if (hello.from !== undefined) this.#follow(hello.from, status);
    this.#host.welcomed(this);
    return true;
  }

  #follow(from: number, { mode, tape, size }: protocol.HolderStatus): void {
    if (mode === "pty") this.send(protocol.jsonFrame(protocol.SIZE_IS, { offset: tape.end, ...size }));
    this.follower.begin(from);
  }

  /** Returns false if the frame is invalid. An unknown tag is valid: a newer client may know more than we do. */
  #take({ tag, payload }: RawFrame): boolean {
    if (tag === protocol.INPUT)
      return this.#given(protocol.readInput(payload), (input) => this.#host.input(this, input));
    if (tag === protocol.RESIZE) return this.#given(parseSize(payload), (size) => this.#resize(size));
    if (tag === protocol.SIGNAL) return this.#given(parseSignal(payload), (name) => this.#signal(name));
    if (tag === protocol.CONSUMED)
      return this.#given(protocol.readNumber(payload), ({ number }) => this.#consumed(number));
    if (tag === protocol.ANSWER) return this.#given(parseAnswer(payload), (answer) => this.#answer(answer));
    if (tag === protocol.STATUS) this.send(protocol.jsonFrame(protocol.STATUS_IS, this.#host.status()));
    if (tag === protocol.END_INPUT && this.#mayAct()) this.#host.endInput();
    return true;
  }

  #given<T>(value: T | undefined, act: (value: T) => void): boolean {
    if (value !== undefined) act(value);
    return value !== undefined;
  }

  #resize(size: protocol.HolderSize): void {
    if (!this.readOnly) this.#host.resize(this, size);
  }

  #signal(name: string): void {
    if (this.#mayAct() && !this.#host.signal(name)) this.refuse(noSignal(name));
  }

  #answer(answer: protocol.HolderAnswer): void {
    if (this.#mayAct()) this.#host.answer(answer);
  }

  #consumed(offset: number): void {
    if (this.#mayAct()) this.#host.consumed(offset);
  }

  #mayAct(): boolean {
    const refusal = this.whyNot;
    if (refusal !== null) this.refuse(refusal);
    return refusal === null;
  }

  #close(): void {
    this.#closed = true;
    this.#stopWaiting();
    this.#host.left(this);
  }
}

const WRONG_TOKEN: protocol.HolderRefusal = {
  code: "holder.token",
  message: "The token does not match.",
  hint: "Read it from holder.json of this terminal.",
};

const NO_PLACE: protocol.HolderRefusal = {
  code: "holder.busy",
  message: "There are too many connections to this terminal.",
  hint: "Close some of them, then try again.",
};

const READ_ONLY: protocol.HolderRefusal = {
  code: "holder.read-only",
  message: "This connection is read-only.",
  hint: "Attach without --read-only.",
};

function noSignal(name: string): protocol.HolderRefusal {
  return {
    code: "holder.signal",
    message: `${name} reached no process.`,
    hint: "The program may have ended: ask for its status.",
  };
}
