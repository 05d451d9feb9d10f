// The head of an HTTP request that arrives at a sandbox's proxy, and the head that goes on from there.
// PH1. Strict: what two programs could read in two ways is refused, since the other one decides where the body ends.
// PH2. One request for each connection: both sides are asked to close it.
// PH3. What belongs to one connection, or says who asks, is not passed on.
import type { Host } from "./egress.ts";
import { hostIn } from "./egress.ts";

export type RequestHead = {
  readonly method: string;
  readonly target: string;
  /** With lower-case names. */
  readonly headers: readonly (readonly [name: string, value: string])[];
};

/** Where a request wants to go: through a tunnel, to a host without TLS, or to the service of the provider. */
export type Route =
  | { readonly kind: "tunnel"; readonly to: Host }
  | { readonly kind: "plain"; readonly to: Host; readonly path: string }
  | { readonly kind: "service"; readonly path: string };

/** Agents' programs send two kilobytes. */
export const MAX_HEAD = 64 << 10;
/** Of a head. */
export const END = "\r\n\r\n";
const MAX_HEADERS = 200;
const HTTP = 80;

const FIRST = /^([A-Z]{1,20}) ([\x21-\x7e]+) HTTP\/1\.[01]$/;
const HEADER = /^([!#$%&'*+.^_`|~\dA-Za-z-]+):[ \t]*([\t -~\x80-\xff]*)$/;
/** PH3 */
const OF_A_CONNECTION = /^(?:connection|keep-alive|proxy-.*|te|trailer|upgrade|host)$/;

/** The head that these bytes begin with, without its END; undefined if that has not come yet. */
export function headIn(bytes: Uint8Array): string | undefined {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = all.indexOf(END);
  return end < 0 ? undefined : all.toString("latin1", 0, end);
}

/** Undefined if it is malformed. `text` ends before the empty line. */
export function parseHead(text: string): RequestHead | undefined {
  const [first = "", ...lines] = text.split("\r\n");
  const [, method, target] = FIRST.exec(first) ?? [];
  if (method === undefined || target === undefined || lines.length > MAX_HEADERS) return undefined;
  const headers: [string, string][] = [];
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    headers.push([name.toLowerCase(), value.trimEnd()]);
  }
  return { method, target, headers };
}

/** Undefined if the target is malformed. */
export function routeOf({ method, target }: RequestHead): Route | undefined {
  if (method === "CONNECT") {
    const to = hostIn(target);
    return to && { kind: "tunnel", to };
  }
  if (target.startsWith("/")) return { kind: "service", path: target };
  const [, authority = "", path = ""] = /^http:\/\/([^/?#@]+)(.*)$/.exec(target) ?? [];
  const to = hostIn(authority, HTTP);
  return to && { kind: "plain", to, path: path.startsWith("/") ? path : `/${path}` };
}

/** How many bytes follow the head; undefined if that is not said in so many words (PH1). */
export function bodyLength({ headers }: RequestHead): number | undefined {
  if (headers.some(([name]) => name === "transfer-encoding")) return undefined;
  const lengths = headers.filter(([name]) => name === "content-length").map(([, value]) => value);
  if (lengths.length === 0) return 0;
  const [length = ""] = lengths;
  return lengths.length === 1 && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

export type Onward = {
  readonly path: string;
  readonly host: string;
  /** In place of those of the same names, and of every other one that could say who asks. Lower-case names. */
  readonly identity: Readonly<Record<string, string>>;
  /** For the next proxy on the way. */
  readonly authorization?: string | undefined;
};

const IDENTITY = ["authorization", "x-api-key", "cookie"];

/** PH2, PH3 */
export function onwardHead({ method, headers }: RequestHead, { path, host, identity, authorization }: Onward): string {
  const replaced = Object.keys(identity).length === 0 ? [] : [...IDENTITY, ...Object.keys(identity)];
  const kept = headers.filter(([name]) => !OF_A_CONNECTION.test(name) && !replaced.includes(name));
  const forProxy = authorization === undefined ? [] : [["proxy-authorization", authorization]];
  const all = [["host", host], ...kept, ...Object.entries(identity), ...forProxy, ["connection", "close"]];
  return `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

/** An answer of our own, which a person reads in the output of curl or git. */
export function answerHead(status: string, words: string): string {
  const body = `holdfast: ${words}\n`;
  const headers = `content-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}`;
  return `HTTP/1.1 ${status}\r\n${headers}\r\nconnection: close\r\n\r\n${body}`;
}
