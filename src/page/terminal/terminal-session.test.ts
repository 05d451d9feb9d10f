// A terminal's session against a holder that the test plays, over streams that are lost.
import { expect, test } from "bun:test";
import { FrameReader } from "../../wire/holder/frames.ts";
import * as protocol from "../../wire/holder/protocol.ts";
import type { PageClient, StreamEvents } from "../../wire/page/client.ts";
import { MAX_UNTAKEN } from "../../wire/page/messages.ts";
import { type SessionState, TerminalSession } from "./terminal-session.ts";

const STATUS: protocol.HolderStatus = {
  ...{ v: 1, generation: 1, mode: "pty", pid: 1, child: null, startedAt: "", consumed: 0, clients: 1 },
  ...{ tape: { start: 0, end: 10, gaps: 0 }, size: { cols: 80, rows: 24 }, lastOutputAt: null, writers: {} },
  ...{ exit: null, trouble: null },
};
const text = (word: string) => new TextEncoder().encode(word);

class Site {
  /** What each stream said: the tags of its frames, with what matters of them. */
  readonly said: string[][] = [];
  readonly shown: string[] = [];
  readonly states: string[] = [];
  readonly took: number[] = [];
  readonly refusals: string[] = [];
  readonly timers: (() => void)[] = [];
  readonly session: TerminalSession;
  /** Called when the screen has parsed what was written. */
  readonly parsed: (() => void)[] = [];
  #events: StreamEvents | undefined;

  constructor(view: object, readOnly = false) {
    // The host answers one call only; its type depends on the method.
    const call = (async () => ({ ok: true, value: view })) as unknown as PageClient["call"];
    const refused = ({ code }: { readonly code: string }) => void this.refusals.push(code);
    const ports = { open: this.#open, call, after: this.#after, chance: () => 0, refused };
    const screen = {
      write: (bytes: Uint8Array, parsed: () => void) => {
        this.shown.push(new TextDecoder().decode(bytes));
        this.parsed.push(parsed);
      },
      resize: ({ cols, rows }: protocol.HolderSize) => void this.shown.push(`${cols}x${rows}`),
      isAlternate: false,
    };
    const tell = (state: SessionState) => void this.states.push(state.kind);
    this.session = new TerminalSession(ports, { terminal: "t", writer: "w", readOnly }, screen, tell);
  }

  readonly #after = (_: number, fn: () => void) => {
    this.timers.push(fn);
    return () => void this.timers.splice(this.timers.indexOf(fn), 1);
  };

  readonly #open: PageClient["open"] = (_, events) => {
    const said: string[] = [];
    this.said.push(said);
    this.#events = events;
    const reader = new FrameReader();
    const send = (bytes: Uint8Array) => {
      for (const frame of reader.push(bytes) ?? []) said.push(wordOf(frame.tag, frame.payload));
    };
    return { send, took: (bytes) => void this.took.push(bytes), close: () => undefined };
  };

  /** Opens it: first a look at the size, then the stream itself. */
  async attach(status: Partial<protocol.HolderStatus> = {}): Promise<void> {
    this.session.open();
    await this.welcome(status);
    await this.welcome(status);
  }

  async welcome(status: Partial<protocol.HolderStatus> = {}): Promise<void> {
    await settled();
    this.say(protocol.jsonFrame(protocol.WELCOME, { ...STATUS, ...status }));
    await settled();
  }

  say(...frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.#events?.bytes(frame);
  }

  lose(exit: protocol.HolderExit | null = null): void {
    this.#events?.closed(exit, null);
  }
}

function wordOf(tag: number, payload: Uint8Array): string {
  if (tag === protocol.HELLO) return `hello from ${JSON.parse(new TextDecoder().decode(payload)).from}`;
  if (tag === protocol.RESIZE) return `resize ${new TextDecoder().decode(payload)}`;
  const input = tag === protocol.INPUT ? protocol.readInput(payload) : undefined;
  return input === undefined ? `tag ${tag}` : `input ${input.number} ${new TextDecoder().decode(input.bytes)}`;
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
}

test("TS2 the picture of the host is drawn over the tape, in the terminal's own size, then what comes", async () => {
  const screen = { offset: 10, cols: 80, rows: 24, vt: "PICTURE", exact: true, at: "", title: "", alternate: false };
  const site = new Site({ from: 0, exact: true, screen });
  await site.attach();
  site.say(protocol.outputFrame(0, text("0123456789")), protocol.outputFrame(10, text("after")));
  expect(site.said.map(([first]) => first)).toEqual(["hello from undefined", "hello from 0"]);
  expect(site.shown[0]).toBe("80x24");
  expect(site.shown.at(-2)).toContain("PICTURE");
  expect(site.shown.at(-1)).toBe("after");
  expect(site.states).toEqual(["attached"]);
});

