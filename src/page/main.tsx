// The page's entry: signs in, connects, and draws.
// MA1. The policy of the page allows no styles but ours: a <style> that a library makes gets the nonce of this page,
//      and a style attribute that it sets becomes properties. Xterm colours cells by such attributes.
import { effect } from "@preact/signals";
import { render } from "preact";
import { followWorker } from "./agent/wanted-prompt.ts";
import { App } from "./app.tsx";
import { followVisible, isRemote } from "./browser.ts";
import { followKeys } from "./keys.ts";
import { startCalling } from "./notify/calling.ts";
import { followAddress } from "./state/route.ts";
import { canAct, link, start } from "./state/session.ts";
import { signIn } from "./state/sign-in.ts";
import { forgetToken } from "./state/stored-way.ts";
import { followWaiting } from "./state/waiting.ts";
import "./style.css";
import "./agent/agents.css";
import "./terminal/replay.css";
import "./phone.css";

/** MA1 */
function giveNonce(): void {
  const nonce = document.querySelector("meta[name=nonce]")?.getAttribute("content") ?? "";
  const create = document.createElement.bind(document);
  const creating = (name: string, options?: ElementCreationOptions) => {
    const made = create(name, options);
    if (made instanceof HTMLStyleElement) made.nonce = nonce;
    return made;
  };
  Object.defineProperty(document, "createElement", { value: creating });
}

/** MA1 */
function setStylesAsProperties(): void {
  const plain = Element.prototype.setAttribute;
  HTMLElement.prototype.setAttribute = function setAttribute(this: HTMLElement, name: string, value: string): void {
    if (name === "style") this.style.cssText = value;
    else plain.call(this, name, value);
  };
}

giveNonce();
setStylesAsProperties();
const app = document.getElementById("app");
if (app !== null) render(<App />, app);
void signIn((way) => {
  followAddress();
  followKeys();
  followWaiting();
  followWorker();
  start(way);
  callWhenUp();
});
followVisible((top, height) => {
  document.documentElement.style.setProperty("--seen-top", `${top}px`);
  document.documentElement.style.setProperty("--seen-height", `${height}px`);
});

/** What is not needed to draw comes last, and again with each daemon: it may have lost what it knew of this browser. */
function callWhenUp(): void {
  effect(() => {
    if (canAct.value) void startCalling();
    else if (link.value.kind === "signed out" && !isRemote) void forgetToken();
  });
}
