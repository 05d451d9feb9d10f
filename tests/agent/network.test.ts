// What an agent in a sandbox has of its provider and of the network: its own configuration directory, its own keys, and
// a proxy. A real daemon, bubblewrap, real sockets, and a mock of the API.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { COUNTED } from "../../scripts/counted-files.ts";
import type { NewAgent } from "../../src/wire/rpc/agent.ts";
import { killIfThere, readProc } from "../daemon/home.ts";
import { BUN, COUNTING } from "../ours.ts";
import { until } from "../until.ts";
import { type AgentHome, agentHomes } from "./agent-home.ts";
import { AnthropicMock, stalls } from "./anthropic-mock.ts";
import { ConnectProxy } from "./connect-proxy.ts";

const BWRAP = Bun.which("bwrap");
const works = BWRAP !== null && Bun.spawnSync([BWRAP, "--ro-bind", "/", "/", "--unshare-net", "true"]).exitCode === 0;
const PATH = [...(BWRAP === null ? [] : [dirname(BWRAP)]), "/usr/bin", "/bin"].join(":");
/** Under `npm test` our programs write their coverage there, also in a sandbox. */
const COUNTERS = COUNTING.length === 0 ? [] : [COUNTED];
const CLAUDE = [BUN, "--no-env-file", "--no-install", join(import.meta.dir, "small-claude.ts")];
const OPENSSL = Bun.which("openssl");
const KEY = "sk-ant-planted-0123456789";

const home = agentHomes();
const mock = new AnthropicMock();
afterAll(() => mock.stop());

function claude(place: AgentHome, given: Partial<NewAgent> = {}, egress: readonly string[] = []): Promise<string> {
  mkdirSync(place.file("work"), { recursive: true });
  const sandbox = { read: [], write: COUNTERS, network: false, egress };
  const wish = { provider: "claude", command: CLAUDE, cwd: place.file("work"), env: { HOME: place.path, PATH } };
  return place.agent("alpha", { ...wish, workspace: { worktree: false, sandbox }, ...given });
}

/** Sends it a message, and returns its answer. */
async function says(place: AgentHome, id: string, text: string): Promise<string> {
  const { turns } = await place.shown(id);
  await place.say(id, text);
  await place.rests(id, turns + 1);
  return (await place.shown(id)).lastText;
}

function withKeyProxy(place: AgentHome): string {
  const path = place.file("config.toml");
  writeFileSync(
    path,
    '[log]\nsegment_bytes = 2097152\nballast_bytes = 0\n[provider.hidden]\nkind = "claude"\nkey_proxy = true\n',
  );
  return path;
}

/** The proxies that run for this home. */
function proxies(place: AgentHome): number[] {
  return place.ours().filter((pid) => /src\/proxy\/main\.ts/.test(readProc(pid, "cmdline")));
}

test.skipIf(!works)(
  "Claude Code has its own configuration directory in a sandbox; the user's is not writable, and its login stays outside (needs bwrap)",
  async () => {
    const place = home();
    const first = await place.live({ PATH });
    mkdirSync(place.file(".claude"));
    writeFileSync(place.file(".claude/settings.json"), '{"mine":1}');
    writeFileSync(
      place.file(".claude/.credentials.json"),
      '{"claudeAiOauth":{"accessToken":"valid-now","refreshToken":"renews-it"}}',
    );
    const id = await claude(place);
    const look = `cat $CLAUDE_CONFIG_DIR/settings.json; ls -A $CLAUDE_CONFIG_DIR; (: >$CLAUDE_CONFIG_DIR/settings.json) 2>/dev/null && echo written
      ls -A $HOME; echo $CLAUDE_CODE_OAUTH_TOKEN; mkdir -p $HOME/.claude; echo x >$HOME/.claude/settings.json`;
    const seen = (await says(place, id, `sh:${look}`)).split("\n");
    expect(seen.slice(0, 2)).toEqual(['{"mine":1}projects', "settings.json"]);
    expect(seen).toContain("valid-now");
    expect(seen).not.toContain("written");
    expect(seen).not.toContain(".claude");
    expect(place.text(".claude/settings.json")).toBe('{"mine":1}');
    for (const [name, bytes] of place.files())
      if (!name.startsWith(".claude/")) expect([name, bytes.includes("renews-it")]).toEqual([name, false]);
    const projects = `agents/${id}/claude/projects/${place.file("work").replace(/[^A-Za-z0-9]/g, "-")}`;
    expect([...place.files().keys()].filter((name) => name.startsWith(`agents/${id}/claude/`))).toHaveLength(1);
    await place.must("agent.suspend", { id });
    await place.becomes(id, "suspended");
    await place.kill(first);
    await place.live({ PATH });
    await says(place, id, "sh:echo again");
    await place.logged(id, "process.starting", 2);
    expect(await place.lastOf(id, "process.starting")).toMatchObject({ generation: 2, resume: true });
    expect(existsSync(place.file(projects))).toBe(true);
  },
);

