// Where JSON that comes to or from a holder becomes a type: the spec it is started with, what clients say, what it answers.
// J1. Unknown fields are passed over (holder.ts, H2); a known one of the wrong kind makes the whole unusable.
import { ok, type Result, refused } from "../../base/result.ts";
import type { Hello, HolderClaim, HolderExit, HolderSize, HolderSpec, HolderStatus } from "./protocol.ts";

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

/** Larger terminals do not exist; the system counts in 16 bits. */
const MAX_SIDE = 65_535;

const isText: Check = (value) => typeof value === "string";
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isWords: Check = (value) => isTexts(value) && Array.isArray(value) && value.length > 0;
const isTextMap: Check = (value) => isFields(value) && Object.values(value).every(isText);
const isSide: Check = (value) => isCount(value) && Number(value) >= 1 && Number(value) <= MAX_SIDE;
const isSize: Check = (value) => isFields(value) && isSide(value["cols"]) && isSide(value["rows"]);
const isLimits: Check = (value) => isFields(value) && isCount(value["segmentBytes"]) && isCount(value["maxBytes"]);
const orAbsent =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

const SPEC: Readonly<Record<keyof HolderSpec, Check>> = {
  v: isCount,
  id: isText,
  generation: isCount,
  mode: (value) => value === "pty" || value === "pipe",
  argv: isWords,
  cwd: isText,
  env: isTextMap,
  size: isSize,
  token: (value) => isText(value) && value !== "",
  socket: isText,
  tape: isLimits,
  preface: orAbsent(isText),
  typed: orAbsent(isText),
  startAt: orAbsent(isCount),
};

const HELLO: Readonly<Record<keyof Hello, Check>> = {
  v: (value) => isCount(value) && Number(value) >= 1,
  token: isText,
  writer: (value) => typeof value === "string" && value.length > 0 && value.length <= 200,
  from: orAbsent((value) => value === -1 || isCount(value)),
  readOnly: orAbsent((value) => typeof value === "boolean"),
  size: orAbsent(isSize),
};

const EXIT: Readonly<Record<keyof HolderExit, Check>> = {
  v: isCount,
  generation: isCount,
  code: orNull(isCount),
  signal: orNull(isText),
  bootId: isText,
  offset: isCount,
  at: isText,
  stopped: orAbsent((value) => typeof value === "boolean"),
};

const CLAIM: Readonly<Record<keyof HolderClaim, Check>> = {
  v: isCount,
  generation: isCount,
  by: (value) => value === "holder" || value === "cancel",
  pid: isCount,
  startTime: isCount,
  bootId: isText,
  at: isText,
};

const STATUS: Readonly<Record<keyof HolderStatus, Check>> = {
  v: isCount,
  generation: isCount,
  mode: (value) => value === "pty" || value === "pipe",
  pid: isCount,
  child: orNull((value) => isFields(value) && isCount(value["pid"]) && isCount(value["startTime"])),
  startedAt: isText,
  tape: (value) => isFields(value) && ["start", "end", "gaps"].every((key) => isCount(value[key])),
  consumed: isCount,
  size: isSize,
  clients: isCount,
  lastOutputAt: orNull(isText),
  writers: (value) => isFields(value) && Object.values(value).every(isCount),
  exit: orNull((value) => isFields(value) && wrongField(EXIT, value) === undefined),
  trouble: orNull(isText),
};

export function parseSpec(bytes: Uint8Array): Result<HolderSpec> {
  const fields = fieldsIn(bytes);
  const wrong = fields === undefined ? "the file" : wrongField(SPEC, fields);
  if (wrong === undefined) return ok(fields as unknown as HolderSpec);
  return refused("holder.spec", `holder.json: ${wrong} is missing or of the wrong kind`, "Start the terminal anew.");
}

export function parseHello(payload: Uint8Array): Hello | undefined {
  return parse<Hello>(HELLO, payload);
}

export function parseExit(bytes: Uint8Array): HolderExit | undefined {
  return parse<HolderExit>(EXIT, bytes);
}

export function parseClaim(bytes: Uint8Array): HolderClaim | undefined {
  return parse<HolderClaim>(CLAIM, bytes);
}

export function parseStatus(payload: Uint8Array): HolderStatus | undefined {
  return parse<HolderStatus>(STATUS, payload);
}

export function parseSize(payload: Uint8Array): HolderSize | undefined {
  const fields = fieldsIn(payload);
  return isSize(fields) ? (fields as unknown as HolderSize) : undefined;
}

/** SIGNAL: `{ signal: "SIGINT" }`. */
export function parseSignal(payload: Uint8Array): string | undefined {
  const signal = fieldsIn(payload)?.["signal"];
  return typeof signal === "string" && /^SIG[A-Z0-9+]{2,10}$/.test(signal) ? signal : undefined;
}

/** REFUSED: a refusal, and the number of the input it is about where it is about one. */
export type HolderRefusal = {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly number?: number;
};

export function parseRefusal(payload: Uint8Array): HolderRefusal | undefined {
  const text = { code: isText, message: isText, hint: isText, number: orAbsent(isCount) };
  return parse<HolderRefusal>(text, payload);
}

function parse<T>(checks: Readonly<Record<keyof T & string, Check>>, bytes: Uint8Array): T | undefined {
  const fields = fieldsIn(bytes);
  return fields === undefined || wrongField(checks, fields) !== undefined ? undefined : (fields as unknown as T);
}

/** The name of the first field that is not what it should be (J1). */
function wrongField(checks: Readonly<Record<string, Check>>, fields: Fields): string | undefined {
  return Object.entries(checks).find(([name, check]) => !check(fields[name]))?.[0];
}

function fieldsIn(bytes: Uint8Array): Fields | undefined {
  try {
    const found: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isFields(found) ? found : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
