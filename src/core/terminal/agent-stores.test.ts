import { expect, test } from "bun:test";
import { storeDoubt } from "./agent-stores.ts";

test("a version whose store is not known is doubted, and one that says nothing is not", () => {
  const known = [
    ["claude", "2.1.197 (Claude Code)"],
    ["claude", "1.0.5"],
    ["codex", "codex-cli 0.169.0"],
    ["gemini", "0.62.1"],
    ["opencode", "1.18.33"],
    ["opencode", "local"],
  ] as const;
  for (const [agent, version] of known) expect(storeDoubt(agent, version)).toBeUndefined();
  expect(storeDoubt("claude", "3.0.0")).toBe("how claude 3.0 keeps its conversations is not known (tried: 2.1.327)");
  for (const [agent, version] of [
    ["claude", "2.2.0"],
    ["opencode", "1.1.9"],
    ["opencode", "2.0.0"],
    ["codex", "1.0.0"],
  ] as const)
    expect(storeDoubt(agent, version)).toContain("is not known (tried: ");
  expect(storeDoubt("cursor-agent", "2026.11.18")).toBe("where cursor-agent keeps its conversations is not known");
});