test("TS1 TS5 what is typed while the connection is lost is typed once, after it, and output goes on where it was", async () => {
  const site = new Site({ from: 10, exact: true });
  await site.attach();
  site.session.input(text("a"));
  site.say(protocol.numberFrame(protocol.INPUT_TAKEN, 1), protocol.outputFrame(10, text("12345")));
  site.session.input(text("b"));
  site.lose();
  site.session.input(text("c"));
  expect(site.states.at(-1)).toBe("connecting");
  site.timers.at(-1)?.();
  await site.welcome({ writers: { w: 2 } });
  expect(site.said.at(-1)).toEqual(["hello from 15", "input 3 c"]);
  expect(site.states.at(-1)).toBe("attached");
});

test("TS1 what is typed before the first connection is typed then, and what another program would get is reported", async () => {
  const site = new Site({ from: 10, exact: true });
  site.session.input(text("early"));
  site.session.open();
  site.session.input(text("-bird"));
  await site.welcome();
  await site.welcome();
  expect(site.said.at(-1)).toEqual(["hello from 10", "input 1 early", "input 2 -bird"]);
  site.lose();
  site.timers.at(-1)?.();
  await site.welcome({ generation: 2 });
  expect(site.refusals).toEqual(["holder.generation", "holder.generation"]);
});

test("TS3 the window's size is a wish; the screen changes when the holder says so; a watcher has none", async () => {
  const site = new Site({ from: 10, exact: true });
  site.session.resize({ cols: 100, rows: 30 });
  await site.attach();
  expect(site.said.at(-1)).toEqual(["hello from 10", 'resize {"cols":100,"rows":30}']);
  expect(site.shown).toEqual(["80x24"]);
  site.say(protocol.jsonFrame(protocol.SIZE_IS, { offset: 10, cols: 100, rows: 30 }));
  expect(site.shown.at(-1)).toBe("100x30");
  const watcher = new Site({ from: 10, exact: true }, true);
  watcher.session.resize({ cols: 100, rows: 30 });
  await watcher.attach();
  watcher.session.input(text("x"));
  watcher.session.resize({ cols: 90, rows: 30 });
  expect(watcher.said.at(-1)).toEqual(["hello from 10"]);
});

test("TS2 a program whose screen is not known exactly is asked to draw it, by two changes of its size", async () => {
  const site = new Site({ from: 10, exact: false });
  site.session.resize(STATUS.size);
  await site.attach();
  site.timers.shift()?.();
  site.timers.shift()?.();
  expect(site.said.at(-1)?.slice(-2)).toEqual(['resize {"cols":80,"rows":23}', 'resize {"cols":80,"rows":24}']);
});

test("output that comes together with the welcome is not lost", async () => {
  const site = new Site({ from: 10, exact: true });
  site.session.open();
  await site.welcome();
  site.say(protocol.jsonFrame(protocol.WELCOME, STATUS), protocol.outputFrame(10, text("at once")));
  await settled();
  expect(site.shown.at(-1)).toBe("at once");
});

test("TS4 a window that does not answer does not see the question", async () => {
  const site = new Site({ from: 10, exact: true });
  await site.attach();
  site.say(protocol.jsonFrame(protocol.ANSWERS, { answers: false }), protocol.outputFrame(10, text("a\u001b[6nb")));
  expect(site.shown.at(-1)).toBe("ab");
  site.say(protocol.jsonFrame(protocol.ANSWERS, { answers: true }), protocol.outputFrame(15, text("\u001b[6n")));
  expect(site.shown.at(-1)).toBe("\u001b[6n");
});

test("TS5 only an exit ends it", async () => {
  const site = new Site({ from: 10, exact: true });
  await site.attach();
  site.lose({ v: 1, generation: 1, code: 0, signal: null, bootId: "b", offset: 10, at: "" });
  expect(site.states.at(-1)).toBe("ended");
  const opened = site.said.length;
  for (const timer of site.timers.splice(0)) timer();
  expect(site.said).toHaveLength(opened);
});

test("ST1 the host is told what was parsed, not what has come, and never waits for more than it may send", async () => {
  const site = new Site({ from: 10, exact: true });
  await site.attach();
  const flood = new Uint8Array(MAX_UNTAKEN / 2).fill(97);
  site.say(protocol.outputFrame(10, flood));
  expect(site.took).toEqual([]);
  for (const parsed of site.parsed.splice(0)) parsed();
  expect(site.took.at(-1)).toBeGreaterThan(flood.length);
});
