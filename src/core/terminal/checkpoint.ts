// The checkpoint of all terminals: their screens and directories, so that they can be restored after a machine crash.
// It adds to the log and never replaces it: that a terminal exists, and its recipe, are events.
// C1. Sessions are valid or invalid one by one (TC-7): a bad one does not affect the others.
// C2. A checkpoint that is too old, or from the future, is whole: its sessions can still be shown, with the doubt
//     (TC-6).
// C3. A screen of an earlier generation continues with the tape only if the tape was complete when the next one
//     started: a power cut may have lost its end, and other bytes have taken its place.
import { AGENT_NAMES } from "./agent-names.ts";
import { isSession as isConversation } from "./coding-agent.ts";
import { type Foreground, RESTORE_POLICIES, type SeenAgent, type Sighting } from "./restoration.ts";
import type { ScreenSnapshot } from "./screen.ts";
import type { Terminal, TerminalSize } from "./terminal.ts";

/**
 * The format. Fields are added under the same number; if one changes its meaning or its place, the number rises. In
 * version 1 the sessions were below `body`.
 */
export const CHECKPOINT_VERSION = 2;

/** Its path in a home, and the previous one's. */
export const CHECKPOINT_FILE = "recovery/checkpoint.json";
export const CHECKPOINT_BACKUP = "recovery/checkpoint.backup.json";

/** The identification in its envelope. Screens are not folded from events, so no fold rules can change. */
export const CHECKPOINT_FACTS = {
  kind: "terminals",
  version: CHECKPOINT_VERSION,
  fold: 1,
  names: { time: "timestamp", hash: "checksum" },
  migrations: { 1: (body: unknown) => body },
} as const;

export type RestorePolicy = "auto" | "ask" | "never";

export type CheckpointSession = {
  readonly sessionId: string;
  readonly terminalId: string;
  readonly laneId: string;
  readonly name: string;
  /** The directory of the foreground program, or of the shell if nothing ran in the foreground. */
  readonly workingDirectory: string;
  /** Without what looks like a secret (environment.ts). */
  readonly environmentVariables: Readonly<Record<string, string>>;
  /** The screen, to be written to an empty terminal; empty if none was kept. */
  readonly scrollbackSnapshot: string;
  /** The name in another multiplexer; null for a terminal in a holder of ours. Also read from `zelijjSessionName`. */
  readonly multiplexerSessionName: string | null;
  /** `argv` as a line for a shell. */
  readonly shellCommand: string;
  readonly argv: readonly string[];
  readonly size: TerminalSize;
  readonly generation: number;
  readonly policy: RestorePolicy;
  readonly bootId: string;
  /** What is known of `scrollbackSnapshot`; null if there is none. */
  readonly screen: Omit<ScreenSnapshot, "vt"> | null;
  /** The foreground program of the terminal; null if there was none. */
  readonly foreground: Foreground | null;
  /** The agent CLI in front, if there was one. */
  readonly agent?: SeenAgent;
  /** When `workingDirectory` and `foreground` were seen; not in files of version 0.1. */
  readonly lookedAt?: string;
};

/** As it is in the file (TC-1), beside what the store needs (log/checkpoint/envelope.ts). */
export type Checkpoint = {
  readonly version: number;
  readonly timestamp: string;
  readonly checksum: string;
  readonly sessions: readonly CheckpointSession[];
};

export type ValidationError = { readonly sessionId?: string; readonly field: string; readonly reason: string };
export type Validation = { readonly valid: boolean; readonly errors: readonly ValidationError[] };

/** `intact`: whether the bytes match their checksum, which only the caller can know. */
export type ValidationFacts = {
  readonly now: number;
  readonly intact: boolean;
  readonly maxAgeMs?: number;
  readonly skewMs?: number;
};

const DAY_MS = 24 * 60 * 60 * 1000;
const FIVE_MINUTES_MS = 5 * 60 * 1000;

/** TC-6. Returns everything that is wrong, not only the first problem. */
export function validateCheckpoint(found: unknown, facts: ValidationFacts): Validation {
  if (!isTable(found)) return { valid: false, errors: [{ field: "", reason: "it is not a checkpoint" }] };
  const { version, timestamp, checksum } = found;
  const errors = [
    ...problem("checksum", facts.intact && isText(checksum), "the bytes do not match their checksum"),
    ...problem("version", isCount(version), "it is missing"),
    ...problem("version", !(isCount(version) && version > CHECKPOINT_VERSION), newer(version)),
    ...timeErrors(timestamp, facts),
    ...readSessions(found).errors,
  ];
  return { valid: errors.length === 0, errors };
}

function newer(version: unknown): string {
  return `it has version ${version}; this program knows versions up to ${CHECKPOINT_VERSION}`;
}

