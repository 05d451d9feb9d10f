// A browser gets in by a link, is seen by the daemon as itself, and is signed out: real processes and requests, with
// kills in between.
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { CLOSE, type WebState } from "../../src/wire/page/messages.ts";
import type { StatusResult } from "../../src/wire/rpc/rpc.ts";
import { withPage } from "../small-home.ts";
import { until } from "../until.ts";
import { Tab } from "../web/tab.ts";
import { endAll, Home } from "./terminal-home.ts";

afterAll(endAll, 180_000);

async function homeWithPage(): Promise<Home> {
  const home = new Home();
  withPage(join(home.path, "config.toml"), "");
  await home.ok("up");
  return home;
}

async function link(home: Home): Promise<URL> {
  return new URL(JSON.parse(await home.ok("open", "--json")).url);
}

function post(url: URL, path: string, body: unknown): Promise<Response> {
  const headers = { origin: url.origin, "user-agent": "Browser/1" };
  return fetch(`${url.origin}${path}`, { method: "POST", body: JSON.stringify(body), headers });
}

const codeOf = (url: URL) => new URLSearchParams(url.hash.slice(1)).get("link") ?? "";
const signIn = (url: URL) => post(url, "/api/session", { link: codeOf(url) });
/** What a browser would make of it. */
const read = async (answer: Response) => JSON.parse(await answer.text());
/** As the page does: a link stays unused while the daemon does not answer. */
async function tokenIn(url: URL): Promise<string> {
  let said: { token?: string; code?: string } = {};
  const answered = async () => {
    said = await read(await signIn(url));
    return !(said.code ?? "").startsWith("daemon.");
  };
  await until("the daemon answers the link", answered, () => said);
  if (said.token === undefined) throw new Error(`not signed in: ${JSON.stringify(said)}`);
  return said.token;
}
/** How the host closes a tab with this token; undefined if it is welcome. */
async function refusal(url: URL, token: string): Promise<number | undefined> {
  const tab = new Tab(url.origin);
  await tab.opened;
  tab.say({ type: "hello", token });
  const code = await Promise.race([tab.closed.then((closed) => closed.code), tab.sees("welcome")]);
  tab.close();
  return typeof code === "number" ? code : undefined;
}

async function stateIn(tab: Tab): Promise<WebState> {
  const state = await tab.call("web.state");
  if (!state.ok) throw new Error(state.error.message);
  return state.value as WebState;
}

test("a link works once, survives a kill of the daemon, and its browser is listed and signed out", async () => {
  const home = await homeWithPage();
  const url = await link(home);
  const { daemon } = (await home.status()) as StatusResult;
  process.kill(daemon.pid, "SIGKILL"); // What was printed is durable.
  const pidNow = async () => ((await home.status()) as StatusResult).daemon.pid;
  await until("another daemon runs", async () => ![null, daemon.pid].includes(await pidNow()), pidNow);
  const token = await tokenIn(url);
  const open = await Tab.of(url.origin, token);
  const again = await signIn(url);
  expect([again.status, (await read(again)).hint]).toEqual([409, "Get a new one: holdfast open"]);

  const devices = JSON.parse(await home.ok("devices", "ls", "--json"));
  expect(devices).toMatchObject([{ name: "Browser/1" }]);
  expect(JSON.stringify(devices)).not.toContain(token);
  const other = await tokenIn(await link(home));
  const { err } = await home.run("devices", "revoke", devices[0].id.slice(0, 8));
  expect(err).toContain("signed out: Browser/1");
  expect((await open.closed).code).toBe(CLOSE.signedOut); // At once, although it asks for nothing.
  expect([await refusal(url, token), await refusal(url, other)]).toEqual([CLOSE.signedOut, undefined]);
  await home.ok("devices", "revoke", "--all");
  expect(await refusal(url, other)).toBe(CLOSE.signedOut);
});

test("a browser leaves safe mode, and no secret of it is in any file of the home", async () => {
  const home = await homeWithPage();
  const url = await link(home);
  const token = await tokenIn(url);
  await Bun.write(join(home.path, "recovery/safe-mode.json"), '{"active":true,"reason":"a test","since":""}');
  const tab = await Tab.of(url.origin, token);
  const seen = async () => (await stateIn(tab)).safeMode.active;
  await until("the page shows it", async () => (await seen()) === true, seen);
  expect(await tab.call("safe-mode.exit")).toEqual({ ok: true, value: { active: false } });
  await until("the page shows that it is over", async () => (await seen()) === false, seen);
  const found = Bun.spawnSync(["grep", "-rlE", `${token}|${codeOf(url)}`, home.path]).stdout.toString();
  expect(found).toBe("");
});

test("while the daemon is stopped, the page says so to a browser that is signed in, and to nobody else", async () => {
  const home = await homeWithPage();
  const url = await link(home);
  const token = await tokenIn(url);
  const { daemon } = (await home.status()) as StatusResult;
  const tab = await Tab.of(url.origin, token);
  tab.say({ type: "watch", topics: ["*"] });
  await tab.sees("daemon", (message) => message.type === "daemon" && message.up);
  process.kill(daemon.pid, "SIGSTOP");
  expect((await stateIn(tab)).daemon.up).toBe(false);
  expect(await refusal(url, "0".repeat(64))).toBe(CLOSE.signedOut);
  process.kill(daemon.pid, "SIGCONT");
});