test.skipIf(!works)(
  "a sandbox has no loopback and no abstract sockets of this machine; it reaches what is listed, and no name that leads elsewhere (needs bwrap)",
  async () => {
    const place = home();
    await place.live({ PATH });
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("reached") });
    const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("reached") });
    const name = `\0hf-${place.path}`;
    const abstract = Bun.listen({ unix: name, socket: { data: () => undefined } });
    try {
      const id = await claude(place, {}, [`127.0.0.1:${server.port}`, `localhost:${other.port}`]);
      const through = "curl -s --noproxy none.org";
      const tries = [
        `curl -s --noproxy '*' http://127.0.0.1:${server.port} || echo direct: no`,
        `grep -c hf-${place.path} /proc/net/unix`,
        `${through} http://127.0.0.1:${server.port}; echo`,
        `${through} http://127.0.0.1:${other.port}`,
        `${through} http://localhost:${other.port}`,
        `${through} -p https://example.org 2>&1 || echo tunnel: no`,
        "getent hosts example.org || echo names: no",
      ];
      const seen = (await says(place, id, `sh:${tries.join("\n")}`)).split("\n");
      expect(seen).toEqual([
        "direct: no",
        "0",
        "reached",
        expect.stringContaining(`may not reach 127.0.0.1:${other.port}`),
        expect.stringContaining("localhost leads to"),
        "tunnel: no",
        "names: no",
        "",
      ]);
      const direct = await claude(place, {
        name: "beta",
        workspace: { worktree: false, sandbox: { read: [], write: COUNTERS, network: true } },
      });
      expect(await says(place, direct, `sh:curl -s http://127.0.0.1:${server.port}`)).toBe("reached");
      const none = await claude(place, {
        name: "gamma",
        workspace: { worktree: false, sandbox: { read: [], write: COUNTERS, network: false } },
      });
      expect(await says(place, none, `sh:echo $HTTPS_PROXY; curl -s http://127.0.0.1:${server.port} || echo no`)).toBe(
        "\nno\n",
      );
    } finally {
      await Promise.all([server.stop(true), other.stop(true)]);
      abstract.stop(true);
    }
  },
);

test.skipIf(!works)("an agent gets only the keys of its own provider (needs bwrap)", async () => {
  const place = home();
  const keys = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o", GEMINI_API_KEY: "g", CLAUDE_CODE_OAUTH_TOKEN: "t" };
  await place.live({ PATH, ...keys, OTHER_SECRET: "s" });
  const id = await claude(place);
  const seen = await says(place, id, "sh:env | grep -E 'KEY|TOKEN|SECRET' | sort");
  expect(seen).toBe("ANTHROPIC_API_KEY=a\nCLAUDE_CODE_OAUTH_TOKEN=t\n");
});

