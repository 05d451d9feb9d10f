// Being called, with a real daemon, real agents and a push service of our own.
import { afterEach, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { freshId } from "../agent/agent-home.ts";
import { until } from "../until.ts";
import { linesIn, NotifyHome } from "./notify-home.ts";
import { PushServer } from "./push-server.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function homeWith(config = ""): Promise<NotifyHome> {
  const push = await PushServer.open();
  closing.push(() => push.close());
  const home = new NotifyHome(push, config);
  closing.push(() => home.close());
  return home;
}

async function asks(home: NotifyHome, words: string) {
  const agent = await home.agent("builder");
  await home.say(agent, `>> ask Bash ${words}`);
  return { agent, prompt: await home.prompt() };
}

test("a prompt is shown by each browser with its whole input, and replaced by who answered it", async () => {
  const home = await homeWith();
  await home.live();
  const [phone, desk] = [await home.subscribed("phone"), await home.subscribed("desk")];
  const { prompt } = await asks(home, "rm -rf build");
  for (const browser of [phone, desk])
    expect(await home.shows(browser, prompt.id, "question")).toMatchObject({
      title: "builder asks for Bash",
      body: "command: rm -rf build",
      actions: ["allow", "deny"],
    });
  const answer = { prompt: prompt.id, answer: freshId(), decision: "allow", message: "", always: false } as const;
  expect(await home.as("phone", "prompt.answer", answer)).toMatchObject({ ok: true });
  for (const browser of [phone, desk])
    expect(await home.shows(browser, prompt.id, "end")).toMatchObject({
      title: "builder: Bash was allowed",
      body: "Answered on phone.",
      actions: [],
    });
  expect(home.push.wrong).toEqual([]);
  expect(phone.arrived[0]?.ttl).toBeGreaterThan(6 * 86_400);
  expect(home.push.keys.size).toBe(1);
  expect(statSync(home.file("recovery/push-key.json")).mode & 0o777).toBe(0o600);
});

test("a browser that is signed out, unsubscribes or is gone is called no more, and only a browser can subscribe", async () => {
  const home = await homeWith();
  await home.live();
  const gone = await home.subscribed("gone");
  const left = await home.subscribed("left");
  const stays = await home.subscribed("stays");
  const known = home.push.subscribe("shell");
  expect(await home.ask("push.subscribe", known)).toMatchObject({ ok: false, error: { code: "not-a-browser" } });
  expect(await home.as("left", "push.unsubscribe", {})).toMatchObject({ ok: true, value: { removed: 1 } });
  const device = (await home.must("device.list", {})).find(({ name }) => name === "gone");
  await home.must("device.revoke", { id: device?.id ?? "" });
  home.push.browsers.delete("/p/stays");
  const { prompt } = await asks(home, "ls");
  await until(
    "nobody is left",
    async () => (await home.must("notify.status", {})).targets.length === 0,
    () => home.must("notify.status", {}),
  );
  for (const browser of [gone, left, stays]) expect(browser.shown.has(prompt.id)).toBe(false);
});

test("endpoints that are no https address, or lead to this machine, are refused; a wrong key too", async () => {
  const home = await homeWith();
  await home.live();
  await home.letIn("phone");
  const good = home.push.subscribe("phone");
  const bad = [
    "https://127.0.0.1/x",
    "https://localhost/x",
    "https://[::1]/x",
    "http://example.com/x",
    "https://10.0.0.1/",
  ];
  for (const endpoint of bad)
    expect(await home.as("phone", "push.subscribe", { ...good, endpoint })).toMatchObject({
      ok: false,
      error: { code: "bad-endpoint" },
    });
  const wrongKey = { ...good, p256dh: "A".repeat(87) };
  expect(await home.as("phone", "push.subscribe", wrongKey)).toMatchObject({ ok: false, error: { code: "bad-key" } });
  const malformed = { ...good, auth: "short" };
  expect(await home.as("phone", "push.subscribe", malformed)).toMatchObject({
    ok: false,
    error: { code: "bad-params" },
  });
  expect(await home.as("phone", "push.key", {})).toMatchObject({
    ok: true,
    value: { key: expect.stringMatching(/^B[\w-]{86}$/) },
  });
});

