// What a provider is to the rest: what it is started with, what it is told, and what it says, whatever its own protocol is.
// V1. A recipe is recorded when the session is created and never changes on the way: same flags, same permission mode, after any crash.
// V2. A codec keeps no state of its own: the same entry always becomes the same lines, and the same line the same events, in any life.
import type { Json } from "../workflow/json.ts";

export type ProviderName = "claude" | "acp" | "openai" | "command" | "scripted";

/** V1 */
export type Recipe = {
  readonly provider: ProviderName;
  readonly model: string | null;
  /** The program and its fixed words; empty where the provider's own is meant. */
  readonly command: readonly string[];
  readonly flags: readonly string[];
  readonly permissionMode: string | null;
  readonly options: Readonly<Record<string, Json>>;
};

export type ProviderEvent =
  /** The provider's own id of the session: it is open from here on. */
  | { readonly kind: "session"; readonly session: string }
  /** Something said; `part` where it goes on without a break from what was said before. */
  | { readonly kind: "text"; readonly text: string; readonly part?: true }
  | { readonly kind: "tool"; readonly use: string; readonly tool: string; readonly input: Json }
  | { readonly kind: "tool-done"; readonly use: string; readonly ok: boolean; readonly text: string }
  /** A permission is asked for; `options` is what the answer must choose from, in the provider's own words. */
  | {
      readonly kind: "ask";
      readonly request: string;
      readonly tool: string;
      readonly input: Json;
      readonly options?: Json;
    }
  | { readonly kind: "withdrawn"; readonly request: string }
  /** One of our own tools is called (scripted programs and bare LLMs). */
  | { readonly kind: "call"; readonly call: string; readonly tool: string; readonly args: Json }
  /** The turn is over; without a response, what was said in the turn is the response. */
  | { readonly kind: "done"; readonly response?: string }
  | { readonly kind: "failed"; readonly reason: string; readonly retryable: boolean }
  /** Nothing goes before that time. */
  | { readonly kind: "limit"; readonly until: string };

export type Decision = "allow" | "deny";

/** What a process is told. */
export type Input =
  | { readonly kind: "open" }
  | { readonly kind: "prompt"; readonly id: string; readonly text: string }
  | {
      readonly kind: "answer";
      readonly request: string;
      readonly input: Json;
      readonly decision: Decision;
      readonly message: string;
      readonly options?: Json;
    }
  | { readonly kind: "result"; readonly call: string; readonly result: Json }
  | { readonly kind: "interrupt" };

/** What is known of an agent's session when its process is started or spoken to. */
export type SessionFacts = {
  readonly recipe: Recipe;
  /** The provider's own id of the session; for some we choose it, of others we hear. Null where it is not known yet. */
  readonly session: string | null;
  /** Whether the provider has a conversation under that id. */
  readonly resume: boolean;
  /** The process has opened its session: what it says from now on is new. */
  readonly open: boolean;
  readonly cwd: string;
  readonly instructions: string;
  /** How the agent reaches our tools: a command that speaks MCP on its pipes. Null where it gets none. */
  readonly tools: { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> } | null;
};

export type LaunchWords = { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> };

/** What a line of the process means, and what must be said back to it at once, whoever asks. */
export type Decoded = { readonly events: readonly ProviderEvent[]; readonly replies: readonly string[] };

/** V2. Lines are without their ends. */
export type Codec = {
  launch(facts: SessionFacts, prompt: string): LaunchWords;
  /** Undefined: it cannot be said yet, since the session is not open. */
  encode(input: Input, facts: SessionFacts): readonly string[] | undefined;
  decode(line: string, facts: SessionFacts): Decoded;
  /** Where one process is one turn: what its end means, and all it wrote. */
  ended?(
    exit: { readonly code: number | null; readonly signal: string | null },
    output: string,
  ): readonly ProviderEvent[];
};
