// The host's answers to requests: the page's files, signing in, and refusals (world/page-answers.ts).
import { parseJson } from "../base/json.ts";
import type { Result } from "../base/result.ts";
import { fitting } from "../wire/check.ts";
import { SOCKET_PATH } from "../wire/page/messages.ts";
import { object, text } from "../wire/shape.ts";
import type { Answered, HttpRequest, HttpResponse, HttpUpgrade } from "../world/http.ts";
import { NONCE_BYTES, page, plain, SAFE, served } from "../world/page-answers.ts";
import type { PageFiles } from "../world/page-files.ts";
import type { Browsers } from "./browsers.ts";
import { type Admission, admit, NOTHING, SESSION_PATH } from "./guard.ts";

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