test("a hostile push service delays nothing: endless and redirecting answers are given up, and one that hangs delays no other", async () => {
  const home = await homeWith();
  await home.live();
  const phone = await home.subscribed("phone");
  const endless = () =>
    new Response(new ReadableStream({ pull: (out) => out.enqueue(new Uint8Array(65_536)) }), { status: 503 });
  const answers = [
    () => new Response(null, { status: 302, headers: { Location: "https://127.0.0.1:1/" } }),
    endless,
    () => new Response(null, { status: 429, headers: { "Retry-After": "0" } }),
  ];
  home.push.before = () => answers.shift()?.();
  const { prompt } = await asks(home, "ls");
  await home.shows(phone, prompt.id, "question");
  expect(answers).toEqual([]);
  const desk = await home.subscribed("desk");
  await home.shows(desk, prompt.id, "question");
  home.push.before = (path) => (path === "/p/phone" ? new Promise<Response>(() => undefined) : undefined);
  expect(await home.answer(prompt.id)).toMatchObject({ ok: true });
  await home.shows(desk, prompt.id, "end"); // The other one hangs meanwhile.
  expect(await home.ask("notify.status", {})).toMatchObject({ ok: true });
  expect(phone.shown.get(prompt.id)?.kind).toBe("question");
  expect(phone.shown.size).toBe(1);
});

test("`[notify] command` gets each prompt and its end as JSON", async () => {
  const home = await homeWith();
  const file = join(home.path, "called");
  const config = home.file(".config/holdfast/config.toml");
  await Bun.write(config, `${await Bun.file(config).text()}${NotifyHome.recorder(file)}`);
  await home.live();
  const { prompt, agent } = await asks(home, "ls");
  await until(
    "it was called",
    () => linesIn(file).length === 1,
    () => [linesIn(file), home.daemon.said()],
  );
  await home.answer(prompt.id, "deny");
  await until(
    "it was called again",
    () => linesIn(file).length === 2,
    () => linesIn(file),
  );
  expect(linesIn(file)).toMatchObject([
    { v: 1, kind: "question", tag: prompt.id, prompt: { id: prompt.id, agent, name: "builder", tool: "Bash" } },
    { v: 1, kind: "end", tag: prompt.id, prompt: { decision: "deny" }, body: "Answered in a shell." },
  ]);
  const tested = await home.must("notify.test", {});
  expect(tested).toMatchObject([{ id: "command", ok: true }]);
  expect(linesIn(file).at(-1)).toMatchObject({ kind: "test" });
});

test("`[notify] url` gets the same by POST, and again after the server failed", async () => {
  const got: unknown[] = [];
  const statuses = [500, 503];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const status = statuses.shift() ?? 204;
      if (status === 204) got.push(await request.json());
      return new Response(null, { status });
    },
  });
  closing.push(() => server.stop(true));
  const home = await homeWith();
  const config = home.file(".config/holdfast/config.toml");
  const host = `127.0.0.1:${server.port}`;
  const before = (await Bun.file(config).text()).replace("allow = [", `allow = ["${host}", `);
  await Bun.write(config, `${before}[notify]\nurl = "http://${host}/me?token=x"\n`);
  await home.live();
  const { prompt } = await asks(home, "ls");
  await until(
    "it was called",
    () => got.length === 1,
    () => [got, home.daemon.said()],
  );
  await home.answer(prompt.id);
  await until(
    "it was called again",
    () => got.length === 2,
    () => got,
  );
  expect(got).toMatchObject([
    { kind: "question", tag: prompt.id, actions: [] },
    { kind: "end", tag: prompt.id },
  ]);
  const { targets } = await home.must("notify.status", {});
  expect(targets).toMatchObject([{ id: "url", name: host, failures: 0, waiting: 0 }]);
});
