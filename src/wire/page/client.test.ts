// The page's client against a host that the test plays, over connections that are lost.
import { expect, test } from "bun:test";
import { type LinkState, PageClient, type PageWireEvents } from "./client.ts";
import { CLOSE, readStream, streamMessage } from "./messages.ts";

class Site {
  /** What each connection said. */
  readonly said: (string | Uint8Array)[][] = [];
  readonly states: LinkState[] = [];
  readonly notices: string[] = [];
  readonly timers: { readonly ms: number; readonly fn: () => void }[] = [];
  readonly client: PageClient;
  #events: PageWireEvents | undefined;

  constructor() {
    const connect = (events: PageWireEvents) => {
      this.#events = events;
      const said: (string | Uint8Array)[] = [];
      this.said.push(said);
      return { send: (message: string | Uint8Array) => void said.push(message), close: () => undefined };
    };
    const after = (ms: number, fn: () => void) => {
      this.timers.push({ ms, fn });
      return () => undefined;
    };
    this.client = new PageClient(
      { connect, token: () => "t", after, chance: () => 0 },
      {
        link: (state) => this.states.push(state),
        daemon: ({ up }) => this.notices.push(`daemon ${up}`),
        notice: ({ topic }) => this.notices.push(topic),
      },
    );
  }

  up(): this {
    this.client.start();
    this.#events?.opened();
    return this.host({ type: "welcome", version: "1", home: "/h", device: "d", rights: "look" });
  }

  host(message: object): this {
    this.#events?.text(JSON.stringify(message));
    return this;
  }

  bytes(message: Uint8Array): void {
    this.#events?.bytes(message);
  }

  lose(code = 1006, reason = ""): this {
    this.#events?.closed(code, reason);
    return this;
  }

  /** The messages of the last connection, as JSON. */
  get last() {
    return (this.said.at(-1) ?? []).map((one) => (typeof one === "string" ? JSON.parse(one) : one));
  }
}

test("it says hello with its token, then asks for every notice", () => {
  const site = new Site().up();
  expect(site.last).toEqual([
    { type: "hello", token: "t" },
    { type: "watch", topics: ["*"] },
  ]);
  site.host({ type: "notice", topic: "terminal.created", data: {} }).host({ type: "daemon", up: true, why: "" });
  site.host({ type: "from-the-future" });
  expect(site.notices).toEqual(["terminal.created", "daemon true"]);
});

test("PC1 PC3 a call gets its own answer, once, or the refusal that the connection is gone", async () => {
  const site = new Site().up();
  const calls = [site.client.call("status", {}), site.client.call("attention", {}), site.client.call("status", {})];
  const ids = site.last.slice(2).map(({ id }) => id);
  site.host({ type: "refused", id: ids[1], error: { code: "no", message: "No.", hint: "Wait." } });
  site.host({ type: "result", id: ids[0], result: 1 }).host({ type: "result", id: ids[0], result: 2 });
  site.lose();
  const answers = await Promise.all(calls);
  expect(answers.map((answer) => (answer.ok ? answer.value : answer.error.code))).toEqual([
    1,
    "no",
    "host.gone",
  ] as never);
  const early = await site.client.call("status", {});
  expect(early.ok).toBe(false);
  site.up();
  void site.client.call("status", {});
  expect(ids).not.toContain(site.last.at(-1)?.id);
});

test("PC2 a lost connection is made again, later each time, and at once if a person asks", () => {
  const site = new Site().up();
  for (let times = 0; times < 7; times += 1) {
    site.lose();
    site.timers.at(-1)?.fn();
  }
  expect(site.timers.map(({ ms }) => ms)).toEqual([250, 500, 1000, 1000, 1000, 1000, 1000]);
  site.up().lose();
  expect(site.timers.at(-1)?.ms).toBe(250);
  site.lose();
  expect(site.timers).toHaveLength(8); // The old connection is closed once.
  site.client.start();
  expect(site.said).toHaveLength(9);
});

test("PC2 a browser that is signed out does not come back by itself, and one too many waits", () => {
  const site = new Site().up().lose(CLOSE.tooMany);
  expect(site.timers.at(-1)?.ms).toBe(30_000);
  site.up().lose(CLOSE.signedOut, "It was revoked.");
  expect(site.timers).toHaveLength(1);
  expect(site.states.at(-1)).toEqual({ kind: "signed out", why: "It was revoked." });
});

test("PC4 streams have their own bytes, and each is closed once: by the host, by us, or with the connection", () => {
  const site = new Site();
  expect(site.client.open("t", { bytes: () => undefined, closed: () => undefined })).toBeUndefined();
  site.up();
  const heard: string[] = [];
  const open = (name: string) =>
    site.client.open(name, {
      bytes: (bytes) => heard.push(`${name} ${new TextDecoder().decode(bytes)}`),
      closed: (exit) => heard.push(`${name} closed ${exit === null ? "lost" : exit.code}`),
    });
  const [a, b, c] = [open("a"), open("b"), open("c")];
  const numbers = site.last.slice(2).map(({ stream }) => stream);
  const text = (word: string) => new TextEncoder().encode(word);
  for (const number of numbers) site.bytes(streamMessage(number, text("x")));
  a?.send(text("typed"));
  expect(readStream(site.last.at(-1))).toEqual({ stream: numbers[0], bytes: text("typed") });
  const exit = { v: 1, generation: 1, code: 3, signal: null, bootId: "b", offset: 0, at: "" };
  site.host({ type: "closed", stream: numbers[0], exit, why: null });
  b?.close();
  site.bytes(streamMessage(numbers[1], text("late")));
  site.lose();
  expect(heard).toEqual(["a x", "b x", "c x", "a closed 3", "c closed lost"]);
  site.up();
  c?.send(text("late"));
  a?.took(5);
  expect(site.last).toHaveLength(2);
});
