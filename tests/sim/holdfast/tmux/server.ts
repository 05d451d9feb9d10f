// The server of the simulated tmux: what it has, and how it ends.
// TS1. A server without sessions exits: in order, and its waiting clients leave with code 0. One that is killed takes
//      everything along, and they fail.
// TS2. Numbers of sessions, windows and panes are never used twice.
// TS3. A window has a current pane, and a session a current window, for as long as they exist.
import type { Size } from "../../../../src/world/children.ts";
import type { Born } from "../../machine.ts";
import type { HoldfastMachine } from "../machine.ts";
import { evenly, layoutOf, type Shape } from "./layout.ts";
import { Pane, type PaneStart } from "./pane.ts";

/** What fails with words, as tmux says them. */
export class TmuxError extends Error {}

/** What starts a server: the words and the environment of its first client. */
export type Starter = {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly path: string;
  /** The index of a session's first window, as the user's configuration says. */
  readonly baseIndex: number;
};

export type Window = {
  readonly id: number;
  index: number;
  name: string;
  automatic: boolean;
  shape: Shape;
  zoomed: boolean;
  /** In the order of the layout. */
  readonly panes: Pane[];
  current: Pane;
};

export type Session = {
  readonly id: number;
  name: string;
  readonly path: string;
  readonly size: Size;
  readonly options: Map<string, string>;
  readonly windows: Window[];
  current: Window;
  last: Window | undefined;
};

const MIN_ROWS = 2;

export class TmuxServer {
  readonly born: Born;
  readonly starter: Starter;
  readonly sessions: Session[] = [];
  /** Called with whether it ended in order (TS1). */
  readonly ends: ((orderly: boolean) => void)[] = [];
  /** The same for the clients that wait for it. */
  readonly waiting = new Set<(orderly: boolean) => void>();
  /** Until then it does not answer. */
  deafUntil = 0;
  readonly #machine: HoldfastMachine;
  #isOrderly = false;
  #sessions = 0;
  #windows = 0;
  #panes = 0;

  constructor(machine: HoldfastMachine, starter: Starter) {
    this.#machine = machine;
    this.starter = starter;
    this.born = machine.born(undefined, starter.env);
    const { pid } = this.born.who;
    machine.putInFront(pid, { pid, argv: starter.argv, cwd: "/", ageMs: 0 });
    this.born.life.onEnd(() => {
      for (const pane of this.panes()) pane.born.life.end();
      for (const left of [...this.ends, ...this.waiting]) left(this.#isOrderly); // TS1
    });
  }

  panes(): Pane[] {
    return this.sessions.flatMap(({ windows }) => windows.flatMap(({ panes }) => panes));
  }

  newSession(name: string, size: Size, where: PaneStart): Session {
    if (this.sessions.some((session) => session.name === name)) throw new TmuxError(`duplicate session: ${name}`);
    const window = this.#newWindow(this.starter.baseIndex, size, where);
    const id = this.#sessions;
    this.#sessions += 1; // TS2
    const current = { windows: [window], current: window, last: undefined };
    const session: Session = { id, name, path: where.cwd, size, options: new Map(), ...current };
    this.sessions.push(session);
    return session;
  }

  newWindow(session: Session, index: number, where: PaneStart): Window {
    if (session.windows.some((window) => window.index === index))
      throw new TmuxError(`create window failed: index ${index} in use`);
    const window = this.#newWindow(index, session.size, where);
    session.windows.push(window);
    session.windows.sort((a, b) => a.index - b.index);
    return window;
  }

  #newWindow(index: number, size: Size, where: PaneStart): Window {
    const pane = this.#newPane(where);
    const id = this.#windows;
    this.#windows += 1; // TS2
    const looks = { name: "sh", automatic: true, shape: evenly(size, 1, "above"), zoomed: false };
    return { id, index, ...looks, panes: [pane], current: pane };
  }

  split({ window, pane }: { window: Window; pane: Pane }, size: Size, where: PaneStart): Pane {
    const count = window.panes.length + 1;
    if (Math.floor((size.rows - (count - 1)) / count) < MIN_ROWS) throw new TmuxError("no space for new pane");
    const made = this.#newPane(where);
    window.panes.splice(window.panes.indexOf(pane) + 1, 0, made);
    window.shape = evenly(size, count, "above");
    window.zoomed = false;
    return made;
  }

  #newPane(where: PaneStart): Pane {
    const id = this.#panes;
    this.#panes += 1; // TS2
    return new Pane(this.#machine, id, where, this.starter.argv);
  }

  select(session: Session, window: Window): void {
    if (session.current === window) return;
    session.last = session.current;
    session.current = window; // TS3
  }

  kill(session: Session): void {
    for (const { panes } of session.windows) for (const { born } of panes) born.life.end();
    this.sessions.splice(this.sessions.indexOf(session), 1);
    if (this.sessions.length === 0) this.exit();
  }

  /** TS1 */
  exit(): void {
    this.#isOrderly = true;
    this.born.life.end();
  }
}

export function layoutIn({ shape, panes }: Window): string {
  return layoutOf(
    shape,
    panes.map(({ id }) => id),
  );
}
