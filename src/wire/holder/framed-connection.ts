// One connection to a holder, cut into frames.
// HL1. It is closed if something arrives that is not in the protocol.
import { FrameReader, type RawFrame } from "./frames.ts";

/** What this side needs of a connection; world/socket.ts has it. */
export type HolderWire = { send(bytes: Uint8Array): void; end(): void; destroy(): void };
export type HolderWireEvents = { bytes(bytes: Uint8Array): void; closed(): void };
export type HolderDial = (events: HolderWireEvents) => Promise<HolderWire>;

export type HolderLineEvents = {
  /** False if it is not in the protocol. */
  frame(frame: RawFrame): boolean;
  closed(): void;
};

export class FramedConnection implements HolderWire {
  readonly #dial: HolderDial;
  readonly #events: HolderLineEvents;
  readonly #reader = new FrameReader();
  #wire: HolderWire | undefined;

  constructor(dial: HolderDial, events: HolderLineEvents) {
    this.#dial = dial;
    this.#events = events;
  }

  async open(first: Uint8Array): Promise<void> {
    this.#wire = await this.#dial({ bytes: (bytes) => this.#bytes(bytes), closed: () => this.#events.closed() });
    this.#wire.send(first);
  }

  send(bytes: Uint8Array): void {
    this.#wire?.send(bytes);
  }

  end(): void {
    this.#wire?.end();
  }

  destroy(): void {
    this.#wire?.destroy();
  }

  #bytes(bytes: Uint8Array): void {
    const frames = this.#reader.push(bytes);
    if (frames?.every((frame) => this.#events.frame(frame)) !== true) this.destroy(); // HL1
  }
}
