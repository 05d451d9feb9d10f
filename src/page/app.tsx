// The page as a whole: navigation, banners, the view that the address names, and what may lie over it.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { baseName } from "../base/path.ts";
import { plainLine } from "../base/visible.ts";
import { Access } from "./access.tsx";
import { Banners, SignedOut } from "./banners.tsx";
import { KEYS } from "./keys.ts";
import { Now } from "./now.tsx";
import { Palette } from "./palette.tsx";
import { Modal, OpenDialog, Toasts } from "./parts/frame.tsx";
import { lazy } from "./parts/lazy.tsx";
import { Recovery } from "./recovery/recovery.tsx";
import { closeDialog, overlay } from "./state/dialog.ts";
import { follows, membership } from "./state/fleet.ts";
import { may, rights, rightsText } from "./state/rights.ts";
import { hashOf, type Route, route } from "./state/route.ts";
import { daemon, feeds, isStale, link } from "./state/session.ts";
import { signInTrouble } from "./state/sign-in.ts";
import { waitingCount } from "./state/waiting.ts";
import { TerminalView } from "./terminal/terminal-view.tsx";
import { Terminals } from "./terminal/terminals.tsx";
import { VIEWS, viewKey } from "./views.ts";
import { shortPath } from "./words.ts";

export function App(): JSX.Element {
  const isOut = link.value.kind === "signed out" || (signInTrouble.value !== "" && link.value.kind !== "up");
  const { view } = route.value;
  const place = "id" in route.value ? `${view} ${route.value.id}` : view;
  useEffect(() => {
    closeDialog(); // It belongs to the view that it was opened in.
    document.getElementById("main")?.scrollTo(0, 0);
  }, [place]);
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

const Agents = lazy(async () => (await import("./agent/agents-view.tsx")).AgentsView);
const AgentView = lazy(async () => (await import("./agent/agent-view.tsx")).AgentView);
const RunList = lazy(async () => (await import("./workflow/run-list.tsx")).RunList);
const RunView = lazy(async () => (await import("./workflow/run-view.tsx")).RunView);
const HomesView = lazy(async () => (await import("./fleet/homes-view.tsx")).HomesView);
const HomeView = lazy(async () => (await import("./fleet/home-view.tsx")).HomeView);
const SearchView = lazy(async () => (await import("./search/search-view.tsx")).SearchView);
const Replay = lazy(async () => (await import("./terminal/replay-view.tsx")).ReplayView);

function View({ at }: { readonly at: Route }): JSX.Element {
  if (at.view === "homes") return <HomesView />;
  if (at.view === "home") return <HomeView key={at.id} id={at.id} />;
  if (follows.value && !AT_HOME.includes(at.view)) return <Elsewhere />;
  if (at.view === "terminals") return <Terminals />;
  if (at.view === "terminal" && at.at !== undefined) return <Replay key={at.id} id={at.id} at={at.at} />;
  if (at.view === "terminal") return <TerminalView key={at.id} id={at.id} />;
  if (at.view === "agents") return <Agents />;
  if (at.view === "agent") return <AgentView key={`${at.id} ${at.at}`} id={at.id} at={at.at} />;
  if (at.view === "workflows") return <RunList />;
  if (at.view === "run") return <RunView key={at.id} {...at} />;
  if (at.view === "recovery") return <Recovery report={at.report} />;
  if (at.view === "search") return <SearchView words={at.words} />;
  return at.view === "access" ? <Access /> : <Now />;
}

/** What this host knows of the home by itself, also when another one has it. */
const AT_HOME: readonly Route["view"][] = ["recovery", "access"];

/** The home is on another host: what it shows of itself takes the place of what was here. */
function Elsewhere(): JSX.Element {
  const id = membership.value?.home ?? "";
  return may("web.fleet-home") ? <HomeView key={id} id={id} /> : <HomesView />;
}

/** The view of the list that one of its items belongs to. */
const LISTS: Readonly<Partial<Record<Route["view"], Route["view"]>>> = {
  ...{ terminal: "terminals", agent: "agents", run: "workflows" },
};

function Sidebar({ isOut }: { readonly isOut: boolean }): JSX.Element {
  const here = LISTS[route.value.view] ?? route.value.view;
  const views = useRef<HTMLElement>(null);
  useEffect(() => toMiddle(views.current), [here, isOut]);
  return (
    <header class="sidebar">
      <p class="brand">
        <span class="mark" aria-hidden="true" />
        Holdfast
      </p>
      <nav ref={views} aria-label="Views">
        {!isOut &&
          VIEWS.map(({ to, name }, at) => (
            <a
              key={name}
              data-key={viewKey(at)}
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

/** In a narrow window the views are a row that is wider than the window: the chosen one is scrolled to. */
function toMiddle(row: HTMLElement | null): void {
  const chosen = row?.querySelector<HTMLElement>("[aria-current]");
  if (row === null || !chosen) return;
  row.scrollLeft = chosen.offsetLeft - row.offsetLeft - (row.clientWidth - chosen.offsetWidth) / 2;
}

/** How many things are behind a view: of Now only what waits for a person. */
function Many({ name }: { readonly name: string }): JSX.Element | null {
  const waits = waitingCount.value;
  if (name === "Now" && waits > 0) return <span class="many waits">{waits}</span>;
  const running = (feeds.terminals.value.value ?? []).filter(({ state }) => state.kind === "running").length;
  const many = { Terminals: running, Agents: feeds.agents.value.value?.length ?? 0 }[name] ?? 0;
  return many > 0 ? <span class="many">{many}</span> : null;
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
      <Place home={home} />
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

/** Where this page is: in a fleet, the way to the other homes. */
function Place({ home }: { readonly home: string }): JSX.Element {
  const host = membership.value?.host;
  const path = (
    <p class="soft path" title={home}>
      {shortPath(home, 30)}
    </p>
  );
  if (host === undefined) return path;
  const isHere = ["homes", "home"].includes(route.value.view);
  return (
    <>
      <a
        class="place"
        href={hashOf({ view: "homes" })}
        title="The homes of the fleet"
        {...(isHere && { "aria-current": "page" as const })}
      >
        {baseName(home)} <span class="soft">on</span> {plainLine(host)}
      </a>
      {path}
    </>
  );
}

function healthOf(): { readonly word: string; readonly tone: string } {
  if (link.value.kind !== "up") return { word: "Connecting…", tone: "warn" };
  if (!daemon.value.up) return { word: "Daemon is down", tone: "bad" };
  if (follows.value) return { word: "On another host", tone: "warn" };
  if (membership.value?.role === "waiting") return { word: "Waits for the fleet", tone: "warn" };
  if (isStale.value) return { word: "Connecting…", tone: "warn" };
  const stage = feeds.status.value.value?.recovery.stage;
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