test.skipIf(!works)(
  "a key that stays outside is in no file, log, tape, argument or variable of the agent, and its requests have it (needs bwrap)",
  async () => {
    const place = home();
    const planted = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: "planted-openai", SOME_SECRET: "planted-some" };
    const env = { PATH, HOLDFAST_CONFIG: withKeyProxy(place), ANTHROPIC_BASE_URL: mock.url, ...planted };
    const daemon = await place.live(env);
    const id = await claude(place, { provider: "hidden" });
    expect(await says(place, id, "hello")).toBe("heard: hello");
    expect(mock.keys.at(-1)).toBe(KEY);
    const seen = await says(
      place,
      id,
      "sh:env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; ls /proc | grep -c '^[0-9]'",
    );
    expect(seen).toContain("ANTHROPIC_API_KEY=held-by-the-proxy");
    for (const value of Object.values(planted)) {
      expect(seen).not.toContain(value);
      for (const [name, bytes] of place.files()) expect([name, bytes.includes(value)]).toEqual([name, false]);
      for (const pid of place.ours().filter((one) => one !== daemon.process.pid)) {
        const said = place.commandOf(pid) + readProc(pid, "environ");
        expect([said, said.includes(value)]).toEqual([said, false]);
      }
    }
    const open = { worktree: false, sandbox: { read: [], write: [], network: true } };
    const refused = await place.ask("agent.new", place.wanted("open", { provider: "hidden", workspace: open }));
    expect(refused).toMatchObject({ ok: false, error: { code: "no-key-proxy" } });
  },
);

test.skipIf(!works)(
  "the proxy outlives the daemon in mid-stream, is started again if it was killed, and ends with its agent (needs bwrap)",
  async () => {
    const place = home();
    const env = { PATH, HOLDFAST_CONFIG: withKeyProxy(place), ANTHROPIC_BASE_URL: mock.url, ANTHROPIC_API_KEY: KEY };
    const first = await place.live(env);
    const id = await claude(place, { provider: "hidden" });
    await stalls(place, mock, id, "a little");
    const [proxy] = proxies(place);
    const { pid } = await place.shown(id);
    await place.kill(first);
    const asked = mock.asked.length;
    mock.release();
    await place.live(env);
    await place.rests(id, 1);
    expect((await place.shown(id)).lastText).toBe("heard: stall: a little");
    expect(mock.asked).toHaveLength(asked); // Nothing was asked again.
    expect([proxies(place), (await place.shown(id)).pid]).toEqual([[Number(proxy)], pid]);
    killIfThere(Number(proxy));
    expect(await says(place, id, "and now?")).toBe("heard: and now?");
    expect(mock.keys.at(-1)).toBe(KEY);
    expect(proxies(place)).toHaveLength(1);
    expect(proxies(place)).not.toContain(Number(proxy));
    expect((await place.shown(id)).pid).toBe(pid);
    await place.must("agent.terminate", { id, reason: "" });
    await until(
      "the proxy has ended",
      () => proxies(place).length === 0,
      () => proxies(place),
    );
  },
);

/** A mock with a certificate for `name`, and the file with that certificate. */
function secureMock(place: AgentHome, name: string): { readonly secure: AnthropicMock; readonly cert: string } {
  const [key, cert] = [place.file("key.pem"), place.file("cert.pem")];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  const names = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  expect(Bun.spawnSync([OPENSSL ?? "", ...words, ...names, "-keyout", key, "-out", cert]).exitCode).toBe(0);
  return { secure: new AnthropicMock({ key: Bun.file(key), cert: Bun.file(cert) }), cert };
}

test.skipIf(!works || OPENSSL === null)(
  "the proxy speaks TLS to the service and checks its certificate; a tunnel passes the agent's own TLS (needs bwrap and openssl)",
  async () => {
    const place = home();
    const { secure, cert } = secureMock(place, "localhost");
    try {
      const env = { PATH, HOLDFAST_CONFIG: withKeyProxy(place), ANTHROPIC_API_KEY: KEY, NODE_EXTRA_CA_CERTS: cert };
      const first = await place.live({ ...env, ANTHROPIC_BASE_URL: `https://localhost:${secure.port}` });
      const id = await claude(place, { provider: "hidden" }, [`127.0.0.1:${secure.port}`]);
      expect(await says(place, id, "hello")).toBe("heard: hello");
      expect(secure.keys).toEqual([KEY]);
      const tunnel = `curl -sk --noproxy none.org -o /dev/null -w '%{http_connect} %{http_code}' https://127.0.0.1:${secure.port}`;
      expect(await says(place, id, `sh:${tunnel}`)).toBe("200 200");
      await place.kill(first);
      await place.live({ ...env, ANTHROPIC_BASE_URL: `https://127.0.0.1:${secure.port}` });
      const other = await claude(place, { name: "beta", provider: "hidden" });
      expect(await says(place, other, "hello")).toContain("cannot be reached"); // It is not in the certificate.
      expect(secure.keys).toEqual([KEY]);
    } finally {
      await secure.stop();
    }
  },
);

