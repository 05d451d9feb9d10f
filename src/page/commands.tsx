// What the command palette offers now: only what can be done.
import { plainLine } from "../base/visible.ts";
import type { BriefTerminal } from "../wire/rpc/rpc.ts";
import { leaveFor } from "./browser.ts";
import { showReport } from "./recovery/bug-report.tsx";
import { overlay } from "./state/dialog.ts";
import { membership, otherHomes, pageOf } from "./state/fleet.ts";
import { type Method, may } from "./state/rights.ts";
import { go, route } from "./state/route.ts";
import { call, canAct, feeds, refresh, safeMode } from "./state/session.ts";
import { outcome } from "./state/toasts.ts";
import { waiting } from "./state/waiting.ts";
import { askKill, askMove, askNewTerminal, askRename } from "./terminal/terminal-forms.tsx";
import { VIEWS, viewKey } from "./views.ts";

export type Command = {
  readonly name: string;
  readonly hint: string;
  readonly run: () => void;
  /** The method that it will call; without one, it changes nothing. */
  readonly needs?: Method;
};

const PLACES: readonly Command[] = [
  ...VIEWS.map(({ to, name }, at) => ({ name: `Go to ${name}`, hint: viewKey(at), run: () => go(to) })),
  { name: "Show keys", hint: "?", run: () => (overlay.value = "keys") },
  { name: "Report an issue", hint: "shows it first", run: () => void outcome(showReport()) },
];

function ofTerminal(terminal: BriefTerminal): Command[] {
  const { name, state } = terminal;
  const changes: Command[] = [
    { needs: "terminal.rename", name: `Rename ${name}`, hint: "terminal", run: () => askRename(terminal) },
    { needs: "terminal.move", name: `Move ${name} to another lane`, hint: "terminal", run: () => askMove(terminal) },
  ];
  const kill: Command = {
    needs: "terminal.signal",
    name: `End ${name}`,
    hint: "asks first",
    run: () => askKill(terminal),
  };
  return state.kind === "running" ? [...changes, kill] : changes;
}

/** Brings a prompt into view, with the focus on it. */
function showPrompt(label: string): void {
  go({ view: "now" });
  requestAnimationFrame(() => {
    for (const card of document.querySelectorAll<HTMLElement>(".prompt"))
      if (card.getAttribute("aria-label") === label) card.focus();
  });
}

const leaveSafeMode: Command = {
  needs: "safe-mode.exit",
  name: "Leave safe mode",
  hint: "",
  run: async () => {
    await outcome(call("safe-mode.exit", {}), "Safe mode is off.");
    refresh("status", "terminals", "agents", "runs");
  },
};

/** Its code comes with the view of runs. */
async function askStart(): Promise<void> {
  (await import("./workflow/start-run.tsx")).askStart();
}

function changes(): Command[] {
  if (!canAct.value) return [];
  const at = route.value;
  const here = at.view === "terminal" ? (feeds.terminals.value.value ?? []).filter(({ id }) => id === at.id) : [];
  return [
    { needs: "web.new", name: "New terminal", hint: "asks for its name", run: () => askNewTerminal("main") },
    { needs: "web.run", name: "Start a workflow", hint: "asks for its file", run: () => void askStart() },
    ...(safeMode.value.active ? [leaveSafeMode] : []),
    ...here.flatMap(ofTerminal),
  ];
}

/** The homes of the fleet: to the page of each, or to what it shows of itself. */
function places(): Command[] {
  if (membership.value === undefined) return [];
  const all: Command = { name: "Go to Homes", hint: "of the fleet", run: () => go({ view: "homes" }) };
  const others = otherHomes.value.map((home): Command => {
    const page = pageOf(home);
    const name = `Go to host ${plainLine(home.host)}: ${plainLine(home.name)}`;
    if (page !== undefined) return { name, hint: "its page", run: () => leaveFor(page) };
    return { name, hint: "what it shows", needs: "web.fleet-home", run: () => go({ view: "home", id: home.id }) };
  });
  return [all, ...others];
}

export function commands(): Command[] {
  const open = (feeds.terminals.value.value ?? []).filter(({ state }) => state.kind === "running");
  const verb = may("prompt.answer") ? "Answer" : "Show";
  const prompts = waiting.value.prompts.map(({ name, tool }) => ({
    name: `${verb} ${name}: ${tool}`,
    hint: "prompt",
    run: () => showPrompt(`${name} asks to use ${tool}`),
  }));
  const terminals = open.map(({ id, name, lane }) => ({
    name: `Open ${name}`,
    hint: `terminal in ${lane}`,
    run: () => go({ view: "terminal", id }),
  }));
  const agents = (feeds.agents.value.value ?? []).map(({ id, name, state }) => ({
    name: `Open agent ${plainLine(name)}`,
    hint: state,
    run: () => go({ view: "agent", id }),
  }));
  const all: Command[] = [...prompts, ...changes(), ...PLACES, ...places(), ...terminals, ...agents];
  return all.filter(({ needs }) => needs === undefined || may(needs));
}
