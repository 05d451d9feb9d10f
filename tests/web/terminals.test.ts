// Terminals in a page: real programs, a real web host and daemon, and a real WebSocket, with kills in between.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HolderClient, type HolderEvents } from "../../src/wire/holder/client.ts";
import { encodeFrame } from "../../src/wire/holder/frames.ts";
import * as protocol from "../../src/wire/holder/protocol.ts";
import { MAX_UNTAKEN, streamMessage, type WebState } from "../../src/wire/page/messages.ts";
import type { StatusResult } from "../../src/wire/rpc/rpc.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { withPage } from "../small-home.ts";
import { until } from "../until.ts";
import { Tab } from "./tab.ts";

const PATIENCE_MS = 300_000;
const home = new Home();
let origin = "";
let token = "";

beforeAll(async () => {
  withPage(join(home.path, "config.toml"), "");
  await home.ok("up");
  const url = new URL(JSON.parse(await home.ok("open", "--json")).url);
  const link = new URLSearchParams(url.hash.slice(1)).get("link");
  origin = url.origin;
  const answer = await fetch(`${origin}/api/session`, {
    ...{ method: "POST", body: JSON.stringify({ link }), headers: { origin } },
  });
  token = JSON.parse(await answer.text()).token;
}, PATIENCE_MS);
afterAll(endAll, PATIENCE_MS);

const terminal = async (name: string, script: string): Promise<string> =>
  JSON.parse(await home.ok("new", "--json", name, "--", "sh", "-c", script)).id;

/** A window of the page: it connects again for as long as the test wants. */
class Window {
  tab: Tab;
  readonly client: HolderClient;
  seen = "";
  bytes = 0;
  exit: protocol.HolderExit | undefined;
  #over = false;

  constructor(tab: Tab, id: string, from = 0, events: HolderEvents = {}) {
    this.tab = tab;
    this.client = new HolderClient(
      (wire) => this.tab.dial(id)(wire),
      { token: "", writer: `page-${id}`, from },
      {
        output: (_, bytes) => {
          this.bytes += bytes.length;
          this.seen = (this.seen + new TextDecoder().decode(bytes)).slice(-10_000);
        },
        ended: (exit) => {
          this.exit = exit;
        },
        lost: () => void this.#again(),
        ...events,
      },
    );
  }

  static async open(tab: Tab, id: string, from?: number): Promise<Window> {
    const window = new Window(tab, id, from);
    expect(await window.client.connect()).toMatchObject({ ok: true });
    return window;
  }

  shows(text: string): Promise<unknown> {
    return until(
      `the window shows ${text}`,
      () => this.seen.includes(text),
      () => this.seen.slice(-200),
    );
  }

  type(text: string) {
    return this.client.input(new TextEncoder().encode(text));
  }

  close(): void {
    this.#over = true;
    this.client.close();
  }

  async #again(): Promise<void> {
    const joined = async () => {
      if (this.#over || this.exit !== undefined) return true;
      try {
        this.tab = await Tab.of(origin, token);
        return (await this.client.connect()).ok;
      } catch (error) {
        if (error instanceof Error) return false; // The host is not back yet.
        throw error;
      }
    };
    await until("the window is connected again", joined, () => this.tab.seen.slice(-3));
  }
}

const status = async () => (await home.status()) as StatusResult;
/** Tests kill more often than a home counts as healthy. */
const kill = (pid: number | null) => {
  rmSync(join(home.path, "recovery/crash-history.json"), { force: true });
  if (pid !== null) process.kill(pid, "SIGKILL");
};

async function stateIn(tab: Tab): Promise<WebState> {
  const state = await tab.call("web.state");
  if (!state.ok) throw new Error(state.error.message);
  return state.value as WebState;
}

test(
  "no key is lost or doubled, however often the web host and the daemon are killed",
  async () => {
    const id = await terminal("keys", `stty raw -echo; echo ready; exec cat > '${home.path}/keys'`);
    const window = await Window.open(await Tab.of(origin, token), id);
    await window.shows("ready");
    const typed: string[] = [];
    const answers: Promise<unknown>[] = [];
    const key = () => {
      typed.push(`${typed.length}.`);
      const answer = window.type(typed.at(-1) ?? "");
      answers.push(answer);
      return answer;
    };
    for (let kills = 0; kills < amount(4, 50); kills += 1) {
      const { web, daemon } = await status();
      for (let at = 0; at < 20; at += 1) void key();
      kill(kills % 2 === 0 ? web.pid : daemon.pid);
      for (let at = 0; at < 20; at += 1) void key();
      expect(await key()).toMatchObject({ ok: true });
      const back = async () => {
        const now = await status();
        return now.web.pid !== null && (kills % 2 === 0 ? now.web.pid !== web.pid : now.daemon.pid !== daemon.pid);
      };
      await until("what was killed runs again", back, status);
    }
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ ok: true });
    const written = () => readFileSync(join(home.path, "keys"), "utf8");
    await until("all of it has arrived", () => written().length >= typed.join("").length, written);
    expect(written()).toBe(typed.join(""));
    window.close();
  },
  PATIENCE_MS,
);

