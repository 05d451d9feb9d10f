// Who may see the page. Any program and any site can send requests to
// a port of this machine; only the operator's browser may get answers.
// G1. Only GET, and only under the names of this machine: a foreign name that resolves to it (DNS rebinding) is
//     refused.
// G2. Only from our own page: an Origin or a Sec-Fetch-Site that contradicts this is refused.
// G3. Only with the access token: once in the address (`?t=`), then as a cookie that scripts cannot read and other
//     sites cannot send.
// G4. Secrets are compared in constant time, and no refusal gives details.
import { sameSecret } from "../world/hash.ts";
import type { HttpRequest } from "../world/http.ts";

/** Our own addresses are a tenth of it. */
const MAX_TARGET = 2048;
/** A week: the token itself stays the same as long as the home's run/ directory. */
const COOKIE_S = 7 * 24 * 3600;

export type Access = { readonly port: number; readonly token: string; readonly cookie: string };

export type Admission =
  | { readonly kind: "allowed"; readonly path: string }
  /** The token was in the address: keep it as a cookie, and redirect to the address without it. */
  | { readonly kind: "signed in"; readonly setCookie: string }
  | { readonly kind: "refused"; readonly status: 401 | 403 | 405 | 414; readonly why: string };

export function admit(request: HttpRequest, access: Access): Admission {
  if (request.method !== "GET") return refuse(405, "Only GET is answered here."); // G1
  if (request.target.length > MAX_TARGET) return refuse(414, "This address is too long.");
  const names = [`127.0.0.1:${access.port}`, `localhost:${access.port}`];
  if (!names.includes(request.header("host") ?? "")) return refuse(403, "This name is not served here."); // G1
  if (isForeign(request, names)) return refuse(403, "Other pages are not served here."); // G2
  return withToken(request, access);
}

/** A link from elsewhere may open the page, which shows nothing to the linking site; data is for our own page alone. */
function isForeign(request: HttpRequest, names: readonly string[]): boolean {
  const origin = request.header("origin");
  if (origin !== undefined && !names.some((name) => origin === `http://${name}`)) return true;
  const site = request.header("sec-fetch-site") ?? "none";
  return !["none", "same-origin"].includes(site) && request.header("sec-fetch-mode") !== "navigate";
}

function withToken(request: HttpRequest, access: Access): Admission {
  const { pathname: path, searchParams } = new URL(request.target, "http://localhost");
  const given = searchParams.get("t");
  if (path === "/" && given !== null && sameSecret(given, access.token)) {
    const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${COOKIE_S}`;
    return { kind: "signed in", setCookie: `${access.cookie}=${access.token}; ${flags}` }; // G3
  }
  const kept = cookieIn(request.header("cookie") ?? "", access.cookie);
  if (kept !== undefined && sameSecret(kept, access.token)) return { kind: "allowed", path };
  return refuse(401, "This page opens with the address that `holdfast status` prints."); // G4
}

function cookieIn(header: string, name: string): string | undefined {
  const pair = header.split(/;\s*/).find((one) => one.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}

function refuse(status: (Admission & { kind: "refused" })["status"], why: string): Admission {
  return { kind: "refused", status, why };
}