function timeErrors(timestamp: unknown, facts: ValidationFacts): ValidationError[] {
  const then = isText(timestamp) ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(then)) return [{ field: "timestamp", reason: `${JSON.stringify(timestamp)} is not a time` }];
  const doubt = doubtOfTime(then, facts);
  return doubt === undefined ? [] : [{ field: "timestamp", reason: doubt }];
}

/** C2. Why a checkpoint of this time is not used without a word; undefined if it may be. */
function doubtOfTime(then: number, facts: Omit<ValidationFacts, "intact">): string | undefined {
  const { now, maxAgeMs = DAY_MS, skewMs = FIVE_MINUTES_MS } = facts;
  const time = new Date(then).toISOString();
  if (then > now + skewMs) return `it is from the future (${time})`;
  return then < now - maxAgeMs - skewMs ? `it is older than allowed (${time})` : undefined;
}

export type ReadSessions = {
  readonly sessions: readonly CheckpointSession[];
  readonly errors: readonly ValidationError[];
};

/** The sessions in the body of a checkpoint: the valid ones, and what is wrong with the others (C1). */
export function readSessions(body: unknown): ReadSessions {
  const list = isTable(body) ? body["sessions"] : undefined;
  if (!Array.isArray(list)) return { sessions: [], errors: [{ field: "sessions", reason: "there is no list" }] };
  const sessions: CheckpointSession[] = [];
  const errors: ValidationError[] = [];
  const seen = new Set<string>();
  for (const item of list.map(withoutAlias)) {
    const wrong = sessionErrors(item, seen);
    errors.push(...wrong);
    if (wrong.length > 0 || !isSession(item)) continue; // C1
    seen.add(item.terminalId);
    sessions.push(item);
  }
  return { sessions, errors };
}

/** The session of one terminal; the others are not checked. */
export function sessionIn(body: unknown, terminalId: string): CheckpointSession | undefined {
  const list = isTable(body) && Array.isArray(body["sessions"]) ? body["sessions"] : [];
  const own = list.filter((item) => isTable(item) && item["terminalId"] === terminalId);
  return readSessions({ sessions: own }).sessions[0];
}

/** The specification's own spelling is accepted too. */
function withoutAlias(item: unknown): unknown {
  if (!isTable(item) || !("zelijjSessionName" in item)) return item;
  const { zelijjSessionName, ...rest } = item;
  return "multiplexerSessionName" in rest ? rest : { ...rest, multiplexerSessionName: zelijjSessionName };
}

/** The saved screen of a terminal, if it and the tape since then give the current screen (C3). */
export function screenOf(
  { screen, scrollbackSnapshot, generation: seenIn }: CheckpointSession,
  { generation, restored }: Pick<Terminal, "generation" | "restored">,
): ScreenSnapshot | undefined {
  if (screen === null) return undefined;
  const boundary = seenIn === generation - 1 ? (restored?.offset ?? 0) : 0;
  if (seenIn !== generation && screen.offset > boundary) return undefined;
  return { ...screen, vt: scrollbackSnapshot };
}

type Judge = (value: unknown) => boolean;

/** What each field must be; the compiler requires every one. */
const FIELDS: Readonly<Record<keyof CheckpointSession, readonly [Judge, string]>> = {
  sessionId: [isWord, "it must be a text that is not empty"],
  terminalId: [isWord, "it must be a text that is not empty"],
  laneId: [isWord, "it must be a text that is not empty"],
  name: [isWord, "it must be a text that is not empty"],
  workingDirectory: [(value) => isText(value) && value.startsWith("/"), "it must be a full path"],
  environmentVariables: [(value) => isTable(value) && Object.values(value).every(isText), "it must be names and texts"],
  scrollbackSnapshot: [isText, "it must be a text"],
  multiplexerSessionName: [(value) => value === null || isText(value), "it must be a text or null"],
  shellCommand: [isWord, "it must be a text that is not empty"],
  argv: [isArgv, "it must be a list of texts, and not empty"],
  size: [isSize, "it must be {cols, rows}"],
  generation: [(value) => isCount(value) && value > 0, "it must be a number from 1 on"],
  policy: [(value) => RESTORE_POLICIES.some((policy) => policy === value), "it must be auto, ask or never"],
  bootId: [isText, "it must be a text"],
  screen: [isScreen, "it must say where the snapshot was taken, or be null"],
  foreground: [isForeground, "it must be {argv, cwd}, or null"],
  agent: [(value) => value === undefined || isSeenAgent(value), "it must be {name, session}"],
  lookedAt: [(value) => value === undefined || isText(value), "it must be a time"],
};

