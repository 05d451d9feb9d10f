// Which versions of agent CLIs keep their conversations as we know it. Their stores are not documented, and change.
import { type AgentName, RESUMABLE } from "./agent-names.ts";

type Version = readonly [major: number, minor: number];

/** `tried` is the newest one that was tried, against a mock of its API. */
type KnownStore = { readonly tried: string; readonly from: Version; readonly to: Version };

/** Versions 0.x come every few days, and change their stores less often than that. */
const MORE_MINORS = 30;

const STORES: Readonly<Record<(typeof RESUMABLE)[number], KnownStore>> = {
  claude: { tried: "2.1.327", from: [1, 0], to: [2, 1] },
  codex: { tried: "0.169.0", from: [0, 0], to: [0, 169 + MORE_MINORS] },
  gemini: { tried: "0.61.0", from: [0, 0], to: [0, 61 + MORE_MINORS] },
  opencode: { tried: "1.18.33", from: [1, 18], to: [1, 18 + MORE_MINORS] },
};

/** Why the conversations of this version may not be found; undefined if they are, or the version says nothing. */
export function storeDoubt(agent: AgentName, version: string): string | undefined {
  const name = RESUMABLE.find((one) => one === agent);
  if (name === undefined) return `where ${agent} keeps its conversations is not known`;
  const [, major, minor] = /(\d+)\.(\d+)\.\d+/.exec(version)?.map(Number) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  const { tried, from, to } = STORES[name];
  const isKnown = !isBefore([major, minor], from) && !isBefore(to, [major, minor]);
  return isKnown ? undefined : `how ${name} ${major}.${minor} keeps its conversations is not known (tried: ${tried})`;
}

function isBefore([major, minor]: Version, [otherMajor, otherMinor]: Version): boolean {
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
