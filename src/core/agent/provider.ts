// The interface of an agent's provider: what it reports (ProviderEvent), what it is given (Input), how it starts
// (Recipe).
// V1. A codec is pure and stateless: the same input gives the same bytes, so that what is sent again after a crash is a
//     repeat.
// V2. A recipe is recorded in `session.created` and never changes on resume.
import type { Json } from "../../base/json.ts";

export type ProviderEvent =
  /** The provider's own id of its session. */
  | { readonly kind: "session"; readonly session: string }
  /** Text; `part` if it continues the previous text without a break. */
  | { readonly kind: "text"; readonly text: string; readonly part?: true }
  | { readonly kind: "tool"; readonly use: string; readonly tool: string; readonly input: Json }
  | { readonly kind: "tool-done"; readonly use: string; readonly ok: boolean; readonly text: string }
  | {
      readonly kind: "ask";
      readonly request: string;
      readonly tool: string;
      readonly input: Json;
      readonly options?: Json;
      /** The call that it is about, as its `tool` names it. */
      readonly use?: string;
    }
  | { readonly kind: "withdrawn"; readonly request: string }
  /** One of our own tools, called by a scripted program or a bare LLM. `call` is unique within the agent. */
  | { readonly kind: "call"; readonly call: string; readonly tool: string; readonly args: Json }
  /** The turn is over; without a response, the text of the turn is the response. */
  | { readonly kind: "done"; readonly response?: string }
  /**
   * `context`: the conversation is too long. `passing`: it is asked for too often, and only time is needed. `opening`:
   * it could not open its session, neither a new one nor, if it has one, the old one.
   */
  | {
      readonly kind: "failed";
      readonly reason: string;
      readonly retryable: boolean;
      readonly context?: ContextLimit;
      readonly passing?: true;
      readonly opening?: true;
    }
  /** The newest of what a process wrote to its standard error, at its end. */
  | { readonly kind: "stderr"; readonly text: string }
  /** A usage limit, and when it ends; empty if that is not known. */
  | { readonly kind: "limit"; readonly until: string; readonly reason?: string }
  /** It was not asked: nothing is to be expected of it before then. */
  | { readonly kind: "later"; readonly until: string; readonly reason: string }
  /** It tries again by itself, for the `attempt`th time of `of`. */
  | {
      readonly kind: "retrying";
      readonly reason: string;
      readonly delay_ms: number;
      readonly attempt: number;
      readonly of: number;
    }
  /** `total`: its cost is that of all turns since the process, or the session, began. */
  | { readonly kind: "usage"; readonly usage: Usage; readonly total?: "process" | "session" };

/** Tokens, and dollars if the provider says what it costs. Those read from a cache are part of the input. */
export type Usage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens?: number;
  readonly cost_usd?: number;
};

/** In tokens, as far as the provider names them. */
export type ContextLimit = { readonly limit?: number; readonly used?: number };

export const PROVIDERS = ["claude", "acp", "openai", "command", "scripted"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** V2 */
export type Recipe = {
  readonly provider: ProviderName;
  /** The `[provider.NAME]` it is of; absent: the kind itself, or a recipe of an older version. */
  readonly name?: string;
  readonly model: string | null;
  readonly command: readonly string[];
  readonly flags: readonly string[];
  readonly permissionMode: string | null;
  readonly options: Readonly<Record<string, Json>>;
};

/** How a provider runs: one process for all turns, one process for each turn, or no process but single requests. */
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
  /** `uuid` is the same each time the same prompt is given. */
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
  /** The provider's session id: ours (the agent's id as a uuid) until the provider names its own. */
  readonly session: string;
  /** Whether `session` is one that the provider named, or used before. */
  readonly resume: boolean;
  /** Whether the provider has named it: there was a session that can be loaded. */
  readonly named: boolean;
  /** The current process has opened its session: its output from now on is new. */
  readonly open: boolean;
};

/** Also how the agent reaches our tools: a command that speaks MCP on its pipes. Null if it gets none. */
export type SessionFacts = CodecFacts & {
  readonly tools: { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> } | null;
};

export type Launch = { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> };
/**
 * `partial`: text that comes again as a whole, in an event; empty if the line is only part of such a stream. `part`:
 * text that comes in parts only.
 */
export type Decoded = {
  readonly events: readonly ProviderEvent[];
  readonly replies: readonly string[];
  readonly partial?: string;
  readonly part?: string;
};

/** V1. For providers on pipes; lines are without their newline. */
export type Codec = {
  launch(facts: SessionFacts, prompt: string): Launch;
  /** Undefined: it cannot be encoded yet, since the session is not open. */
  encode(entry: Input, facts: SessionFacts): readonly string[] | undefined;
  decode(line: string, facts: SessionFacts): Decoded;
  /** What the end of a process means, if a turn is one process: then all its input is in its arguments. */
  ended?(exit: ProcessExit, output: WholeOutput, facts: CodecFacts): readonly ProviderEvent[];
};

/** `code` is null if it was killed; both are if it is not known how it ended. */
export type ProcessExit = { readonly code: number | null; readonly signal: string | null };
/** What it wrote to its standard output, and the newest of its standard error. */
export type WholeOutput = { readonly text: string; readonly errors: string };
