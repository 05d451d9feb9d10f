// Which keys an agent gets, and how its program reaches its service from a sandbox.
import { expect, test } from "bun:test";
import type { Json } from "../../base/json.ts";
import type { ProviderName, Recipe } from "./provider.ts";
import { canHideKey, serviceAccess, variablesFor, withoutHidden } from "./provider-access.ts";

const NAMES = ["PATH", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "MY_TOKEN"];
const PROXY = "http://127.0.0.1:1";

function recipe(
  provider: ProviderName,
  command: readonly string[],
  options: Record<string, Json> = { keys: null },
): Recipe {
  return { provider, model: null, command, flags: [], permissionMode: null, options };
}

test("PA1 an agent gets the keys of its own provider, and none of another", () => {
  const given = (one: Recipe) => variablesFor(one, NAMES);
  const claude = ["PATH", "MY_TOKEN", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];
  expect(given(recipe("claude", []))).toEqual(claude);
  expect(given(recipe("claude", ["/opt/other"]))).toEqual(claude);
  expect(given(recipe("acp", ["/usr/bin/claude-code-acp"]))).toEqual(claude);
  expect(given(recipe("command", ["codex", "exec"]))).toEqual(["PATH", "MY_TOKEN", "OPENAI_API_KEY", "CODEX_API_KEY"]);
  expect(given(recipe("acp", ["gemini"]))).toEqual(["PATH", "MY_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY"]);
  for (const command of [["opencode", "acp"], ["constructor"], []])
    expect(given(recipe("acp", command))).toEqual(["PATH", "MY_TOKEN"]);
});

test("PA1 the configuration can name other keys for a provider", () => {
  const named = recipe("acp", ["opencode"], { keys: ["OPENAI_API_KEY", "OTHER_KEY"] });
  expect(variablesFor(named, NAMES)).toEqual(["PATH", "MY_TOKEN", "OPENAI_API_KEY", "OTHER_KEY"]);
});

test("PA2 an agent of an older version keeps what it had", () => {
  expect(variablesFor(recipe("acp", ["opencode"], {}), NAMES)).toEqual(NAMES);
});

test("PA3 the usual service is reached by a tunnel, one that was chosen through the proxy", () => {
  const access = (one: Recipe, env: Record<string, string>) => serviceAccess(one, env, PROXY);
  const claude = recipe("claude", []);
  expect(access(claude, { ANTHROPIC_API_KEY: "k" })).toEqual({
    ...{ hosts: ["api.anthropic.com"], service: null, variables: {} },
  });
  expect(access(claude, { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:8" })).toEqual({
    hosts: [],
    service: { url: "http://127.0.0.1:8", identity: {} },
    variables: { ANTHROPIC_BASE_URL: PROXY },
  });
  expect(access(recipe("scripted", ["x"]), {})).toEqual({ hosts: [], service: null, variables: {} });
  expect(access(recipe("acp", ["codex-acp"]), {}).hosts).toContain("api.openai.com");
});

test("PA3 a key that stays outside is added by the proxy, and the program gets a word in its place", () => {
  const hidden = recipe("claude", [], { keys: null, key_proxy: true });
  const env = { PATH: "/bin", ANTHROPIC_API_KEY: "real", CLAUDE_CODE_OAUTH_TOKEN: "other" };
  const { service, variables } = serviceAccess(hidden, env, PROXY);
  expect(service).toEqual({ url: "https://api.anthropic.com", identity: { "x-api-key": "real" } });
  expect({ ...withoutHidden(hidden, env), ...variables }).toEqual({
    ...{ PATH: "/bin", ANTHROPIC_API_KEY: "held-by-the-proxy", ANTHROPIC_BASE_URL: PROXY },
  });
  const login = serviceAccess(hidden, { CLAUDE_CODE_OAUTH_TOKEN: "t" }, PROXY);
  expect(login.service?.identity).toEqual({ authorization: "Bearer t" });
  expect(login.variables).toMatchObject({ CLAUDE_CODE_OAUTH_TOKEN: "held-by-the-proxy" });
  expect(serviceAccess(hidden, {}, PROXY).service?.identity).toEqual({});
  expect(withoutHidden(recipe("claude", []), env)).toBe(env);
  expect(canHideKey(hidden)).toBe(true);
  expect(canHideKey(recipe("acp", ["gemini"]))).toBe(false);
});
