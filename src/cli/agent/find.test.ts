import { expect, test } from "bun:test";
import { pickAgent } from "../../core/agent/find.ts";
import { spanText } from "./row.ts";
import { settingsOf } from "./settings.ts";

const one = (id: string, name: string, parent: string | null = null) => ({ id, name, parent });
const AGENTS = [one("aa1", "root"), one("aa2", "other"), one("ab3", "worker", "aa1"), one("ac4", "worker", "aa2")];
const id = (key: string) => {
  const found = pickAgent(AGENTS, key);
  return found.ok ? found.value.id : found.error.code;
};

test("a name, a path or the beginning of an id finds exactly one agent; no match or several are refused", () => {
  expect(["root", "other/worker", "root/worker", "ab", "aa2"].map(id)).toEqual(["aa1", "ac4", "ab3", "ab3", "aa2"]);
  expect(["worker", "aa", "work", "", "orker", "er/worker", "/"].map(id)).toEqual([
    ...["ambiguous", "ambiguous", "unknown", "unknown", "unknown", "unknown", "unknown"],
  ]);
  const several = pickAgent(AGENTS, "worker");
  expect(several).toMatchObject({
    error: { message: '"worker" matches 2: root/worker (ab3), other/worker (ac4).', hint: "Give its path, or its id." },
  });
});

test("only the given settings are set; an incomplete default action is refused", () => {
  expect(settingsOf({})).toEqual({ ok: true, value: {} });
  const given = { recovery: "ask", recoveryPrompt: "go on", hungAfter: "90", promptTtl: "2h" } as const;
  expect(settingsOf({ ...given, promptAfter: "10m", promptDefault: "deny", sleepOnLimit: false })).toEqual({
    ok: true,
    value: {
      ...{ recovery: "ask", recovery_prompt: "go on", hung_after_ms: 90_000, prompt_ttl_ms: 7_200_000 },
      ...{ prompt_default: { after_ms: 600_000, decision: "deny" }, sleep_on_limit: false },
    },
  });
  expect(settingsOf({ promptDefault: "none" })).toEqual({ ok: true, value: { prompt_default: null } });
  const wrong = [
    { promptAfter: "10m" },
    { promptDefault: "deny" },
    { promptAfter: "10m", promptDefault: "none" },
    { promptAfter: "x", promptDefault: "deny" },
    { hungAfter: "10ms" },
    { promptTtl: "soon" },
  ] as const;
  for (const flags of wrong) expect(settingsOf(flags)).toMatchObject({ error: { code: "usage" } });
});

test("a time span is shown in its two largest units", () => {
  expect([-5, 42_000, 190_000, 7_500_000, 7 * 86_400_000 - 1].map(spanText)).toEqual([
    ...["0 s", "42 s", "3 min 10 s", "2 h 5 min", "6 d 23 h"],
  ]);
});
