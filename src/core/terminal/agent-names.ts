// The agent CLIs that are recognized by their command lines. Apart from what is known of each: holders have this in
// memory.
import { baseName } from "../words.ts";

/** Those whose conversations are known. */
export const RESUMABLE = ["claude", "codex", "gemini", "opencode"] as const;
export type Resumable = (typeof RESUMABLE)[number];

/** Those that are recognized in front of a terminal (agent-in-front.ts). */
export const AGENT_NAMES = [...RESUMABLE, "cursor-agent"] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

/** Agents are scripts; the system may show their interpreter with its options and the script (gemini has some). */
const INTERPRETERS = ["node", "bun", "deno"];

export type CodingAgentInvocation = {
  readonly agent: AgentName;
  /** The words that start the program: itself, or its interpreter and itself. */
  readonly start: readonly string[];
  readonly words: readonly string[];
};

/** The agent that a command line runs; undefined if it runs none. */
export function agentIn(argv: readonly string[]): CodingAgentInvocation | undefined {
  const isScript = INTERPRETERS.includes(baseName(argv[0] ?? ""));
  const at = isScript ? argv.findIndex((word, place) => place > 0 && !word.startsWith("-")) : 0;
  const name = baseName((at === -1 ? undefined : argv[at]) ?? "").replace(/\.[cm]?js$/, "");
  const agent = AGENT_NAMES.find((one) => one === name);
  return agent && { agent, start: argv.slice(0, at + 1), words: argv.slice(at + 1) };
}
