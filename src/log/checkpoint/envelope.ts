// The envelope of a checkpoint: one JSON document on one line, with its fields always in this order:
//   {"kind":"…","version":1,"fold":1,"seq":7,"time":"2026-01-02T03:04:05.678Z","sha256":"…64 hex…","body":…}⏎
// or, for a body that is an object and whose kind gives names to time and hash, with the fields of the body in place:
//   {"kind":"…","version":2,"fold":1,"seq":7,"timestamp":"…","checksum":"…64 hex…",…}⏎
//   {"kind":"…","version":2,"fold":1,"seq":7,"created_at":"…","integrity_hash":"…64 hex…",…}⏎
// E1. The hash covers every byte of the file except its own field: kind, version, fold, seq, time and body. By hand:
//     sed 's/"sha256":"[0-9a-f]*",//' checkpoint.json | sha256sum (or with "checksum", "integrity_hash")
// E2. Bad bytes give a result, never an exception.
// E3. A document counts as a newer version only if its hash is right, or if its form is unknown to us: a flipped bit in
//     the version is damage. Damage makes us fall back to an older checkpoint, while a newer version stops us.
import { assert } from "../../base/assert.ts";
import { sha256 } from "../../world/hash.ts";

/** What the source documents call time and hash. */
export type EnvelopeNames =
  | { readonly time: "timestamp"; readonly hash: "checksum" }
  | { readonly time: "created_at"; readonly hash: "integrity_hash" };

/**
 * `version` is the format of the body; `fold` is the version of the rules
 * that made it from events: under other rules it must be folded again.
 */
export type EnvelopeFacts = {
  readonly kind: string;
  readonly version: number;
  readonly fold: number;
  /** Absent: the body is a field of its own. */
  readonly names?: EnvelopeNames;
};
export type EnvelopeHead = Omit<EnvelopeFacts, "names"> & {
  readonly seq: number;
  readonly time: string;
  readonly sha256: string;
};

export type ProblemCode =
  | "empty"
  | "garbage"
  | "bad-hash"
  | "wrong-kind"
  | "other-rules"
  | "no-migration"
  | "migration-failed"
  | "unreadable"
  | "bad-pages"
  | "missing";

export type EnvelopeReading =
  | { readonly kind: "whole"; readonly head: EnvelopeHead; readonly body: unknown }
  | { readonly kind: "newer"; readonly version: number }
  | { readonly kind: "bad"; readonly code: ProblemCode; readonly reason: string };

export type Encoded = { readonly bytes: Uint8Array; readonly head: EnvelopeHead };

