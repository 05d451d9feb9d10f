// How this browser reaches its home without a page: the service worker's way, and that of a tab without a token.
// SY1. A device that is paired keeps its key and its token in the vault (device.ts). A browser of the home's own
//      machine keeps its token there only while it is called (notify/calling.ts): then its worker answers, and a tab
//      that a notification opens is signed in. Otherwise the token is the tab's own.
// SY2. The vault belongs to one origin, which is one home: a host name at a relay, or a port of this machine.
import { ok, type Result, refused } from "../../base/result.ts";
import { SOCKET_PATH } from "../../wire/page/messages.ts";
import { connect, isRemote, keepInVault, readToken, readVault } from "../browser.ts";
import type { Way } from "./session.ts";

const BROWSER = "browser";
const SIGNED_OUT = refused("signed-out", "This browser is not signed in.", "Open the page.");

/** SY1. Empty if there is none. */
export async function storedToken(): Promise<string> {
  const stored = await readVault(BROWSER);
  const isThere = typeof stored === "object" && stored !== null && "token" in stored;
  return isThere && typeof stored.token === "string" ? stored.token : "";
}

/** SY1. Undefined forgets it. */
export async function storeToken(token: string | undefined): Promise<void> {
  await keepInVault(BROWSER, token === undefined ? undefined : { token });
}

/** A token that the host refuses: of this tab, and if it is the same, of the vault. */
export async function forgetToken(): Promise<void> {
  try {
    if ((await storedToken()) === readToken()) await storeToken(undefined);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error; // It keeps nothing.
  }
}

export async function storedWay(): Promise<Result<Way>> {
  if (isRemote) {
    const found = await (await import("./device.ts")).findWay();
    return found.ok ? found : refused("signed-out", found.error, "Open the page.");
  }
  const token = await storedToken();
  return token === "" ? SIGNED_OUT : ok({ connect: (events) => connect(SOCKET_PATH, events), token: () => token });
}
