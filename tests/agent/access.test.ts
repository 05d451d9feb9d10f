// What a process of an agent is given when it starts: variables, and an order for its proxy. Agents of older versions
// keep what they had.
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "../../src/base/json.ts";
import type { Sandbox } from "../../src/core/agent/workspace.ts";
import { claudeState } from "../../src/daemon/agent/claude-state.ts";
import { launchAccess, proxyPlaces } from "../../src/daemon/agent/proxies.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realSelf } from "../../src/world/self.ts";
import { AgentFixture, planFor } from "./house.ts";

const homes: string[] = [];
afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true });
});

const OLD: Sandbox = { read: [], write: ["/w", "/u/.claude"], git: null, network: true };
const ALLOWED = { PATH: "/bin", ANTHROPIC_API_KEY: "key" };

function site(sandbox: Sandbox | null, options: Record<string, Json> = { keys: null }) {
  const home = mkdtempSync(join(tmpdir(), "hfaccess-"));
  homes.push(home);
  const fixture = new AgentFixture();
  const plan = planFor("claude");
  const recipe = { ...plan.recipe, options };
  const workspace = sandbox && { worktree: null, sandbox };
  const all = { ...plan, recipe, workspace, environment: {} };
  fixture.do({
    kind: "create",
    id: "ab".repeat(16),
    name: "a",
    parent: undefined,
    instructions: "",
    plan: all,
    settings: {},
  });
  const agent = [...fixture.agentRecords.values()].find((one) => one.kind === "agent");
  if (agent?.kind !== "agent") throw new Error("it was created");
  const access = (allowed: Record<string, string> = ALLOWED) =>
    launchAccess({ disk: realDisk(), home }, agent, allowed);
  return { home, agent, access };
}

test("without a sandbox, and in one of an older version, nothing is in between", () => {
  for (const sandbox of [null, OLD, { ...OLD, network: false }]) {
    const { home, agent, access } = site(sandbox);
    expect(access()).toEqual({ variables: ALLOWED, order: null });
    expect(claudeState(home, agent)).toBeNull();
    expect(proxyPlaces(realSelf(), home, agent)).toBeNull();
  }
});

test("a subscription's present token is given unless there is a key; what renews it stays where it is", () => {
  const { home, access } = site({ ...OLD, settings: "/nowhere" });
  expect(access().variables).toEqual({ ...ALLOWED, CLAUDE_CONFIG_DIR: `${home}/agents/${"ab".repeat(16)}/claude` });
  const own = site({ ...OLD, settings: home });
  writeFileSync(join(home, ".credentials.json"), '{"claudeAiOauth":{"accessToken":"now","refreshToken":"later"}}');
  expect(own.access().variables).not.toHaveProperty("CLAUDE_CODE_OAUTH_TOKEN");
  expect(own.access({}).variables).toMatchObject({ CLAUDE_CODE_OAUTH_TOKEN: "now" });
  expect(JSON.stringify(own.access({}))).not.toContain("later");
  writeFileSync(join(home, ".credentials.json"), "not JSON");
  expect(own.access({}).variables).not.toHaveProperty("CLAUDE_CODE_OAUTH_TOKEN");
});

test("a proxy is told what to reach; it has the key only if that stays outside", () => {
  const proxied = { ...OLD, network: false, settings: null, egress: ["a.org"] };
  const { order, variables } = site(proxied).access();
  expect(order).toMatchObject({ egress: ["api.anthropic.com", "a.org"], service: null });
  expect(order?.socket).toMatch(/\/run\/a(?:ab){6}-0\.net\/s$/);
  expect(variables).toMatchObject({ ANTHROPIC_API_KEY: "key", HTTPS_PROXY: "http://127.0.0.1:18733" });
  const hidden = site(proxied, { keys: null, key_proxy: true }).access();
  expect(hidden.order).toMatchObject({ egress: ["a.org"], service: { identity: { "x-api-key": "key" } } });
  expect(JSON.stringify(hidden.variables)).not.toContain('"key"');
});

test("a key that should stay outside is not given to a process without a proxy", () => {
  const { access } = site(null, { keys: null, key_proxy: true });
  expect(access()).toEqual({ variables: { PATH: "/bin" }, order: null });
});
