// Subscriptions over the daemon's socket.
import { expect, test } from "bun:test";
import { until } from "../until.ts";
import { ask, client, hello, Raw, serve } from "./rpc-peer.ts";

test("a subscriber gets its topics, and only those; a second subscription replaces the first", async () => {
  const { path, bus } = await serve();
  const listening = await client(path);
  const heard: string[] = [];
  listening.onNotice = ({ topic, data }) => void heard.push(`${topic} ${String(data)}`);
  expect((await listening.call("subscribe", { topics: ["terminal.*", "recovery.reported"] })).ok).toBe(true);
  const publish = () => {
    for (const topic of [
      "terminal.created",
      "terminal.signal.requested",
      "terminals",
      "recovery.reported",
      "recovery.stage.changed",
    ])
      bus.publish(topic, heard.length);
  };
  publish();
  await until(
    "three notices",
    () => heard.length === 3,
    () => heard.length,
  );
  expect(heard.map((notice) => notice.split(" ")[0] ?? "")).toEqual([
    "terminal.created",
    "terminal.signal.requested",
    "recovery.reported",
  ]);
  heard.length = 0;
  await listening.call("subscribe", { topics: ["*"] });
  publish();
  await until(
    "all five, once each",
    () => heard.length >= 5,
    () => heard.length,
  );
  await listening.call("status", {});
  expect(heard.length).toBe(5);
});

test("topics that are not a list of strings are refused, and the connection stays open", async () => {
  const { path } = await serve();
  const raw = await Raw.to(path);
  raw.say(hello(), ask(2, "subscribe", { topics: "all" }), ask(3, "subscribe", { topics: [1] }), ask(4));
  await until(
    "three answers",
    () => raw.answers().length === 4,
    () => raw.answers().length,
  );
  expect(raw.answers().slice(1)).toMatchObject([
    { error: { code: -32602 } },
    { error: { code: -32602 } },
    { id: 4, result: {} },
  ]);
});

test("a subscriber that does not read is closed; the others get everything", async () => {
  const { path, bus } = await serve();
  const good = await client(path);
  let heard = 0;
  good.onNotice = () => {
    heard += 1;
  };
  await good.call("subscribe", { topics: ["*"] });
  const slow = await Raw.to(path);
  slow.say(hello(), ask(2, "subscribe", { topics: ["*"] }));
  await until(
    "it is subscribed",
    () => slow.answers().length === 2,
    () => slow.answers().length,
  );
  slow.pause();
  const large = "x".repeat(1 << 16);
  for (let n = 0; n < 200; n += 1) {
    bus.publish("terminal.created", large);
    await until(
      "the well-behaved client has the notice",
      () => heard === n + 1,
      () => heard,
    );
  }
  slow.resume();
  await slow.ends();
  expect(heard).toBe(200);
});
