// The host's answers to requests: the page's files, signing in, and refusals, each with security headers.
// A1. Nothing is loaded from elsewhere. No script is inline; a style is inline only if our script made it, which knows
//     the nonce of this answer.
// A2. Nothing is framed or disclosed to other sites. Only the page's files are kept by browsers, which ask each time
//     whether they are still the same.
import { parseJson } from "../base/json.ts";
import type { Result } from "../base/result.ts";
import { fitting } from "../wire/check.ts";
import { SOCKET_PATH } from "../wire/page/messages.ts";
import { object, text } from "../wire/shape.ts";
import type { Answered, HttpRequest, HttpResponse, HttpUpgrade } from "../world/http.ts";
import type { PageFile, PageFiles } from "../world/page-files.ts";
import type { Browsers } from "./browsers.ts";
import { type Admission, admit, NOTHING, SESSION_PATH } from "./guard.ts";

const SAFE: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
}; // A2

/** A1. `nonce`: of the page's own styles. */
function policy(nonce?: string): string {
  const own =
    nonce === undefined
      ? []
      : [
          "script-src 'self'",
          `style-src 'self' 'nonce-${nonce}'`,
          "connect-src 'self'",
          "img-src 'self' data:",
          "font-src 'self'",
          "manifest-src 'self'",
        ];
  const none = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];
  return ["default-src 'none'", ...own, ...none].join("; ");
}

/** What stands in index.html for the nonce. */
const NONCE = "%NONCE%";
const NONCE_BYTES = 16;
const LINK = object({ link: text });

export type AnswerPorts = {
  readonly port: number;
  readonly browsers: Browsers;
  files(): Promise<PageFiles>;
  random(count: number): Uint8Array;
  readonly socket: HttpUpgrade;
};

export async function answer(request: HttpRequest, ports: AnswerPorts): Promise<Answered> {
  const admission = admit(request, ports.port);
  if (admission.kind === "refused") return turnedAway(admission);
  if (admission.path === SOCKET_PATH) return ports.socket;
  if (admission.path === SESSION_PATH) return signIn(request, ports.browsers);
  const file = (await ports.files()).get(admission.path);
  if (file === undefined) return plain(404, NOTHING);
  return admission.path === "/" ? page(file, ports.random(NONCE_BYTES)) : served(request, file);
}

function page({ type, bytes }: PageFile, random: Uint8Array): HttpResponse {
  const nonce = random.toBase64();
  const body = new TextDecoder().decode(bytes).replaceAll(NONCE, nonce);
  return { status: 200, headers: { ...SAFE, "content-type": type, "content-security-policy": policy(nonce) }, body };
}

function served(request: HttpRequest, { type, bytes, gzip, etag }: PageFile): HttpResponse {
  const cached = { ...SAFE, "cache-control": "no-cache", etag, vary: "accept-encoding" }; // A2
  if (request.header("if-none-match") === etag) return { status: 304, headers: cached, body: "" };
  const headers = { ...cached, "content-type": type, "content-security-policy": policy() };
  const takesGzip = /\bgzip\b/.test(request.header("accept-encoding") ?? "");
  if (!takesGzip) return { status: 200, headers, body: bytes };
  return { status: 200, headers: { ...headers, "content-encoding": "gzip" }, body: gzip };
}

const TOO_MANY = "There were too many wrong links. Wait a minute.";

async function signIn(request: HttpRequest, browsers: Browsers): Promise<HttpResponse> {
  const body = parseJson(await request.body());
  const given = fitting(LINK, body.ok ? body.value : undefined);
  if (given === undefined) return plain(400, "This is not a link.");
  const done = await browsers.redeem(given.link, request.header("user-agent") ?? "unknown browser");
  if (done.ok || done.error.code !== "no-link") return outcome(done);
  return browsers.wrong() ? plain(429, TOO_MANY) : outcome(done);
}

/** A refusal says what to do next. */
function outcome(done: Result<unknown>): HttpResponse {
  const headers = { ...SAFE, "content-type": "application/json; charset=utf-8" };
  const [status, value] = done.ok ? [200, done.value] : [409, done.error];
  return { status, headers, body: `${JSON.stringify(value)}\n` };
}

function turnedAway({ status, why, allow }: Admission & { readonly kind: "refused" }): HttpResponse {
  const refusal = plain(status, why);
  return allow === undefined ? refusal : { ...refusal, headers: { ...refusal.headers, allow } };
}

function plain(status: number, words: string): HttpResponse {
  const headers = { ...SAFE, "content-type": "text/plain; charset=utf-8", "content-security-policy": policy() };
  return { status, headers, body: `${words}\n` };
}
