// Ids that are derived, not random: the same facts give the same id before and after a crash.
// D1. Only facts that are unique within the agent are hashed (a call's id, a generation with a request's id): two ids
//     never mean the same.
// D2. This is not cryptography: it keeps honest ids apart and proves nothing.
// D3. The digest is part of the stored format. The agent of a running workflow step is found again by deriving its id
//     in the next life, which may be that of a newer version: with another hash it would start a second agent for the
//     same step.
// D4. What an agent must neither choose nor foresee is hashed with the key of the home (`Keyed`): the ids of prompts,
//     which people type, the marks around messages, and the ids of messages and agents that a call of a tool makes. An
//     agent chooses the ids of its calls: without a key it could look for one that gives the id of another's message.
// D5. Version 0.1 had no key for what a call makes. The id that it gave is recognised: a call that it acknowledged is
//     not done again.

const SEEDS = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35] as const;

/** Each part is preceded by its length, so that ["a", "bc"] and ["ab", "c"] differ. */
function framed(parts: readonly string[]): string {
  return parts.map((part) => `${part.length}:${part}`).join("");
}

/** 128 bits as 32 hex digits. */
function digest(parts: readonly string[]): string {
  const text = framed(parts);
  const lanes = SEEDS.map((seed) => lane(text, seed));
  const mixed = lanes.map((value, at) => mix(value ^ (lanes[(at + 1) % lanes.length] ?? 0)));
  return mixed.map((value) => (value >>> 0).toString(16).padStart(8, "0")).join("");
}

function lane(text: string, seed: number): number {
  let hash = seed ^ text.length;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  return mix(hash);
}

/** The last step of MurmurHash3: every output bit depends on every input bit. */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

export function derivedId(...parts: readonly string[]): string {
  return idIn(digest(parts));
}

/** In the form of base/ids.ts: version 4, variant 8. */
function idIn(hex: string): string {
  return `${hex.slice(0, 12)}4${hex.slice(13, 16)}8${hex.slice(17, 32)}`;
}

/** D4. A hash of the text with the key of the home, as at least 32 hex digits. */
export type Keyed = (text: string) => string;

/** What a call makes has `id` (D4), or `former` if an older version made it (D5). */
export type CallIds = { readonly id: string; readonly former: string };

export function callIds(keyed: Keyed, ...parts: readonly string[]): CallIds {
  return { id: idIn(keyed(framed(["call", ...parts]))), former: derivedId(...parts) };
}

/** D4. Short enough to type; 64 bits keep millions of prompts apart. */
export function keyedId(keyed: Keyed, ...parts: readonly string[]): string {
  return keyed(framed(parts)).slice(0, 16);
}

/** An id with the dashes that other programs want. */
export function dashed(id: string): string {
  return [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20)].join("-");
}
