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

const NOTHING_ELSE = ["default-src 'none'", "base-uri 'none'", "form-action 'none'"];
/** Browsers obey it only in a header. */
const NO_FRAMES = "frame-ancestors 'none'";

/** A1. `nonce`: of the page's own styles. */
function policy(nonce?: string): string {
  const own = nonce === undefined ? [] : ownSources(nonce, "'self'");
  return [...NOTHING_ELSE, NO_FRAMES, ...own].join("; ");
}

/** Of the page's other files: it matters for the service worker, which connects to its own host and shows an icon. */
const FILE_POLICY = [...NOTHING_ELSE, NO_FRAMES, "connect-src 'self'", "img-src 'self'"].join("; ");

/** A1. `connects`: to where. */
function ownSources(nonce: string, connects: string): string[] {
  const styles = `style-src 'self' 'nonce-${nonce}'`;
  const others = ["img-src 'self' data:", "font-src 'self'", "manifest-src 'self'"];
  return ["script-src 'self'", styles, `connect-src ${connects}`, ...others];
}

/** What stands in index.html for the nonce. */
const NONCE = "%NONCE%";
export const NONCE_BYTES = 16;
export function page({ type, bytes }: PageFile, random: Uint8Array): HttpResponse {
  const nonce = random.toBase64();
  const body = new TextDecoder().decode(bytes).replaceAll(NONCE, nonce);
  return { status: 200, headers: { ...SAFE, "content-type": type, "content-security-policy": policy(nonce) }, body };
}

/**
 * A1. The page as a file, with its policy in it; `relay`: the origin to which it connects. Its nonce is the same for
 * all who load it. Only styles depend on it, and only our script makes any.
 */
export function exportedPage({ bytes }: PageFile, random: Uint8Array, relay: string): string {
  const fixed = random.toBase64();
  const content = [...NOTHING_ELSE, ...ownSources(fixed, relay.replace(/^http/, "ws"))].join("; ");
  const own = `<meta http-equiv="Content-Security-Policy" content="${content}" />\n    <meta name="relay" content="${relay}" />`;
  const text = new TextDecoder().decode(bytes).replaceAll(NONCE, fixed);
  return text.replace('<meta name="nonce"', `${own}\n    <meta name="nonce"`);
}

/** A2. What an exported page cannot say itself. */
export const EXPORT_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": NO_FRAMES,
  ...SAFE,
  "cache-control": "no-cache",
};

export function served(request: HttpRequest, { type, bytes, gzip, etag }: PageFile): HttpResponse {
  const cached = { ...SAFE, "cache-control": "no-cache", etag, vary: "accept-encoding" }; // A2
  if (request.header("if-none-match") === etag) return { status: 304, headers: cached, body: "" };
  const headers = { ...cached, "content-type": type, "content-security-policy": FILE_POLICY };
  const takesGzip = /\bgzip\b/.test(request.header("accept-encoding") ?? "");
  if (!takesGzip) return { status: 200, headers, body: bytes };
  return { status: 200, headers: { ...headers, "content-encoding": "gzip" }, body: gzip };
}

export function plain(status: number, words: string): HttpResponse {
  const headers = { ...SAFE, "content-type": "text/plain; charset=utf-8", "content-security-policy": policy() };
  return { status, headers, body: `${words}\n` };
}
