// The page's entry: signs in, connects, and draws.
// MA1. The policy of the page allows no styles but ours: a <style> that a library makes gets the nonce of this page,
//      and a style attribute that it sets becomes properties. Xterm colours cells by such attributes.
import { render } from "preact";
import { App } from "./app.tsx";
import { followKeys } from "./keys.ts";
import { followAddress } from "./state/route.ts";
import { start } from "./state/session.ts";
import { signIn } from "./state/sign-in.ts";
import { followWaiting } from "./state/waiting.ts";
import "./style.css";

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
  start(way);
});
