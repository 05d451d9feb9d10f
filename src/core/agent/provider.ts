// What an agent's provider is to the core: what it reports (ProviderEvent), what it is given (Input), what it is started with (Recipe).
// V1. A codec is pure and keeps nothing: the same input gives the same bytes, so that what is sent again after a crash is a repeat.
// V2. A recipe is recorded in `session.created` and never changes on resume.
import type { Json } from "../workflow/json.ts";

export type ProviderEvent =
  /** The provider's own id of its session. */
  | { readonly kind: "session"; readonly session: string }
  /** A whole piece, never a part that grows. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tool"; readonly use: string; readonly tool: string; readonly input: Json }
  | { readonly kind: "tool-done"; readonly use: string; readonly ok: boolean; readonly text: string }
  | {
      readonly kind: "ask";
      readonly request: string;
      readonly tool: string;
      readonly input: Json;
      readonly options?: Json;
    }
  | { readonly kind: "withdrawn"; readonly request: string }
  /** One of our own tools, called by a scripted program or a bare LLM. `call` is unique within the agent. */
  | { readonly kind: "call"; readonly call: string; readonly tool: string; readonly args: Json }
  | { readonly kind: "done"; readonly response: string }
  | { readonly kind: "failed"; readonly reason: string; readonly retryable: boolean }
  /** A usage limit, and when it is over. */
  | { readonly kind: "limit"; readonly until: string };

export type ProviderName = "claude" | "acp" | "openai" | "command" | "scripted";

/** V2 */
export type Recipe = {
  readonly provider: ProviderName;
  readonly model: string | null;
  readonly command: readonly string[];
  readonly flags: readonly string[];
  readonly permissionMode: string | null;
  readonly options: Readonly<Record<string, Json>>;
};

/** How a provider lives: one process for all turns, one process for each turn, or no process but a request at a time. */
export type Style = "process" | "turn" | "request";

const STYLES: Readonly<Record<ProviderName, Style>> = {
  claude: "process",
  acp: "process",
  scripted: "process",
  command: "turn",
  openai: "request",
};

export function styleOf({ provider }: Recipe): Style {
  return STYLES[provider];
}

export type Decision = "allow" | "deny";

/** What an agent's process is given, with all its data. */
export type Input =
  | { readonly kind: "open" }
  /** `uuid` is the same each time the same prompt is handed over. */
  | { readonly kind: "prompt"; readonly uuid: string; readonly text: string }
  | {
      readonly kind: "answer";
      readonly request: string;
      readonly tool: string;
      readonly input: Json;
      readonly decision: Decision;
      readonly message: string;
      readonly options: Json;
    }
  | { readonly kind: "result"; readonly call: string; readonly ok: boolean; readonly result: Json }
  | { readonly kind: "interrupt" };

/** What a codec may know of the agent whose lines it reads and writes. */
export type CodecFacts = {
  readonly agent: string;
  readonly recipe: Recipe;
  readonly systemPrompt: string;
  readonly cwd: string;
  readonly generation: number;
  /** The provider's session id: minted by us (the agent's id as a uuid) until the provider names its own. */
  readonly session: string;
  /** Whether `session` is one that the provider named, or used before. */
  readonly resume: boolean;
  /** The file with our MCP server in it; null where the provider has none. */
  readonly mcpConfig: string | null;
};

export type LaunchFacts = CodecFacts & {
  /** Whether this is the first process of the session. */
  readonly first: boolean;
};

export type Launch = { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> };
export type Decoded = { readonly events: readonly ProviderEvent[]; readonly replies: readonly string[] };

/** V1. For providers on pipes; lines are without their newline. */
export type Codec = {
  launch(recipe: Recipe, facts: LaunchFacts): Launch;
  encode(entry: Input, facts: CodecFacts): readonly string[];
  decode(line: string, facts: CodecFacts): Decoded;
  /** What the end of a process says, where a turn is one process. `all` is everything it wrote. */
  ended?(exit: { readonly code: number | null; readonly signal: string | null }, all: string): readonly ProviderEvent[];
};
