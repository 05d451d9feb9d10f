import { expect, test } from "bun:test";
import { encodeLine } from "../wire/lines.ts";
import type { WireEvents } from "../wire/rpc/client.ts";
import { realClock } from "../world/real/clock.ts";
import { DaemonLink } from "./daemon-link.ts";

/** A daemon that answers when the test says so. */
class SlowDaemon {
  #events: WireEvents | undefined;
  readonly asked: { readonly id: number; readonly method: string; readonly params: object }[] = [];

  readonly dial = async (events: WireEvents) => {
    this.#events = events;
    return {
      send: (bytes: Uint8Array) => void this.asked.push(JSON.parse(new TextDecoder().decode(bytes))),
      end: () => undefined,
    };
  };

  async answer(): Promise<void> {
    this.#events?.bytes(encodeLine({ jsonrpc: "2.0", id: this.asked.at(-1)?.id, result: {} }));
    await new Promise<void>((done) => setImmediate(done));
  }
}

test("DL2 topics that are asked for while the first subscription is on its way are subscribed before it is up", async () => {
  const daemon = new SlowDaemon();
  const states: boolean[] = [];
  const link = new DaemonLink({
    ...{ dial: daemon.dial, clock: realClock(), token: "" },
    notice: () => undefined,
    changed: ({ up }) => void states.push(up),
  });
  await new Promise<void>((done) => setImmediate(done));
  await daemon.answer(); // hello
  expect(daemon.asked.at(-1)).toMatchObject({ method: "subscribe", params: { topics: [] } });
  await link.watch(["*"]);
  await daemon.answer();
  expect(states).toEqual([]);
  expect(daemon.asked.at(-1)).toMatchObject({ method: "subscribe", params: { topics: ["*"] } });
  await daemon.answer();
  expect(states).toEqual([true]);
  link.close();
});
