// Answers that serve the page, each with security headers: of the web host, and of the relay.
// A1. Nothing is loaded from elsewhere. No script is inline; a style is inline only if our script made it, which knows
//     the nonce of this answer.
// A2. Nothing is framed or disclosed to other sites. Only the page's files are kept by browsers, which ask each time
//     whether they are still the same.
import type { HttpRequest, HttpResponse } from "./http.ts";
import type { PageFile } from "./page-files.ts";

export const SAFE: Readonly<Record<string, string>> = {
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
export const NONCE_BYTES = 16;
export function page({ type, bytes }: PageFile, random: Uint8Array): HttpResponse {
  const nonce = random.toBase64();
  const body = new TextDecoder().decode(bytes).replaceAll(NONCE, nonce);
  return { status: 200, headers: { ...SAFE, "content-type": type, "content-security-policy": policy(nonce) }, body };
}

export function served(request: HttpRequest, { type, bytes, gzip, etag }: PageFile): HttpResponse {
  const cached = { ...SAFE, "cache-control": "no-cache", etag, vary: "accept-encoding" }; // A2
  if (request.header("if-none-match") === etag) return { status: 304, headers: cached, body: "" };
  const headers = { ...cached, "content-type": type, "content-security-policy": policy() };
  const takesGzip = /\bgzip\b/.test(request.header("accept-encoding") ?? "");
  if (!takesGzip) return { status: 200, headers, body: bytes };
  return { status: 200, headers: { ...headers, "content-encoding": "gzip" }, body: gzip };
}

export function plain(status: number, words: string): HttpResponse {
  const headers = { ...SAFE, "content-type": "text/plain; charset=utf-8", "content-security-policy": policy() };
  return { status, headers, body: `${words}\n` };
}
