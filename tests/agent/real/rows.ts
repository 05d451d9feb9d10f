// The real agents of the table (table.test.ts): how each is set up against a loopback model, and what it cannot do by
// itself. docs/AGENTS.md has the same table for people.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { NewAgent } from "../../../src/wire/rpc/agent.ts";
import { isInSample } from "../../sim/fuzz/profile.ts";
import type { AgentHome } from "../agent-home.ts";
import { AnthropicMock } from "../anthropic-mock.ts";
import { LoopbackModel, type Model } from "./model.ts";
import {
  claudeProgram,
  codexAcpProgram,
  codexProgram,
  geminiProgram,
  LITTLE_COMPILED,
  opencodeProgram,
} from "./programs.ts";
import { chat, gemini, responses } from "./protocols.ts";

export type Scenario = "prompt" | "always" | "stream" | "process" | "tool" | "machine" | "resume";

export type Row = {
  readonly name: string;
  /** Undefined if it is not installed. */
  readonly program: string | undefined;
  model(): Model;
  /** Writes what it needs into its home directory, and says how its agent is made. */
  agent(place: AgentHome, url: string): Partial<NewAgent>;
  /** A `[provider.NAME]` of the configuration, if it needs one. */
  provider?(url: string): readonly string[];
  /** Where its conversations are, below its home directory. */
  readonly conversations: readonly string[];
  /** Cells of the table that it does not have: docs/AGENTS.md says why. */
  readonly limits: readonly Scenario[];
  /** It loses its own sessions: after its process died, a person has to start a new conversation (docs/AGENTS.md). */
  readonly forgets?: true;
  /** Cells that the gate tries; `npm run test:agents` tries all that are no limits. */
  readonly inGate: readonly Scenario[];
};

const KEYS = { ANTHROPIC_API_KEY: "planted", OPENAI_API_KEY: "planted", GEMINI_API_KEY: "planted" };

/** The environment of a daemon that has the keys of all providers. */
export const DAEMON_KEYS = KEYS;

class AnthropicModel extends AnthropicMock implements Model {
  heard(words: string): boolean {
    return this.asked.some(({ last }) => last.includes(words));
  }

  newest(): string {
    return JSON.stringify(this.asked.at(-1)?.messages ?? "");
  }
}

function written(place: AgentHome, name: string, text: string): void {
  mkdirSync(dirname(place.file(name)), { recursive: true });
  writeFileSync(place.file(name), text);
}

const claude: Row = {
  name: "Claude Code",
  program: claudeProgram,
  model: () => new AnthropicModel(),
  agent: (place, url) => ({
    provider: "claude",
    command: [claudeProgram ?? ""],
    env: {
      HOME: place.path,
      ANTHROPIC_BASE_URL: url,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      ...LITTLE_COMPILED,
    },
  }),
  conversations: [".claude/projects"],
  limits: [],
  inGate: ["tool", "machine", "resume"],
};

const opencode: Row = {
  name: "opencode",
  program: opencodeProgram,
  model: () => new LoopbackModel(chat),
  agent: (place, url) => {
    const options = { baseURL: `${url}/v1`, apiKey: "none" };
    const mock = { npm: "@ai-sdk/openai-compatible", name: "mock", options, models: { m1: { name: "m1" } } };
    const rest = { autoupdate: false, share: "disabled", permission: { bash: "ask", edit: "ask" } };
    const config = { ...rest, provider: { mock }, model: "mock/m1", small_model: "mock/m1" };
    written(place, ".config/opencode/opencode.json", JSON.stringify(config));
    const env = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", ...LITTLE_COMPILED };
    return { provider: "acp", command: [opencodeProgram ?? "", "acp"], env };
  },
  conversations: [".local/share/opencode"],
  limits: [],
  inGate: isInSample(2) ? ["resume"] : [], // In turns with the costly test of opencode.test.ts.
};

/** `ask`: lines about permissions, which only one of the two programs knows. */
function codexConfig(place: AgentHome, url: string, ask: readonly string[] = []): void {
  const lines = [
    ...['model = "m1"', 'model_provider = "mock"', "check_for_update_on_startup = false"],
    ...[...ask, 'sandbox_mode = "danger-full-access"', "[model_providers.mock]"],
    ...['name = "mock"', `base_url = "${url}/v1"`, 'wire_api = "responses"', 'env_key = "OPENAI_API_KEY"'],
    ...["request_max_retries = 0", "stream_max_retries = 0"],
  ];
  written(place, ".codex/config.toml", lines.join("\n"));
}

const RUN = ["--json", "--skip-git-repo-check"];

const codexExec: Row = {
  name: "codex exec",
  program: codexProgram,
  model: () => new LoopbackModel(responses),
  agent: (place, url) => {
    codexConfig(place, url);
    return { provider: "codex", command: [] };
  },
  provider: () => [
    "[provider.codex]",
    'kind = "command"',
    `command = ${JSON.stringify([codexProgram ?? "", "exec", ...RUN, "{prompt}"])}`,
    `resume = ${JSON.stringify([codexProgram ?? "", "exec", "resume", "{session}", ...RUN, "{prompt}"])}`,
    'session_path = "$.thread_id"',
    'output_path = "$.item.text"',
  ],
  conversations: [".codex/sessions"],
  limits: ["prompt", "always", "tool"],
  inGate: [],
};

const codexAcp: Row = {
  name: "codex-acp",
  program: codexAcpProgram,
  model: () => new LoopbackModel(responses),
  agent: (place, url) => {
    codexConfig(place, url, ['approval_policy = "untrusted"']);
    return { provider: "acp", command: [codexAcpProgram ?? ""] };
  },
  conversations: [".codex/sessions"],
  limits: [],
  inGate: [],
};

const geminiCli: Row = {
  name: "Gemini CLI",
  program: geminiProgram,
  model: () => new LoopbackModel(gemini),
  agent: (place, url) => {
    const security = { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } };
    const quiet = { general: { enableAutoUpdate: false }, privacy: { usageStatisticsEnabled: false } };
    written(place, ".gemini/settings.json", JSON.stringify({ security, ...quiet }));
    const command = [Bun.which("node") ?? "node", geminiProgram ?? "", "--acp", "--model", "gemini-2.5-pro"];
    return { provider: "gemini", command, env: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_NO_RELAUNCH: "true" } };
  },
  // The program is Node: which keys it gets cannot be told by its name.
  provider: () => ["[provider.gemini]", 'kind = "acp"', 'keys = ["GEMINI_API_KEY"]'],
  conversations: [".gemini/tmp"],
  limits: ["tool"],
  forgets: true,
  inGate: [],
};

/** No program at all: a bare model behind an OpenAI-compatible address. */
const bare: Row = {
  name: "openai-compatible",
  program: "none",
  model: () => new LoopbackModel(chat),
  agent: () => ({ provider: "bare", command: [] }),
  provider: (url) => [
    ...["[provider.bare]", 'kind = "openai"', 'model = "m1"', `base_url = "${url}/v1"`, 'key_env = "OPENAI_API_KEY"'],
  ],
  conversations: [],
  limits: ["prompt", "always", "process", "tool", "resume"],
  inGate: [],
};

export const ROWS: readonly Row[] = [claude, opencode, codexExec, codexAcp, geminiCli, bare];

/** Its conversations are gone, as after a clean-up of its own or of the user's. */
export function forget(place: AgentHome, { conversations }: Row): void {
  for (const name of conversations) rmSync(place.file(name), { recursive: true, force: true });
}
