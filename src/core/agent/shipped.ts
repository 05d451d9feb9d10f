// The recipes that come with Holdfast: agent CLIs that are used by their names, without any configuration.
// SH1. A table `[provider.NAME]` of the configuration takes the place of the recipe of that name, as a whole.
// SH2. None of them gives an agent more rights than the CLI has by itself: what it asks is asked, and where it cannot
//      ask (`codex exec`, `cursor-agent --print`), its own settings decide.
import type { Json } from "../../base/json.ts";
import type { ProviderName, Recipe } from "./provider.ts";

type Shipped = Pick<Recipe, "command"> & { readonly kind: ProviderName; readonly options?: Recipe["options"] };

/** It works outside of git repositories, too, as agents do. */
const CODEX = ["--json", "--skip-git-repo-check"];
const CURSOR = ["cursor-agent", "--print", "--output-format", "stream-json"];

const RECIPES: Readonly<Record<string, Shipped>> = {
  codex: {
    kind: "command",
    command: ["codex", "exec", ...CODEX, "{prompt}"],
    options: {
      resume: ["codex", "exec", "resume", "{session}", ...CODEX, "{prompt}"],
      ...{ session_path: "$.thread_id", output_path: "$.item.text" },
    },
  },
  gemini: { kind: "acp", command: ["gemini", "--acp"] },
  opencode: { kind: "acp", command: ["opencode", "acp"] },
  "cursor-agent": {
    kind: "command",
    command: [...CURSOR, "{prompt}"],
    options: {
      resume: [...CURSOR, "--resume", "{session}", "{prompt}"],
      ...{ session_path: "$.session_id", output_path: "$.result" },
      keys: ["CURSOR_API_KEY"] satisfies Json,
    },
  },
};

export const SHIPPED: Readonly<Record<string, Recipe>> = Object.fromEntries(
  Object.entries(RECIPES).map(([name, { kind, command, options }]) => [
    name,
    {
      ...{ provider: kind, name, model: null, command, flags: [], permissionMode: null },
      options: { keys: null, ...options },
    },
  ]),
);
