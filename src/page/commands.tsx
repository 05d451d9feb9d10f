// What the command palette offers now: only what can be done.
import type { BriefTerminal } from "../wire/rpc/rpc.ts";
import { showReport } from "./recovery/bug-report.tsx";
import { overlay } from "./state/dialog.ts";
import { type Method, may } from "./state/rights.ts";
import { go, route } from "./state/route.ts";
import { call, canAct, feeds, refresh, safeMode } from "./state/session.ts";
import { outcome } from "./state/toasts.ts";
import { waiting } from "./state/waiting.ts";
import { askKill, askMove, askNewTerminal, askRename } from "./terminal/terminal-forms.tsx";

export type Command = {
  readonly name: string;
  readonly hint: string;
  readonly run: () => void;
  /** The method that it will call; without one, it changes nothing. */
  readonly needs?: Method;
};

const VIEWS: readonly Command[] = [
  { name: "Go to Now", hint: "1", run: () => go({ view: "now" }) },
  { name: "Go to Terminals", hint: "2", run: () => go({ view: "terminals" }) },
  { name: "Go to Recovery", hint: "3", run: () => go({ view: "recovery", report: undefined }) },
  { name: "Go to Access", hint: "4", run: () => go({ view: "access" }) },
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

function changes(): Command[] {
  if (!canAct.value) return [];
  const at = route.value;
  const here = at.view === "terminal" ? (feeds.terminals.value.value ?? []).filter(({ id }) => id === at.id) : [];
  return [
    { needs: "web.new", name: "New terminal", hint: "asks for its name", run: () => askNewTerminal("main") },
    ...(safeMode.value.active ? [leaveSafeMode] : []),
    ...here.flatMap(ofTerminal),
  ];
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
  const all: Command[] = [...prompts, ...changes(), ...VIEWS, ...terminals];
  return all.filter(({ needs }) => needs === undefined || may(needs));
}
