// Gives JSON to and from a holder its type: the spec it is started with, what clients send, what it answers.
// J1. Unknown fields are ignored (protocol.ts, H2); a known one of the wrong kind makes the whole unusable.

import { jsonIn } from "../../base/json.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { check, fitting } from "../check.ts";
import type { Shape } from "../shape.ts";
import { problemOf } from "../shape-text.ts";
import {
  ANSWER_SHAPE,
  ANSWERS_SHAPE,
  CLAIM_SHAPE,
  EXIT_SHAPE,
  HELLO_SHAPE,
  type Hello,
  type HolderAnswer,
  type HolderClaim,
  type HolderExit,
  type HolderRefusal,
  type HolderSize,
  type HolderSizeAt,
  type HolderSpec,
  type HolderStatus,
  REFUSAL_SHAPE,
  SIGNAL_SHAPE,
  SIZE_AT_SHAPE,
  SIZE_SHAPE,
  SPEC_SHAPE,
  STATUS_SHAPE,
} from "./protocol.ts";

export function parseSpec(bytes: Uint8Array): Result<HolderSpec> {
  const checked = check(SPEC_SHAPE, valueIn(bytes));
  if (checked.ok) return ok(checked.value);
  const wrong = checked.error.map((problem) => problemOf(problem, "the file")).join("; ");
  return refused("holder.spec", `holder.json: ${wrong}.`, "Restart the terminal.");
}

export function parseHello(payload: Uint8Array): Hello | undefined {
  return parse(HELLO_SHAPE, payload);
}

export function parseExit(bytes: Uint8Array): HolderExit | undefined {
  return parse(EXIT_SHAPE, bytes);
}

export function parseClaim(bytes: Uint8Array): HolderClaim | undefined {
  return parse(CLAIM_SHAPE, bytes);
}

export function parseStatus(payload: Uint8Array): HolderStatus | undefined {
  return parse(STATUS_SHAPE, payload);
}

export function parseSize(payload: Uint8Array): HolderSize | undefined {
  return parse(SIZE_SHAPE, payload);
}

export function parseSizeAt(payload: Uint8Array): HolderSizeAt | undefined {
  return parse(SIZE_AT_SHAPE, payload);
}

export function parseSignal(payload: Uint8Array): string | undefined {
  return parse(SIGNAL_SHAPE, payload)?.signal;
}

export function parseAnswer(payload: Uint8Array): HolderAnswer | undefined {
  return parse(ANSWER_SHAPE, payload);
}

export function parseAnswers(payload: Uint8Array): { readonly answers: boolean } | undefined {
  return parse(ANSWERS_SHAPE, payload);
}

export function parseRefusal(payload: Uint8Array): HolderRefusal | undefined {
  return parse(REFUSAL_SHAPE, payload);
}

/** J1 */
function parse<T>(shape: Shape<T>, bytes: Uint8Array): T | undefined {
  return fitting(shape, valueIn(bytes));
}

function valueIn(bytes: Uint8Array): unknown {
  return jsonIn(new TextDecoder().decode(bytes));
}
