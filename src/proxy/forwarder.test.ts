// The forwarder inside a sandbox, with a proxy that comes and goes.
import { expect, test } from "bun:test";
import { Fault } from "../base/fault.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";
import { Forwarder } from "./forwarder.ts";

class End {
  sent = "";
  isPaused = false;
  state: "open" | "ended" | "destroyed" = "open";
  events: ConnectionEvents | undefined;
  readonly connection: Connection = {
    send: (bytes) => {
      this.sent += Buffer.from(bytes).toString();
    },
    flush: () => undefined,
    waiting: 0,
    pause: () => {
      this.isPaused = true;
    },
    resume: () => {
      this.isPaused = false;
    },
    end: () => {
      this.state = "ended";
    },
    destroy: () => {
      this.state = "destroyed";
    },
  };
}

function site(away: number) {
  const outside = new End();
  let tries = 0;
  const clock = {
    after: (_: number, fn: () => void) => {
      queueMicrotask(fn);
      return () => undefined;
    },
  };
  const dial = async (events: ConnectionEvents) => {
    tries += 1;
    if (tries <= away) throw new Fault({ code: "ENOENT", operation: "connect", path: "/s" });
    outside.events = events;
    return outside.connection;
  };
  const inside = new End();
  inside.events = new Forwarder({ clock, dial }).accept(inside.connection);
  return { inside, outside, tries: () => tries };
}

const settled = () => new Promise((turn) => setImmediate(turn));

test("bytes go both ways, the early ones first, and an end is passed on", async () => {
  const { inside, outside } = site(0);
  inside.events?.bytes(Buffer.from("early "));
  await settled();
  inside.events?.bytes(Buffer.from("late"));
  outside.events?.bytes(Buffer.from("back"));
  expect([outside.sent, inside.sent, inside.isPaused]).toEqual(["early late", "back", false]);
  inside.events?.closed();
  expect(outside.state).toBe("ended");
  outside.events?.closed();
  expect(inside.state).toBe("ended");
});

test("FW1 a caller waits for the next proxy, unread; if none comes, it is closed", async () => {
  const back = site(20);
  expect(back.inside.isPaused).toBe(true);
  await settled();
  expect([back.inside.isPaused, back.tries()]).toEqual([false, 21]);
  const gone = site(1_000);
  await settled();
  expect([gone.inside.state, gone.tries()]).toEqual(["destroyed", 300]);
});

test("FW1 a caller that has left is not connected any more", async () => {
  const { inside, outside, tries } = site(5);
  inside.events?.closed();
  await settled();
  expect([outside.state, tries()]).toEqual(["open", 1]);
});
