// A client without manners: it sends arbitrary bytes, and keeps the answers.
import { FrameReader } from "../../src/wire/holder/frames.ts";
import { parseRefusal } from "../../src/wire/holder/json.ts";
import * as protocol from "../../src/wire/holder/protocol.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { until } from "../until.ts";
import type { Terminal } from "./terminal.ts";

export class Rude {
  readonly tags: number[] = [];
  readonly answers: unknown[] = [];
  closed = false;
  say: (bytes: Uint8Array) => void = () => undefined;
  cut: () => void = () => undefined;
  /** Stops reading, as a window does whose machine sleeps. */
  sleep: () => void = () => undefined;
  wake: () => void = () => undefined;
  bytes = 0;

  static async connect({ spec }: Terminal): Promise<Rude> {
    const rude = new Rude();
    const reader = new FrameReader();
    const connection = await realSockets().connect(spec.socket, {
      bytes: (bytes) => {
        for (const { tag, payload } of reader.push(bytes) ?? []) rude.#hear(tag, payload);
      },
      closed: () => {
        rude.closed = true;
      },
    });
    rude.say = (bytes) => connection.send(bytes);
    rude.cut = () => connection.destroy();
    rude.sleep = () => connection.pause();
    rude.wake = () => connection.resume();
    return rude;
  }

  #hear(tag: number, payload: Uint8Array): void {
    this.tags.push(tag);
    this.bytes += tag === protocol.OUTPUT ? payload.length - 8 : 0;
    if (tag === protocol.INPUT_TAKEN) this.answers.push({ taken: protocol.readNumber(payload)?.number });
    const refusal = tag === protocol.REFUSED ? parseRefusal(payload) : undefined;
    if (refusal !== undefined) this.answers.push({ refused: refusal.code, number: refusal.number });
  }
}

/** One that has at least said hello. */
export async function speak(made: Terminal, hello: { readonly writer: string; readonly from?: number }): Promise<Rude> {
  const rude = await Rude.connect(made);
  rude.say(protocol.jsonFrame(protocol.HELLO, { v: 1, token: made.spec.token, ...hello }));
  await until(
    "it is welcomed",
    () => rude.tags.includes(protocol.WELCOME),
    () => rude.tags,
  );
  return rude;
}