function sessionErrors(item: unknown, seen: ReadonlySet<string>): ValidationError[] {
  if (!isTable(item)) return [{ field: "sessions", reason: "one of them is not a session" }];
  const { sessionId, terminalId } = item;
  const who = isWord(sessionId) ? { sessionId } : {};
  const errors = Object.entries(FIELDS).flatMap(([field, [fits, reason]]) =>
    problem(field, fits(item[field]), field in item ? reason : "it is missing"),
  );
  const twice = isWord(terminalId) && seen.has(terminalId);
  return [...errors, ...problem("terminalId", !twice, "it is there twice")].map((error) => ({ ...who, ...error }));
}

function isSession(item: unknown): item is CheckpointSession {
  return sessionErrors(item, new Set()).length === 0;
}

function problem(field: string, fits: boolean, reason: string): ValidationError[] {
  return fits ? [] : [{ field, reason }];
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isWord(value: unknown): value is string {
  return isText(value) && value !== "";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isArgv(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isText);
}

function isSize(value: unknown): boolean {
  return isTable(value) && [value["cols"], value["rows"]].every((side) => isCount(side) && side > 0);
}

function isScreen(value: unknown): boolean {
  if (value === null) return true;
  if (!isTable(value) || !isSize(value) || !isCount(value["offset"])) return false;
  const { exact, alternate, at, title, behind } = value;
  if (behind !== undefined && !isCount(behind)) return false;
  return typeof exact === "boolean" && typeof alternate === "boolean" && isText(at) && isText(title);
}

function isForeground(value: unknown): value is Foreground | null {
  if (value === null) return true;
  if (!isTable(value) || !isArgv(value["argv"]) || !isText(value["cwd"])) return false;
  const { startedAt, elsewhere, notOnPath } = value;
  if ([elsewhere, notOnPath].some((flag) => flag !== undefined && typeof flag !== "boolean")) return false;
  return startedAt === undefined || isText(startedAt);
}

function isSeenAgent(value: unknown): value is SeenAgent {
  const name = isTable(value) ? AGENT_NAMES.find((one) => one === value["name"]) : undefined;
  if (!isTable(value) || name === undefined) return false;
  const { session } = value;
  return session === undefined || (isText(session) && isConversation(name, session));
}

/** The sightings in a file, by terminal; those that are malformed are left out (C1). */
export function readSightings(body: unknown): Map<string, Sighting> {
  const list = isTable(body) && isTable(body["sightings"]) ? Object.entries(body["sightings"]) : [];
  return new Map(list.flatMap(([id, item]): [string, Sighting][] => (isSighting(item) ? [[id, item]] : [])));
}

function isSighting(item: unknown): item is Sighting {
  if (!isTable(item) || !isCount(item["generation"]) || !isForeground(item["foreground"])) return false;
  const { workingDirectory, at, agent } = item;
  if (agent !== undefined && !isSeenAgent(agent)) return false;
  return isText(workingDirectory) && workingDirectory.startsWith("/") && isText(at) && !Number.isNaN(Date.parse(at));
}

/** A program that is started again a moment later is another one; the time of a start is known to about a second. */
const SAME_START_MS = 3_000;

/** Whether a second look has seen the same directory and the same program. */
export function sameSight(a: Sighting, b: Sighting): boolean {
  if (a.generation !== b.generation || a.workingDirectory !== b.workingDirectory) return false;
  if (a.agent?.name !== b.agent?.name || a.agent?.session !== b.agent?.session) return false;
  const [before, now] = [a.foreground, b.foreground];
  if (before === null || now === null) return before === now;
  const apart = Date.parse(before.startedAt ?? "") - Date.parse(now.startedAt ?? "");
  return before.cwd === now.cwd && shellLine(before.argv) === shellLine(now.argv) && !(Math.abs(apart) > SAME_START_MS);
}

/** NFR-027-003: a larger one is reported. */
export const LARGE_CHECKPOINT_BYTES = 50 * 1024 * 1024;

/** A session with a full snapshot and the environment of a desktop, as JSON, including the snapshot's escapes. */
const TYPICAL_SESSION_BYTES = 14_000;
/** The envelope's head: its fields and a SHA-256. */
const ENVELOPE_BYTES = 250;
/** More samples do not improve the mean, only cost more. */
const MAX_SAMPLES = 8;

/**
 * TC-5: the size in bytes of a checkpoint of `n` sessions; from samples if there are any, otherwise from typical sizes.
 */
export function estimateSize(n: number, atHand: readonly CheckpointSession[] = []): number {
  const step = Math.max(1, Math.floor(atHand.length / MAX_SAMPLES));
  const samples = atHand.filter((_, index) => index % step === 0).slice(0, MAX_SAMPLES);
  const sum = samples.reduce((total, session) => total + bytesOf(session), 0);
  return ENVELOPE_BYTES + Math.round(n * (samples.length === 0 ? TYPICAL_SESSION_BYTES : sum / samples.length));
}

function bytesOf(session: CheckpointSession): number {
  return new TextEncoder().encode(JSON.stringify(session)).length + 1;
}

/** `argv` as a person would type it. */
export function shellLine(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}
