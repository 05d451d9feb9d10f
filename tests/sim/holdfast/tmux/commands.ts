// The commands of the simulated tmux, with the words, output and messages of the real one (as-real.test.ts compares).
// TC1. What the daemon never says is unknown here: a command or a flag that is not in the table fails the story.
import { expand } from "./format.ts";
import { cellsIn, evenly, shapeOf } from "./layout.ts";
import type { Pane } from "./pane.ts";
import { layoutIn, type Session, TmuxError, type TmuxServer, type Window } from "./server.ts";

/** A pane with what it is in. */
export type Spot = { readonly session: Session; readonly window: Window; readonly pane: Pane };
type Words = {
  readonly on: (flag: string) => boolean;
  readonly value: (flag: string) => string | undefined;
  readonly rest: readonly string[];
};
type Act = (server: TmuxServer, words: Words) => string;

/** TC1: the story fails. */
export class UnknownWords extends Error {}

/** Carries out one command; returns what it prints. */
export function command(server: TmuxServer, [name = "", ...words]: readonly string[]): string {
  const [flags, act] = COMMANDS[name] ?? [];
  if (flags === undefined || act === undefined) throw new UnknownWords(`tmux ${name} ${words.join(" ")}`);
  return act(server, wordsIn(name, words, flags));
}

/** As getopt does it: a letter with a `:` takes the next word. */
function wordsIn(name: string, words: readonly string[], flags: string): Words {
  const found = new Map<string, string>();
  let at = 0;
  for (; words[at]?.startsWith("-") === true && words[at] !== "--"; at += 1) {
    const flag = words[at]?.slice(1) ?? "";
    const where = flags.indexOf(flag);
    if (flag.length !== 1 || where < 0) throw new UnknownWords(`tmux ${name} -${flag}`);
    const takes = flags.charAt(where + 1) === ":";
    found.set(flag, takes ? (words[at + 1] ?? "") : "");
    if (takes) at += 1;
  }
  const rest = words.slice(words[at] === "--" ? at + 1 : at);
  return { on: (flag) => found.has(flag), value: (flag) => found.get(flag), rest };
}

const newSession: Act = (server, { value, on, rest }) => {
  const size = { cols: Number(value("x") ?? 80), rows: Number(value("y") ?? 24) };
  const where = { cwd: expand(value("c") ?? "/", () => ""), argv: rest };
  const session = server.newSession(value("s") ?? String(server.sessions.length), size, where);
  return on("P") ? told(server, spotIn(session), value("F")) : "";
};

const newWindow: Act = (server, { value, on, rest }) => {
  const [name = "", index = ""] = (value("t") ?? "").split(":");
  const session = sessionAt(server, name);
  const window = server.newWindow(session, Number(index), {
    cwd: expand(value("c") ?? session.path, () => ""),
    argv: rest,
  });
  if (!on("d")) server.select(session, window);
  return on("P") ? told(server, { session, window, pane: window.current }, value("F")) : "";
};

const splitWindow: Act = (server, { value, on, rest }) => {
  const spot = spotAt(server, value("t"));
  const cwd = expand(value("c") ?? spot.session.path, () => "");
  const pane = server.split(spot, spot.session.size, { cwd, argv: rest });
  if (!on("d")) spot.window.current = pane;
  return on("P") ? told(server, { ...spot, pane }, value("F")) : "";
};

const selectLayout: Act = (server, { value, rest: [name = ""] }) => {
  const { session, window } = spotAt(server, value("t"));
  const count = window.panes.length;
  if (name === "even-horizontal") window.shape = evenly(session.size, count, "beside");
  else if (name === "tiled" || name === "even-vertical") window.shape = evenly(session.size, count, "above");
  else {
    const shape = shapeOf(name);
    if (shape === undefined || cellsIn(shape) !== count) throw new TmuxError(`invalid layout: ${name}`);
    window.shape = shape;
  }
  window.zoomed = false;
  return "";
};