test.skipIf(!works || OPENSSL === null)(
  "PS5 behind a proxy of the user's, service and tunnels go through it, its password stays outside, and NO_PROXY counts (needs bwrap and openssl)",
  async () => {
    const place = home();
    const { secure, cert } = secureMock(place, "llm.invalid"); // No name server knows it.
    const corporate = await ConnectProxy.on(secure.port, "me:p@ssword-planted");
    try {
      const proxied = {
        HTTPS_PROXY: `http://me:p%40ssword-planted@127.0.0.1:${corporate.port}`,
        NO_PROXY: "10.0.0.0/8",
      };
      const service = { ANTHROPIC_BASE_URL: "https://llm.invalid", ANTHROPIC_API_KEY: KEY, NODE_EXTRA_CA_CERTS: cert };
      const env = { PATH, HOLDFAST_CONFIG: withKeyProxy(place), ...service };
      const first = await place.live({ ...env, ...proxied });
      const id = await claude(place, { provider: "hidden" }, ["code.invalid", `127.0.0.1:${secure.port}`]);
      expect(await says(place, id, "hello")).toBe("heard: hello");
      expect(secure.keys).toEqual([KEY]);
      const curl = "curl -sk --noproxy none.org -o /dev/null -w '%{http_connect} %{http_code}\\n'";
      const tries = `${curl} https://code.invalid; ${curl} https://127.0.0.1:${secure.port}; ${curl} https://other.invalid; env`;
      const [tunnel, loopback, refused, ...seen] = (await says(place, id, `sh:${tries}`)).split("\n");
      expect([tunnel, loopback, refused]).toEqual(["200 200", "200 200", "403 000"]);
      const lines = corporate.asked.map(({ line }) => line);
      expect(new Set(lines)).toEqual(
        new Set(["CONNECT llm.invalid:443 HTTP/1.1", "CONNECT code.invalid:443 HTTP/1.1"]),
      );
      expect(seen.join("\n")).not.toContain("planted");
      for (const [name, bytes] of place.files())
        expect([name, bytes.includes("ssword-planted")]).toEqual([name, false]);
      const others = place.ours().filter((pid) => pid !== first.process.pid);
      const given = others.map((pid) => place.commandOf(pid) + readProc(pid, "environ")).join("\n");
      expect([given.includes("src/proxy/main.ts"), given.includes("ssword-planted")]).toEqual([true, false]);
      await place.kill(first);
      await place.live({ ...env, ...proxied, NO_PROXY: "llm.invalid" });
      const direct = await claude(place, { name: "beta", provider: "hidden" });
      expect(await says(place, direct, "hello")).toContain("llm.invalid:443 cannot be reached");
      expect(corporate.asked).toHaveLength(lines.length);
    } finally {
      await Promise.all([secure.stop(), corporate.stop()]);
    }
  },
);

test.skipIf(!works)("a program that the sandbox does not show is reported at once (needs bwrap)", async () => {
  const place = home();
  await place.live({ PATH });
  const program = place.file("gone-soon");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  const id = await claude(place, { command: [program] });
  rmSync(program);
  await place.say(id, "go");
  const { note } = await place.becomes(id, "crashed");
  expect(note).toContain(program);
  expect(note).toContain("--bind-ro");
});

test("hosts that are none are refused before an agent is created", async () => {
  const place = home();
  await place.live({ PATH });
  mkdirSync(place.file("work"));
  const workspace = { worktree: false, sandbox: { read: [], write: [], network: false, egress: ["no host"] } };
  const wish = place.wanted("alpha", { cwd: place.file("work"), workspace });
  expect(await place.ask("agent.new", wish)).toMatchObject({ ok: false, error: { code: "bad-host" } });
});