test(
  "HS3 a flooding terminal that the page does not take delays neither another one nor a call",
  async () => {
    const [flood, quiet] = [await terminal("flood", "exec yes"), await terminal("quiet", "exec cat")];
    const tab = await Tab.of(origin, token);
    tab.takes = false;
    const flooded = await Window.open(tab, flood);
    await until(
      "it is paused",
      () => flooded.bytes > MAX_UNTAKEN / 2,
      () => flooded.bytes,
    );
    const other = await Window.open(tab, quiet);
    expect(await other.type("hello\r")).toMatchObject({ ok: true });
    await other.shows("hello\r\nhello");
    expect(await tab.call("prompt.list")).toMatchObject({ ok: true });
    expect(flooded.bytes).toBeLessThan(2 * MAX_UNTAKEN);
    tab.takeAll();
    await until(
      "it goes on",
      () => flooded.bytes > 4 * MAX_UNTAKEN,
      () => flooded.bytes,
    );
    flooded.close();
    other.close();
    await home.ok("kill", "flood");
  },
  PATIENCE_MS,
);

test(
  "HS2 what is not a window's closes that stream alone, and web.screen says how to draw it",
  async () => {
    const id = await terminal("one", "exec cat");
    const tab = await Tab.of(origin, token);
    const other = await Window.open(tab, id);
    const hello = protocol.jsonFrame(protocol.HELLO, { v: 1, token: "", writer: "w" });
    const wrong = [
      encodeFrame(protocol.INPUT, new Uint8Array(12)), // Before the hello.
      encodeFrame(protocol.HELLO, new TextEncoder().encode("{")),
      new Uint8Array([0xff, 0xff, 0xff, 0xff, 1]),
      Buffer.concat([hello, protocol.jsonFrame(protocol.END_INPUT, {})]),
      Buffer.concat([hello, hello]),
    ];
    for (const [at, bytes] of wrong.entries()) {
      tab.say({ type: "open", stream: 1000 + at, terminal: id });
      tab.raw(streamMessage(1000 + at, bytes));
      const is = (why: string | undefined) => why === "page.frames";
      await tab.sees("closed", (seen) => seen.type === "closed" && seen.stream === 1000 + at && is(seen.why?.code));
    }
    expect(await other.type("still here\r")).toMatchObject({ ok: true });
    const screen = await tab.call("web.screen", { terminal: id, cols: 80, rows: 24 });
    expect(screen).toMatchObject({ ok: true, value: { from: 0 } });
    expect(await tab.call("web.screen", { terminal: "../x", cols: 80, rows: 24 })).toMatchObject({ ok: false });
    expect(JSON.stringify(tab.seen)).not.toContain(JSON.parse(spec(id)).token);
    other.close();
  },
  PATIENCE_MS,
);

const spec = (id: string) => readFileSync(join(home.path, "terminals", id, "holder.json"), "utf8");

test(
  "EH1 a program that has ended shows its output and how it ended, as if its holder were there",
  async () => {
    const id = await terminal("ends", "echo first; echo last; exit 3");
    await until(
      "its holder is gone",
      async () => (await home.listed("ends")).state === "ended",
      () => home.listed("ends"),
    );
    const tab = await Tab.of(origin, token);
    const window = await Window.open(tab, id);
    const closed = await tab.sees("closed");
    expect([window.exit?.code, closed.exit?.code, closed.why]).toEqual([3, 3, null]);
    expect(window.seen).toBe("first\r\nlast\r\n");
    const later = await Window.open(tab, id, "first\r\n".length);
    await later.shows("last");
    expect(later.seen).toBe("last\r\n");
  },
  PATIENCE_MS,
);

test(
  "EH2 of a long tape no more is read than the page takes, and all of it comes",
  async () => {
    const id = await terminal("long", "head -c 1000000 /dev/zero | tr '\\0' x");
    const ended = async () => (await home.listed("long")).state === "ended";
    await until("its holder is gone", ended, () => home.listed("long"));
    const tab = await Tab.of(origin, token);
    tab.takes = false;
    const window = await Window.open(tab, id);
    await until(
      "it is paused",
      () => window.bytes > MAX_UNTAKEN / 2,
      () => window.bytes,
    );
    expect(await tab.call("web.reports")).toMatchObject({ ok: true });
    expect([window.bytes < 2 * MAX_UNTAKEN, window.exit]).toEqual([true, undefined]);
    tab.takeAll();
    await tab.sees("closed");
    expect([window.bytes, window.exit?.code]).toEqual([1_000_000, 0]);
  },
  PATIENCE_MS,
);

test(
  "while the daemon is down, terminals go on, the page says so, and catches up by itself",
  async () => {
    const id = await terminal("stays", "exec cat");
    const tab = await Tab.of(origin, token);
    const window = await Window.open(tab, id);
    tab.say({ type: "watch", topics: ["*"] });
    const is = (up: boolean) => tab.sees("daemon", (seen) => seen.type === "daemon" && seen.up === up);
    await is(true);
    const { watchdog, daemon } = await status();
    process.kill(watchdog.pid ?? 0, "SIGSTOP"); // It would start another one.
    kill(daemon.pid);
    await is(false);
    expect((await stateIn(tab)).daemon.up).toBe(false);
    expect(await window.type("without it\r")).toMatchObject({ ok: true });
    await window.shows("without it\r\nwithout it");
    expect((await Window.open(tab, id)).client.connected).toBe(true);
    expect(await tab.call("terminal.list")).toMatchObject({
      ok: false,
      error: { code: expect.stringMatching(/^daemon\.(?:down|gone)$/) },
    });
    tab.seen.splice(0);
    process.kill(watchdog.pid ?? 0, "SIGCONT");
    await is(true);
    const listed = async () => JSON.stringify(await tab.call("terminal.list"));
    await until("the list is there again", async () => (await listed()).includes('"stays"'), listed);
    expect(await home.ok("new", "-d", "later", "--", "true")).toBeDefined();
    await tab.sees("notice", (seen) => seen.type === "notice" && seen.topic.startsWith("terminal."));
    window.close();
  },
  PATIENCE_MS,
);
