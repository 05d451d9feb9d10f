// What commands ask of a running relay, over a socket in its home: one JSON line with the request, one with the answer.
import { ok, type Refusal, type Result } from "../../base/result.ts";
import { fitting } from "../check.ts";
import { decodeLine, encodeLine, isObject } from "../lines.ts";
import { type Infer, literal, nullable, object, type Shape, textOf, whole } from "../shape.ts";

export const DESK_SOCKET = "relay.sock";
export const MAX_REQUEST = 64 << 10;
export const MAX_DESK_ANSWER = 16 << 20;
/** Of `log`. */
export const MAX_EVENTS = 10_000;
/** A month: a token that is not used by then was lost. */
const MAX_TOKEN_MS = 30 * 86_400_000;

const REQUESTS = {
  token: object({
    method: literal("token"),
    name: nullable(textOf({ least: 1, most: 100 })),
    lifeMs: whole(1000, MAX_TOKEN_MS),
  }),
  ls: object({ method: literal("ls") }),
  revoke: object({ method: literal("revoke"), home: textOf({ least: 1, most: 100 }) }),
  status: object({ method: literal("status") }),
  log: object({ method: literal("log"), count: whole(1, MAX_EVENTS) }),
};

export type DeskRequest = { [K in keyof typeof REQUESTS]: Infer<(typeof REQUESTS)[K]> }[keyof typeof REQUESTS];
export type DeskMethod = DeskRequest["method"];

/** Times are ISO texts. */
export type ListedHome = {
  readonly id: string;
  readonly label: string;
  readonly name: string;
  readonly url: string;
  readonly enrolledAt: string;
  readonly seenAt: string;
  readonly connected: boolean;
  readonly tabs: number;
  readonly certificateUntil: string | null;
  readonly revokedAt: string | null;
};

export type RelayStatus = {
  readonly pid: number;
  readonly home: string;
  readonly domain: string;
  readonly hosts: readonly string[];
  /** Where homes connect, and where browsers do. */
  readonly tunnel: { readonly host: string; readonly port: number };
  readonly browsers: { readonly host: string; readonly port: number; readonly tls: boolean };
  readonly homes: { readonly enrolled: number; readonly connected: number; readonly revoked: number };
  readonly tabs: number;
  readonly authority: { readonly hash: string; readonly until: string };
  readonly certificateUntil: string;
};

export type LoggedEvent = {
  readonly seq: number;
  readonly ts: string;
  readonly event: string;
  readonly data: unknown;
  readonly by: unknown;
};

export type DeskResults = {
  readonly token: { readonly token: string; readonly name: string | null; readonly until: string };
  readonly ls: readonly ListedHome[];
  readonly revoke: ListedHome;
  readonly status: RelayStatus;
  readonly log: readonly LoggedEvent[];
};

/** Returns undefined if the line is not a request. */
export function deskRequest(line: string): DeskRequest | undefined {
  const value = decodeLine(line);
  const method = value?.["method"];
  const shapes: Readonly<Record<string, Shape>> = REQUESTS;
  const shape = typeof method === "string" && Object.hasOwn(shapes, method) ? shapes[method] : undefined;
  return shape && (fitting(shape, value) as DeskRequest | undefined);
}

export function deskAnswer(answer: Result<unknown>): Uint8Array {
  return encodeLine(answer);
}

/** What the relay has answered to a request with this method. Both sides are of one installation. */
export function readAnswer<M extends DeskMethod>(_method: M, line: string): Result<DeskResults[M]> | undefined {
  const value = decodeLine(line);
  if (value?.["ok"] === true) return ok(value["value"] as DeskResults[M]);
  const error = value?.["error"];
  return isObject(error) ? { ok: false, error: error as Refusal } : undefined;
}