const moveWindow: Act = (server, { value }) => {
  const { session, window } = spotAt(server, value("s"));
  const index = Number((value("t") ?? "").split(":")[1]);
  if (session.windows.some((other) => other !== window && other.index === index))
    throw new TmuxError(`index in use: ${index}`);
  window.index = index;
  session.windows.sort((a, b) => a.index - b.index);
  return "";
};

const renameSession: Act = (server, { value, rest: [name = ""] }) => {
  const session = sessionAt(server, value("t"));
  const wanted = expand(name, () => "");
  if (wanted !== session.name && server.sessions.some((other) => other.name === wanted))
    throw new TmuxError(`duplicate session: ${wanted}`);
  session.name = wanted;
  return "";
};

const selectPane: Act = (server, { value }) => {
  const { window, pane } = spotAt(server, value("t"));
  const title = value("T");
  if (title !== undefined) pane.title = expand(title, () => "");
  else {
    if (window.current !== pane) window.zoomed = false;
    window.current = pane;
  }
  return "";
};

const resizePane: Act = (server, { value }) => {
  const { window, pane } = spotAt(server, value("t"));
  if (window.panes.length > 1) window.zoomed = !window.zoomed;
  window.current = pane;
  return "";
};

const setOption: Act = (server, { value, on, rest: [name = "", text = ""] }) => {
  if (on("w")) {
    if (name !== "automatic-rename") throw new UnknownWords(`tmux set-option -w ${name}`);
    spotAt(server, value("t")).window.automatic = text === "on";
  } else sessionAt(server, (value("t") ?? "").replace(/:$/, "")).options.set(name, text);
  return "";
};

const renameWindow: Act = (server, { value, rest: [name = ""] }) => {
  const { window } = spotAt(server, value("t"));
  window.name = expand(name, () => "");
  window.automatic = false;
  return "";
};

const selectWindow: Act = (server, { value }) => {
  const [name = "", index = ""] = (value("t") ?? "").split(":");
  const session = sessionAt(server, name);
  const window = session.windows.find((one) => one.index === Number(index));
  if (window === undefined) throw new TmuxError(`can't find window: ${index}`);
  server.select(session, window);
  return "";
};

const sendKeys: Act = (server, { value, rest }) => {
  spotAt(server, value("t")).pane.type(rest.join(""));
  return "";
};

const killSession: Act = (server, { value }) => {
  server.kill(sessionAt(server, value("t")));
  return "";
};

const COMMANDS: Readonly<Record<string, readonly [string, Act]>> = {
  "list-sessions": ["F:", (server, { value }) => lines(server.sessions.map(spotIn), server, value("F"))],
  "list-panes": ["aF:", (server, { value }) => lines(spotsOn(server), server, value("F"))],
  "capture-pane": ["epS:t:", (server, { value }) => `${spotAt(server, value("t")).pane.text}\n`],
  "display-message": ["pt:", (server, { value, rest }) => told(server, shownSpot(server, value("t")), rest[0])],
  "show-environment": ["gs", ({ starter }) => environment(starter.env)],
  "new-session": ["ds:x:y:PF:c:", newSession],
  "new-window": ["dt:PF:c:", newWindow],
  "split-window": ["dPF:t:c:", splitWindow],
  "select-layout": ["t:", selectLayout],
  "move-window": ["s:t:", moveWindow],
  "kill-session": ["t:", killSession],
  "rename-session": ["t:", renameSession],
  "rename-window": ["t:", renameWindow],
  "select-pane": ["t:T:", selectPane],
  "resize-pane": ["Zt:", resizePane],
  "set-option": ["wt:", setOption],
  "select-window": ["t:", selectWindow],
  "send-keys": ["t:l", sendKeys],
};

function spotsOn(server: TmuxServer): Spot[] {
  const windows = server.sessions.flatMap((session) => session.windows.map((window) => ({ session, window })));
  return windows.flatMap((one) => one.window.panes.map((pane) => ({ ...one, pane })));
}

function spotIn(session: Session): Spot {
  return { session, window: session.current, pane: session.current.current };
}

