// The page as a whole: navigation, banners, the view that the address names, and what may lie over it.
import type { JSX } from "preact";
import { Access } from "./access.tsx";
import { Banners, SignedOut } from "./banners.tsx";
import { KEYS } from "./keys.ts";
import { Now } from "./now.tsx";
import { Palette } from "./palette.tsx";
import { Modal, OpenDialog, Toasts } from "./parts/frame.tsx";
import { Recovery } from "./recovery/recovery.tsx";
import { overlay } from "./state/dialog.ts";
import { rights, rightsText } from "./state/rights.ts";
import { hashOf, type Route, route } from "./state/route.ts";
import { daemon, feeds, link } from "./state/session.ts";
import { signInTrouble } from "./state/sign-in.ts";
import { waitingCount } from "./state/waiting.ts";
import { TerminalView } from "./terminal/terminal-view.tsx";
import { Terminals } from "./terminal/terminals.tsx";
import { shortPath } from "./words.ts";

export function App(): JSX.Element {
  const isOut = link.value.kind === "signed out" || (signInTrouble.value !== "" && link.value.kind !== "up");
  return (
    <div class="app">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <Sidebar isOut={isOut} />
      <main id="main" tabIndex={-1}>
        {isOut ? <SignedOut /> : <Banners />}
        {!isOut && <View at={route.value} />}
      </main>
      <Toasts />
      <OpenDialog />
      {overlay.value === "palette" && <Palette />}
      {overlay.value === "keys" && <Keys />}
    </div>
  );
}

function View({ at }: { readonly at: Route }): JSX.Element {
  if (at.view === "terminals") return <Terminals />;
  if (at.view === "terminal") return <TerminalView key={at.id} id={at.id} />;
  if (at.view === "recovery") return <Recovery report={at.report} />;
  return at.view === "access" ? <Access /> : <Now />;
}

const VIEWS: readonly { readonly to: Route; readonly name: string; readonly key: string }[] = [
  { to: { view: "now" }, name: "Now", key: "1" },
  { to: { view: "terminals" }, name: "Terminals", key: "2" },
  { to: { view: "recovery", report: undefined }, name: "Recovery", key: "3" },
  { to: { view: "access" }, name: "Access", key: "4" },
];

function Sidebar({ isOut }: { readonly isOut: boolean }): JSX.Element {
  const here = route.value.view === "terminal" ? "terminals" : route.value.view;
  return (
    <header class="sidebar">
      <p class="brand">
        <span class="mark" aria-hidden="true" />
        Holdfast
      </p>
      <nav aria-label="Views">
        {!isOut &&
          VIEWS.map(({ to, name, key }) => (
            <a
              key={name}
              data-key={key}
              href={hashOf(to)}
              {...(to.view === here && { "aria-current": "page" as const })}
            >
              {name}
              <Many name={name} />
            </a>
          ))}
      </nav>
      <Status isOut={isOut} />
    </header>
  );
}

/** How many things are behind a view: of Now only what waits for a person. */
function Many({ name }: { readonly name: string }): JSX.Element | null {
  const waits = waitingCount.value;
  if (name === "Now" && waits > 0) return <span class="many waits">{waits}</span>;
  const running = (feeds.terminals.value.value ?? []).filter(({ state }) => state.kind === "running").length;
  return name === "Terminals" && running > 0 ? <span class="many">{running}</span> : null;
}

function Status({ isOut }: { readonly isOut: boolean }): JSX.Element {
  const state = link.value;
  const home = state.kind === "up" ? state.home : (feeds.status.value.value?.home ?? "");
  const isLimited = !isOut && rights.value !== undefined && rights.value !== "type";
  const { word, tone } = isOut ? { word: "Signed out", tone: "warn" } : healthOf();
  return (
    <div class="status">
      <p class={`state ${tone}`} role="status">
        {word}
      </p>
      <p class="soft path" title={home}>
        {shortPath(home, 30)}
      </p>
      {isLimited && <p class="soft">This device {rightsText(rights.value ?? "look")}.</p>}
      <p class="hints">
        <button type="button" class="link" onClick={() => (overlay.value = "palette")}>
          Commands <kbd>Ctrl K</kbd>
        </button>
        <button type="button" class="link" onClick={() => (overlay.value = "keys")}>
          Keys <kbd>?</kbd>
        </button>
      </p>
    </div>
  );
}

function healthOf(): { readonly word: string; readonly tone: string } {
  const stage = feeds.status.value.value?.recovery.stage;
  if (link.value.kind !== "up") return { word: "Connecting…", tone: "warn" };
  if (!daemon.value.up) return { word: "Daemon is down", tone: "bad" };
  if (stage === undefined || stage === "LIVE") return { word: "Live", tone: "good" };
  return { word: stage.endsWith("_FAILED") ? "Recovery failed" : "Recovering", tone: "warn" };
}

function Keys(): JSX.Element {
  const close = () => (overlay.value = undefined);
  return (
    <Modal title="Keys" close={close}>
      <h2>Keys</h2>
      <dl class="keys">
        {KEYS.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="buttons">
        <button type="button" class="button" autofocus onClick={close}>
          Close
        </button>
      </p>
    </Modal>
  );
}
