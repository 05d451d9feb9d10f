// Who gets an answer. Any program and any site can send requests to a port of this machine; only the operator's browser
// may learn or change anything.
// G1. Only under the names of this machine: a foreign name that resolves to it (DNS rebinding) is refused.
// G2. Only from our own page: an Origin or a Sec-Fetch-Site that contradicts this is refused, and what changes
//     something, or opens a WebSocket, has to name its Origin.
// G3. The page's files are the same for everyone and contain nothing of this home. Everything else needs the browser's
//     own token (core/devices.ts) in the first message of its WebSocket, which only our page can send. It is in no
//     cookie: browsers send those to every port of this machine.
// G4. No refusal gives details.
import { SOCKET_PATH } from "../wire/page/messages.ts";
import type { HttpRequest } from "../world/http.ts";

/** Our own addresses are a tenth of it. */
const MAX_TARGET = 2048;

export const SESSION_PATH = "/api/session";
const API = "/api/";
/** What is served besides the page's files, and how it is asked for. */
const ROUTES: Readonly<Record<string, "GET" | "POST">> = { [SESSION_PATH]: "POST", [SOCKET_PATH]: "GET" };

export type Admission =
  | { readonly kind: "allowed"; readonly path: string }
  | { readonly kind: "refused"; readonly status: number; readonly why: string; readonly allow?: string };

export function admit(request: HttpRequest, port: number): Admission {
  if (request.target.length > MAX_TARGET) return refuse(414, "This address is too long.");
  const names = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!names.includes(request.header("host") ?? "")) return refuse(403, "This name is not served here."); // G1
  if (isForeign(request, names)) return refuse(403, "Other pages are not served here."); // G2
  const path = new URL(request.target, "http://localhost").pathname;
  const method = Object.hasOwn(ROUTES, path) ? ROUTES[path] : path.startsWith(API) ? undefined : "GET";
  if (method === undefined) return refuse(404, NOTHING);
  if (request.method !== method) return { ...refuse(405, `Only ${method} is answered here.`), allow: method };
  if (Object.hasOwn(ROUTES, path) && request.header("origin") === undefined)
    return refuse(403, "Only the page may ask for this."); // G2
  return { kind: "allowed", path };
}

export const NOTHING = "There is nothing here.";

/** A link from elsewhere may open the page, which shows nothing to the linking site; data is for our own page alone. */
function isForeign(request: HttpRequest, names: readonly string[]): boolean {
  const origin = request.header("origin");
  if (origin !== undefined && !names.some((name) => origin === `http://${name}`)) return true;
  const site = request.header("sec-fetch-site") ?? "none";
  return !["none", "same-origin"].includes(site) && request.header("sec-fetch-mode") !== "navigate";
}

function refuse(status: number, why: string): Admission & { readonly kind: "refused" } {
  return { kind: "refused", status, why };
}