/** `@2` and `%3`, or those of one session: `=name:@2` and `=name:@2.%3`. A window stands for its current pane. */
const TARGET = /^(?:(=[^:]+):)?(?:(@\d+)\.?)?(%\d+)?$/;

function findSpot(server: TmuxServer, target = ""): Spot | undefined {
  const [, name, window, number] = TARGET.exec(target) ?? [];
  if (window === undefined && number === undefined) return undefined;
  const isIt = (spot: Spot) =>
    (name === undefined || name === `=${spot.session.name}`) &&
    (window === undefined || window === `@${spot.window.id}`) &&
    (number === undefined ? spot.window.current === spot.pane : number === `%${spot.pane.id}`);
  return spotsOn(server).find(isIt);
}

/** Without a target, tmux chooses a session. */
function shownSpot(server: TmuxServer, target: string | undefined): Spot | undefined {
  return target === undefined ? server.sessions.slice(0, 1).map(spotIn)[0] : findSpot(server, target);
}

function spotAt(server: TmuxServer, target = ""): Spot {
  const found = findSpot(server, target);
  if (found !== undefined) return found;
  const [, name, window, number] = TARGET.exec(target) ?? [];
  const { windows } = name === undefined ? { windows: [] } : sessionAt(server, name);
  const isPane = window === undefined || windows.some(({ id }) => window === `@${id}`);
  throw new TmuxError(isPane ? `can't find pane: ${number ?? target}` : `can't find window: ${window}`);
}

/** `$1`, and `=name` for exactly this name. */
function sessionAt(server: TmuxServer, target = ""): Session {
  const isIt = ({ id, name }: Session) => target === `$${id}` || target === `=${name}`;
  const found = server.sessions.find(isIt);
  if (found === undefined) throw new TmuxError(`can't find session: ${target.replace(/^=/, "")}`);
  return found;
}

function lines(spots: readonly Spot[], server: TmuxServer, format = ""): string {
  return spots.map((spot) => told(server, spot, format)).join("");
}

/** Without a pane, its values are empty. */
function told(server: TmuxServer, spot: Spot | undefined, format = ""): string {
  const values = spot === undefined ? {} : valuesOf(server, spot);
  return `${expand(format, (name) => String(values[name] ?? ""))}\n`;
}

/** What is not set is empty, as an unknown name is. */
function valuesOf(server: TmuxServer, { session, window, pane }: Spot): Readonly<Record<string, string | number>> {
  const yes = (is: boolean) => (is ? 1 : 0);
  const bytes = pane.text.length;
  const activity = Math.max(...window.panes.map((one) => one.activity));
  return {
    ...{ pid: server.born.who.pid, socket_path: server.starter.path, ...Object.fromEntries(session.options) },
    ...{ session_id: `$${session.id}`, session_name: session.name, session_attached: 0, session_path: session.path },
    ...{ window_id: `@${window.id}`, window_index: window.index, "automatic-rename": yes(window.automatic) },
    ...{ window_name: window.automatic ? window.current.program : window.name, window_layout: layoutIn(window) },
    ...{ window_width: session.size.cols, window_height: session.size.rows, window_activity: activity },
    ...{ window_active: yes(session.current === window), window_last_flag: yes(session.last === window) },
    ...{ window_zoomed_flag: yes(window.zoomed), pane_id: `%${pane.id}`, pane_active: yes(window.current === pane) },
    ...{ pane_pid: pane.born.who.pid, pane_title: pane.title, pane_current_path: pane.currentPath },
    ...{ cursor_x: pane.column, cursor_y: pane.row, history_size: 0, history_bytes: bytes },
    ...{ pane_dead: yes(pane.state === "dead"), pane_start_path: pane.start.cwd },
  };
}

function environment(env: Readonly<Record<string, string>>): string {
  const line = ([name, value]: readonly [string, string]) =>
    `${name}="${value.replaceAll(/[$"\\`]/g, "\\$&")}"; export ${name};\n`;
  return Object.entries(env).map(line).join("");
}
