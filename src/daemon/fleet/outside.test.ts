// Where the conversations of agents are, for the program that ships them: in stores as the real CLIs make them.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AgentFixture } from "../../../tests/agent/house.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { readOutside } from "../../home/outside-files.ts";
import { sha256 } from "../../world/hash.ts";
import { realWorld } from "../../world/world.ts";
import { conversationPlace } from "../terminal/coding-agent-sessions.ts";
import { type InTerminal, OutsideFiles, queryOf } from "./outside.ts";

const ID = "11111111-2222-3333-4444-555555555555";
const OTHER = "99999999-2222-3333-4444-555555555555";
const CWD = "/w/a b";
const world = realWorld();
const places: string[] = [];

afterEach(() => {
  for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true });
});

function user(files: Readonly<Record<string, string>>): string {
  const place = mkdtempSync(join(tmpdir(), "hf-outside-"));
  places.push(place);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

test("the file of a conversation is found by its id in each CLI's store, whatever else is there, and at any age", () => {
  const claude = `.claude/projects/-w-a-b/${ID}.jsonl`;
  const codex = `.codex/sessions/2026/11/19/rollout-2026-11-19T10-00-00-${ID}.jsonl`;
  const gemini = `.gemini/tmp/${sha256(CWD)}/chats/session-2026-11-19T10-00-11111111.json`;
  const HOME = user({
    ...{ [claude]: "{}\n", [codex]: "{}\n", [gemini]: `{\n  "sessionId": "${ID}"}` },
    ...{ [claude.replace(ID, OTHER)]: "{}\n", [codex.replace(ID, OTHER)]: "{}\n", ".claude/.credentials.json": "{}" },
  });
  const placeOf = (
    agent: "claude" | "codex" | "gemini" | "opencode",
    id = ID,
    env: Record<string, string> = { HOME },
  ) => conversationPlace(world.disk, { agent, cwd: CWD, since: undefined, env }, id);
  for (const [agent, path] of [
    ["claude", claude],
    ["codex", codex],
    ["gemini", gemini],
  ] as const) {
    const [root = "", ...rest] = path.split("/");
    expect(placeOf(agent)).toEqual({ root: join(HOME, root), path: rest.join("/") });
    expect(placeOf(agent, "33333333-2222-3333-4444-555555555555")).toBeUndefined();
  }
  expect(placeOf("opencode")).toBeUndefined();
  const elsewhere = { HOME: "/nowhere", CLAUDE_CONFIG_DIR: join(HOME, ".claude") };
  expect(placeOf("claude", ID, elsewhere)?.root).toBe(join(HOME, ".claude"));
});

test("OS1 what agents and terminals have outside is written once, and again when something has changed", () => {
  const HOME = user({ [`.claude/projects/-w-a-b/${ID}.jsonl`]: "{}\n", "home/x": "" });
  const home = join(HOME, "home");
  const query = { agent: "claude", cwd: CWD, since: undefined, env: { HOME } } as const;
  let terminals: InTerminal[] = [{ terminal: "t1", id: OTHER, query }];
  const files = new OutsideFiles({
    ...{ disk: world.disk, clock: world.clock, home, agents: () => [], environment: () => ({}) },
    terminals: () => terminals,
  });
  files.tick();
  expect(readOutside({ disk: world.disk, home })).toMatchObject({ conversations: [], works: [] });
  terminals = [{ terminal: "t1", id: ID, query }];
  files.tick();
  const found = { session: "terminals/t1", cli: "claude", root: join(HOME, ".claude") };
  const path = `projects/-w-a-b/${ID}.jsonl`;
  expect(readOutside({ disk: world.disk, home })?.conversations).toEqual([{ ...found, path }]);
  const { ino } = statSync(join(home, "fleet/outside.json"));
  files.tick();
  expect(statSync(join(home, "fleet/outside.json")).ino).toBe(ino);
});

test("OS2 a conversation inside of the home is not outside, and one of an unknown program is not known", () => {
  const fixture = new AgentFixture();
  fixture.create("a");
  const agent = fixture.agent("a");
  const plan = (change: object): Agent => ({ ...agent, plan: { ...agent.plan, ...change } });
  const recipe = { ...agent.plan.recipe, provider: "claude", command: [] } as const;
  const sandbox = { read: [], write: [], git: null, network: false, settings: null };
  expect(queryOf(plan({ recipe }), { HOME: "/u" })).toMatchObject({ agent: "claude", env: { HOME: "/u" } });
  expect(queryOf(plan({ recipe, workspace: { worktree: null, sandbox } }), {})).toBeUndefined();
  const codex = { ...recipe, provider: "command", command: ["codex", "exec"] };
  expect(queryOf(plan({ recipe: codex }), {})).toMatchObject({ agent: "codex" });
  expect(queryOf(plan({ recipe: { ...codex, command: ["cat"] } }), {})).toBeUndefined();
});
