// A session as codecs see it, for tests.
import type { Recipe, SessionFacts } from "../../src/core/agent/provider.ts";

export const RECIPE: Recipe = {
  provider: "scripted",
  model: null,
  command: ["program"],
  flags: [],
  permissionMode: null,
  options: {},
};

export function facts(given: Partial<SessionFacts> = {}, recipe: Partial<Recipe> = {}): SessionFacts {
  const known = {
    session: "11111111-1111-4111-8111-111111111111",
    resume: false,
    named: false,
    open: true,
    cwd: "/work",
  };
  return {
    ...known,
    systemPrompt: "",
    agent: "a1",
    generation: 1,
    tools: null,
    ...given,
    recipe: { ...RECIPE, ...recipe },
  };
}
