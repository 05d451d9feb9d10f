// Signing in by a link: the page exchanges it for a token of its own.
// SI1. The link is behind the #, which browsers send nowhere. It leaves the address once it was used, or is of no use.
// SI2. If the host or the daemon does not answer, the link was not used: it is tried again by itself.
// SI3. Under any other name than this machine's, the page came from a relay: device.ts connects through it. So does a
//      page that was exported, wherever it came from.
// SI4. A tab without a token takes the one that its browser keeps while it is called (stored-way.ts): a notification
//      opens such tabs. A token that is refused is forgotten there, too.
import { signal } from "@preact/signals";
import { jsonIn } from "../../base/json.ts";
import { check } from "../../wire/check.ts";
import { object, text } from "../../wire/shape.ts";
import { address, after, isRemote, keepToken, post, readToken } from "../browser.ts";
import type { Way } from "./session.ts";
import { storedToken } from "./stored-way.ts";

const WAIT_MS = 8_000;
const AGAIN_MS = 2_000;

const SESSION = object({ token: text });
const REFUSED = object({ code: text, message: text });

/** Why this browser is not signed in, as far as a link or its absence tells; empty if it may be. */
export const signInTrouble = signal("");

/** What became of a link. */
export type SignIn =
  | { readonly kind: "signed in"; readonly token: string }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "not yet"; readonly why: string };

/** SI2 */
export function signInOf(status: number, body: string): SignIn {
  const value = jsonIn(body);
  const session = check(SESSION, value);
  if (status === 200 && session.ok) return { kind: "signed in", token: session.value.token };
  const refusal = check(REFUSED, value);
  if (!refusal.ok) return { kind: status === 429 || status >= 500 ? "not yet" : "refused", why: body.trim() };
  const isDown = refusal.value.code.startsWith("daemon.");
  return { kind: isDown ? "not yet" : "refused", why: refusal.value.message };
}

/** Calls `done` when it is known how to connect: with a token, or with nothing left to try. */
export async function signIn(done: (way?: Way) => void): Promise<void> {
  if (isRemote) {
    const found = await (await import("./device.ts")).findWay(); // SI3
    signInTrouble.value = found.ok ? "" : found.error;
    return found.ok ? done(found.value) : undefined;
  }
  const link = address.named("link");
  if (link === null) {
    if (readToken() === "") keepToken(await kept());
    if (readToken() === "") signInTrouble.value = "This browser is not signed in.";
    return done();
  }
  const result = await exchange(link);
  signInTrouble.value = result.kind === "signed in" ? "" : result.why;
  if (result.kind === "not yet") return void after(AGAIN_MS, () => void signIn(done)); // SI2
  address.forget(); // SI1
  if (result.kind === "signed in") keepToken(result.token);
  done();
}

/** SI4. A browser that keeps nothing has none. */
async function kept(): Promise<string> {
  try {
    return await storedToken();
  } catch (error) {
    if (error instanceof DOMException) return "";
    throw error;
  }
}

async function exchange(link: string): Promise<SignIn> {
  try {
    const { status, text: body } = await post("/api/session", { link }, WAIT_MS);
    return signInOf(status, body);
  } catch (error) {
    if (error instanceof TypeError || error instanceof DOMException)
      return { kind: "not yet", why: "The web host does not answer." };
    throw error;
  }
}
