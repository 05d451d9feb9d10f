// Tests of the web host as a program.
import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../../scripts/build.ts";
import { ROOT } from "../../scripts/files.ts";
import { ours, oursAt } from "../../tests/ours.ts";
import { ANOTHER_RUNS, HEARTBEAT_VARIABLE, type HeartbeatMessage, HeartbeatReader } from "../wire/heartbeat.ts";
import { realSockets } from "../world/real/socket.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function newHome(config = ""): string {
  const home = mkdtempSync(join(tmpdir(), "holdfast-web-"));
  cleanups.push(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, "run"));
  writeFileSync(join(home, "config.toml"), config);
  return home;
}

/** Starts the program; `said` resolves once it has logged something that matches. */
function start(home: string, more: Readonly<Record<string, string>> = {}, argv = ours("src/web/main.ts", home)) {
  const env = { PATH: process.env["PATH"] ?? "", HOLDFAST_CONFIG: join(home, "config.toml"), ...more };
  const child = Bun.spawn(argv, {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  cleanups.push(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  const words = child.stderr.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  let text = "";
  const said = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(text)) {
      const next = await words.next();
      if (next.done) throw new Error(`it ended after: ${text}`);
      text += next.value;
    }
    return text;
  };
  return { child, said };
}

const urlIn = async (home: string): Promise<string> => JSON.parse(await Bun.file(`${home}/run/web.json`).text()).url;

describe("the program", () => {
  test("serves, survives SIGHUP, and its next process after SIGKILL has the same address", async () => {
    const home = newHome();
    const first = start(home);
    await first.said(/serves this home's page/);
    const url = await urlIn(home);
    first.child.kill("SIGHUP");
    expect((await fetch(url, { redirect: "manual" })).status).toBe(200);
    first.child.kill("SIGKILL");
    await first.child.exited;
    const second = start(home);
    await second.said(/serves this home's page/);
    expect(await urlIn(home)).toBe(url);
    second.child.kill("SIGTERM");
    expect(await second.child.exited).toBe(0);
  });

  test("its bundle carries the page's files, and names all of their sources", async () => {
    const home = newHome();
    const sources = await bundle(ROOT, "web", join(home, "built"));
    for (const source of ["src/page/index.html", "src/page/main.tsx"]) expect(sources).toContain(join(ROOT, source));
    await start(home, {}, oursAt(join(home, "built"), "main.js", home)).said(/serves this home's page/);
    const url = await urlIn(home);
    expect(await (await fetch(url)).text()).toMatch(/<meta name="nonce" content="[\w+/]+=*"/);
    expect((await fetch(`${url}main.js`)).headers.get("content-type")).toStartWith("text/javascript");
  });

  test("a second one on the same home exits, which is not a crash", async () => {
    const home = newHome();
    await start(home).said(/serves/);
    expect(await start(home).child.exited).toBe(ANOTHER_RUNS);
  });

  test("a wrong configuration is reported and does not take the page away", async () => {
    const { said } = start(newHome("[web]\nport = 'x'"));
    expect(await said(/serves/)).toMatch(/config\.toml:2:1: web\.port is "x"\. It takes a whole number/);
  });

  test("a disabled page and an invalid home have their own exit codes", async () => {
    expect(await start(newHome("web.enabled = false")).child.exited).toBe(0);
    expect(await start("not/a/full/path").child.exited).toBe(2);
    expect(await start("/none/such/home").child.exited).toBe(1);
  });
});

test("WD-4 it sends the watchdog its identity, that it is live, heartbeats, and its exit", async () => {
  const home = newHome();
  const heard: HeartbeatMessage[] = [];
  const left = Promise.withResolvers<void>();
  const live = Promise.withResolvers<void>();
  const listener = await realSockets().listen(`${home}/run/watchdog.sock`, () => {
    const reader = new HeartbeatReader();
    const bytes = (more: Uint8Array) => {
      heard.push(...(reader.push(more) ?? []));
      const isLive = heard.some((message) => message.type === "live" || (message.type === "hello" && message.live));
      if (isLive && heard.some(({ type }) => type === "beat")) live.resolve();
    };
    return { bytes, closed: left.resolve };
  });
  cleanups.push(() => listener.close());
  const { child } = start(home, { [HEARTBEAT_VARIABLE]: "100" });
  await live.promise;
  child.kill("SIGTERM");
  await left.promise;
  expect(heard[0]).toMatchObject({ type: "hello", name: "web", pid: child.pid });
  expect(heard.at(-1)).toEqual({ type: "bye", code: 0 });
});