const HEAD = /^\{"kind":"([a-z0-9.-]{1,64})","version":(\d{1,9}),"fold":(\d{1,9}),"seq":(\d{1,16}),/;
const SEAL =
  /"(time|timestamp|created_at)":"([0-9TZ:.+-]{1,32})","(sha256|checksum|integrity_hash)":"([0-9a-f]{64})",("body":|)/;
const FORM = new RegExp(HEAD.source + SEAL.source);
const HASH_LENGTH = 64;

/** What is different between the forms. `from` and `end` are of the body's text. */
type Form = {
  readonly time: string;
  readonly hash: string;
  readonly before: string;
  readonly from: number;
  readonly end: string;
};
const NESTED: Form = { time: "time", hash: "sha256", before: '"body":', from: 0, end: "}\n" };
/** The brace that begins the body is the one that begins the file, and so is the one that ends it. */
const FLAT = { before: "", from: 1, end: "\n" };
const FORMS: readonly Form[] = [
  NESTED,
  { time: "timestamp", hash: "checksum", ...FLAT },
  { time: "created_at", hash: "integrity_hash", ...FLAT },
];
/** A body in place begins with a field of its own: after the hash, `"body":` means the nested form. */
const OWN_NAMES = /^\{"(?!(?:kind|version|fold|seq|timestamp|checksum|created_at|integrity_hash|body)")/;

function fieldLength({ hash }: Form): number {
  return `"${hash}":"",`.length + HASH_LENGTH;
}
/** Longer than anything FORM can match. */
const HEAD_LIMIT = 512;

/**
 * `bodyText` is the body as JSON. One buffer, one hash, no second copy: the head is moved to make room for the field.
 */
export function encodeEnvelope(facts: EnvelopeFacts & { seq: number; time: string }, bodyText: string): Encoded {
  const { kind, version, fold, seq, time } = facts;
  const form = FORMS.find(({ hash }) => hash === facts.names?.hash) ?? NESTED;
  assert(form === NESTED || OWN_NAMES.test(bodyText), "its fields have other names");
  const text = bodyText.slice(form.from);
  const length = fieldLength(form);
  const head = `{"kind":"${kind}","version":${version},"fold":${fold},"seq":${seq},"${form.time}":"${time}",`;
  const bodyFrom = length + head.length + form.before.length;
  const bytes = Buffer.allocUnsafeSlow(bodyFrom + Buffer.byteLength(text) + form.end.length);
  bytes.write(head + form.before, length, "latin1");
  new TextEncoder().encodeInto(text, bytes.subarray(bodyFrom));
  bytes.write(form.end, bytes.length - form.end.length, "latin1");
  const sum = sha256(bytes.subarray(length)); // E1
  bytes.copyWithin(0, length, length + head.length);
  bytes.write(`"${form.hash}":"${sum}",`, head.length, "latin1");
  assert(FORM.test(bytes.toString("latin1", 0, HEAD_LIMIT)), "an envelope that we write is one that we can read");
  return { bytes: new Uint8Array(bytes.buffer), head: { kind, version, fold, seq, time, sha256: sum } };
}

/** Reads the bytes of a file for a program that expects `facts`. */
export function readEnvelope(bytes: Uint8Array, facts: EnvelopeFacts): EnvelopeReading {
  if (bytes.length === 0) return bad("empty", "the file is empty");
  const match = FORM.exec(
    Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_LIMIT)).toString("latin1"),
  );
  const head = match === null ? undefined : headOf(match);
  const form = match === null ? undefined : formOf(match);
  if (match === null || head === undefined || form === undefined) return readUnknownForm(bytes, facts);
  const bodyFrom = match[0].length;
  const ends = bytes[bytes.length - 2] === 0x7d && bytes[bytes.length - 1] === 0x0a;
  if (!ends || hashOf(bytes, bodyFrom, form) !== head.sha256)
    return bad("bad-hash", "the bytes do not match their SHA-256");
  if (head.kind !== facts.kind) return bad("wrong-kind", `it is of kind ${head.kind}, not ${facts.kind}`);
  if (head.version > facts.version) return { kind: "newer", version: head.version }; // E3
  const text = new TextDecoder().decode(bytes.subarray(bodyFrom, bytes.length - form.end.length));
  return withBody(head, form === NESTED ? text : `{${text}`);
}

function headOf([, kind, version, fold, seq, , time, , sum]: RegExpExecArray): EnvelopeHead | undefined {
  if (kind === undefined || time === undefined || sum === undefined) return undefined;
  return { kind, version: Number(version), fold: Number(fold), seq: Number(seq), time, sha256: sum };
}

function formOf([, , , , , time, , hash, , before]: RegExpExecArray): Form | undefined {
  return FORMS.find((form) => form.time === time && form.hash === hash && form.before === before);
}

/** E1, without copying the body: the bytes before the field are moved over it, hashed, and moved back. */
function hashOf(bytes: Uint8Array, bodyFrom: number, form: Form): string {
  const length = fieldLength(form);
  const fieldFrom = bodyFrom - form.before.length - length;
  const original = new Uint8Array(bytes.subarray(0, bodyFrom));
  bytes.copyWithin(length, 0, fieldFrom);
  const sum = sha256(bytes.subarray(length));
  bytes.set(original);
  return sum;
}

function withBody(head: EnvelopeHead, text: string): EnvelopeReading {
  const body = parseJson(text);
  return body === undefined ? bad("garbage", "the body is not JSON") : { kind: "whole", head, body };
}

/** A newer version may have another form of envelope: then we look only for its kind and version. */
function readUnknownForm(bytes: Uint8Array, facts: EnvelopeFacts): EnvelopeReading {
  const found = parseJson(new TextDecoder().decode(bytes));
  if (typeof found !== "object" || found === null || !("kind" in found && "version" in found)) {
    return bad("garbage", "it is not a checkpoint");
  }
  const { kind, version } = found;
  // E3
  if (kind === facts.kind && typeof version === "number" && version > facts.version) return { kind: "newer", version };
  return bad("garbage", "it does not have the form of a checkpoint");
}

/** Returns undefined if it is not JSON; no JSON value is undefined. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // E2
    throw error;
  }
}

function bad(code: ProblemCode, reason: string): EnvelopeReading {
  return { kind: "bad", code, reason };
}
