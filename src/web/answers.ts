// The host's responses: the page, its data, and refusals, each with security headers.
// A1. Nothing is loaded from elsewhere, and only the page's own script and style run, named by their hashes.
// A2. Nothing is cached, framed, or disclosed to other sites.
import { sha256 } from "../world/hash.ts";
import type { HttpRequest, HttpResponse } from "../world/http.ts";
import { type Access, type Admission, admit } from "./guard.ts";
import pageText from "./page.html" with { type: "text" };
import type { StatusView } from "./status-view.ts";

const SAFE: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
}; // A2

/** A1, for a page with inline styles and scripts. */
export function policyOf(html: string): string {
  const hashes = (tag: string) =>
    [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g"))].map(
      ([, text = ""]) => `'sha256-${base64(text)}'`,
    );
  return [
    "default-src 'none'",
    `style-src ${hashes("style").join(" ") || "'none'"}`,
    `script-src ${hashes("script").join(" ") || "'none'"}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function base64(text: string): string {
  return Buffer.from(sha256(text), "hex").toString("base64");
}

// TypeScript knows HTML only as a bundle; imported as text it is a string.
const PAGE = String(pageText);
const PAGE_POLICY = policyOf(PAGE);

export async function answer(
  request: HttpRequest,
  access: Access,
  look: () => Promise<StatusView>,
): Promise<HttpResponse> {
  const admission = admit(request, access);
  if (admission.kind !== "allowed") return turnedAway(admission);
  if (admission.path === "/") return html(200, PAGE, PAGE_POLICY);
  if (admission.path !== "/api/status.json") return text(404, "There is nothing here.");
  const headers = { ...SAFE, "content-type": "application/json; charset=utf-8" };
  return { status: 200, headers, body: `${JSON.stringify(await look())}\n` };
}

function turnedAway(admission: Exclude<Admission, { kind: "allowed" }>): HttpResponse {
  if (admission.kind === "signed in") {
    return { status: 303, headers: { ...SAFE, location: "/", "set-cookie": admission.setCookie }, body: "" };
  }
  const { status, why } = admission;
  const refusal = text(status, why);
  return status === 405 ? { ...refusal, headers: { ...refusal.headers, allow: "GET" } } : refusal;
}

function html(status: number, body: string, policy: string): HttpResponse {
  const headers = { ...SAFE, "content-type": "text/html; charset=utf-8", "content-security-policy": policy };
  return { status, headers, body };
}

function text(status: number, words: string): HttpResponse {
  const headers = { ...SAFE, "content-type": "text/plain; charset=utf-8", "content-security-policy": policyOf("") };
  return { status, headers, body: `${words}\n` };
}
