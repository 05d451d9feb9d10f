// How often the frequent commands wait for the daemon, counted by someone in between; also with a daemon of an older
// version, which says no stage with its hello and does not wait until a terminal has started.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { holderSocket } from "../../src/home/held/holder-files.ts";
import { DAEMON_SOCKET, LAST_ATTACHED, TERMINALS, TOKEN } from "../../src/home/layout.ts";
import { decodeLine, encodeLine, isObject, LineReader, MAX_ANSWER } from "../../src/wire/lines.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import type { Connection, Listener } from "../../src/world/socket.ts";
import { endAll, Home } from "./terminal-home.ts";

/**
 * What each connection asked; a blank stands for answers. `together`: so many requests have to come before the first
 * answer is passed on, so that nothing depends on who is faster.
 */
type Seen = { readonly asked: string[][]; isOlder: boolean; together: number };

/** Has the daemon's token and this instead of its socket. */
const between = mkdtempSync("/tmp/hfrt-");
const home = new Home();
const seen: Seen = { asked: [], isOlder: false, together: 1 };
let listener: Listener;

beforeAll(async () => {
  await home.ok("up");
  await home.ok("new", "-d", "there", "--", "sh", "-c", "echo @there@; exec cat");
  mkdirSync(join(between, "run"), { mode: 0o700 });
  copyFileSync(join(home.path, TOKEN), join(between, TOKEN));
  listener = await realSockets().listen(join(between, DAEMON_SOCKET), (client) => {
    const asked: string[] = [];
    seen.asked.push(asked);
    return passing(client, asked);
  });
}, 60_000);

afterAll(async () => {
  listener.close();
  rmSync(between, { recursive: true, force: true });
  await endAll();
}, 180_000);

type Message = Record<string, unknown>;

/** Passes on every line. */
function passing(client: Connection, asked: string[]) {
  const [mine, theirs] = [new LineReader(MAX_ANSWER), new LineReader(MAX_ANSWER)];
  const answers: Message[] = [];
  const passOn = () => {
    if (asked.length < seen.together) return;
    for (const answer of answers.splice(0)) {
      if (asked.at(-1) !== "") asked.push("");
      client.send(encodeLine(older(answer)));
    }
  };
  const answered = (bytes: Uint8Array) => {
    for (const line of theirs.push(bytes) ?? []) answers.push(decodeLine(line, MAX_ANSWER) ?? {});
    passOn();
  };
  const daemon = realSockets().connect(join(home.path, DAEMON_SOCKET), { bytes: answered, closed: () => client.end() });
  const ask = async (bytes: Uint8Array) => {
    for (const line of mine.push(bytes) ?? []) {
      const message = decodeLine(line) ?? {};
      asked.push(String(message["method"]));
      (await daemon).send(encodeLine(older(message)));
    }
    passOn();
  };
  return { bytes: (bytes: Uint8Array) => void ask(bytes), closed: () => void daemon.then((one) => one.end()) };
}

/** Without what a daemon of an older version does not know. */
function older(message: Message): Message {
  if (!seen.isOlder) return message;
  const without = (part: unknown) => {
    if (!isObject(part)) return part;
    const { settleMs: _, stage: __, ...rest } = part;
    return rest;
  };
  return {
    ...message,
    ...("params" in message ? { params: without(message["params"]) } : {}),
    ...resultOf(message, without),
  };
}

function resultOf(message: Message, without: (part: unknown) => unknown): Message {
  return "result" in message ? { result: without(message["result"]) } : {};
}

/** What it prints, and what it asked, in the order of its round trips. */
async function trips(together: number, ...words: readonly string[]) {
  seen.asked.length = 0;
  seen.together = together;
  const [first = "", ...rest] = words;
  const ended = await home.started(first, "--home", between, ...rest);
  return { ...ended, asked: seen.asked.map((one) => one.join(" ").trim().split("  ")) };
}

test("ls waits for the daemon once", async () => {
  const { code, out, asked } = await trips(2, "ls");
  expect({ code, asked }).toEqual({ code: 0, asked: [["hello terminal.list"]] });
  expect(out).toContain("there");
});

test("attach waits once before it draws, and asks the daemon for nothing else", async () => {
  const { id } = await home.listed("there");
  symlinkSync(join(home.path, TERMINALS), join(between, TERMINALS));
  symlinkSync(holderSocket(home.path, id), holderSocket(between, id));
  seen.asked.length = 0;
  seen.together = 2;
  const window = home.window(["attach", "--home", between, "there"]);
  await window.shows("@there@");
  window.type("\u001c");
  expect(await window.exited).toBe(0);
  expect(seen.asked.map((one) => one.join(" ").trim())).toEqual(["hello terminal.find"]);
  expect(basename(readlinkSync(join(between, LAST_ATTACHED)))).toBe(id); // Remembered, though not before it was drawn.
});

test("new -d waits twice: for the hello, and until its program has started", async () => {
  const made = await trips(1, "new", "-d", "--json", "fresh", "--", "cat");
  expect({ code: made.code, asked: made.asked }).toEqual({ code: 0, asked: [["hello", "terminal.new"]] });
  expect(JSON.parse(made.out)).toMatchObject({ name: "fresh", state: "running", clients: 0 });
  expect(await home.listed("fresh")).toMatchObject(JSON.parse(made.out));
  const over = await trips(1, "new", "-d", "--json", "brief", "--", "sh", "-c", "exit 3");
  expect(["running", "ended"]).toContain(JSON.parse(over.out).state);
  const taken = await trips(1, "new", "-d", "fresh", "--", "cat");
  expect({ code: taken.code, err: taken.err }).toMatchObject({ code: 1 });
  expect(taken.err).toContain("fresh");
});

test("a daemon of an older version is asked for its stage, and for the terminal until it has started", async () => {
  seen.isOlder = true;
  try {
    const list = await trips(2, "ls");
    expect({ code: list.code, asked: list.asked }).toEqual({ code: 0, asked: [["hello terminal.list", "status"]] });
    const made = await trips(1, "new", "-d", "--json", "older", "--", "cat");
    const [first = []] = made.asked;
    expect(first.slice(0, 4)).toEqual(["hello", "status", "terminal.new", "subscribe"]);
    expect(first.slice(4).every((trip) => trip === "terminal.find")).toBe(true);
    expect(JSON.parse(made.out)).toMatchObject({ name: "older", state: "running" });
  } finally {
    seen.isOlder = false;
  }
});
