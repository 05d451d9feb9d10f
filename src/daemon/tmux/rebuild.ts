// Re-creates a tmux session from its saved state.
// B1. All or nothing: it is built under a name of ours, and gets its real name and then our mark in one last call: if
//     that name was taken meanwhile, it has no mark. A half-built session, of this or an earlier daemon, has our name,
//     and is built anew; if a client is attached to it, it is left alone and this is reported. Every call addresses it
//     by that name, and its windows and panes as parts of it, never by their numbers alone: another server, started in
//     the meantime, may have given those numbers to a session of the user. One that already has our mark is whole: the
//     last call of an earlier attempt was carried out, although nobody heard its answer.
// B2. Nothing saved is interpreted on its way back (Q1 of core/tmux/snapshot.ts): texts pass through files that only we
//     can read, and as arguments of a command. The foreground command is typed, never run.
// B3. What cannot be restored exactly is restored as closely as possible, and named in the notes. They are on disk
//     before the last call (notes.ts), for the daemon that finds the session whole afterwards.

import { localTime } from "../../base/local-time.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { typable } from "../../core/shell.ts";
import { freeName, givenName, REVIVAL, type TmuxPane, type TmuxWindow, unformatted } from "../../core/tmux/snapshot.ts";
import type { TmuxCare, TmuxPlace } from "../../core/tmux/tmux.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { makeDirectories } from "../../log/file/file.ts";
import { MARK } from "../../wire/tmux-list.ts";
import { identify, type Processes } from "../../world/process.ts";
import type { TmuxRun } from "./client.ts";
import { type LookWorld, lookAt, sessionsIn, type TmuxSeen } from "./look.ts";
import { readNotes, writeNotes } from "./notes.ts";
import { type SavedSnapshot, type SaverWorld, tmuxDirectory } from "./saver.ts";

export type RebuildWorld = Omit<SaverWorld, "processes"> & LookWorld & { readonly processes: Processes };
export type Rebuilt = { readonly place: TmuxPlace; readonly name: string; readonly notes: readonly string[] };

/** A prompt appears within some tens of milliseconds; text typed before it is only shown twice. */
const PROMPT_MS = 2_000;
const PAUSE_MS = 20;
const IDS = "#{session_id} #{window_id} #{pane_id} #{window_index} #{pid}";

function buildingName(id: string): string {
  return `holdfast-rebuilding-${id}`;
}

function leftoverName(id: string): string {
  return `holdfast-leftover-${id}`;
}

/** B1: what a half-built session is called while it is built, and when it is set aside. */
export function namesOfHalves(id: string): string[] {
  return [buildingName(id), leftoverName(id)];
}

export class Rebuild {
  readonly #run: TmuxRun;
  readonly #world: RebuildWorld;
  readonly #care: TmuxCare;
  readonly #saved: SavedSnapshot;
  readonly #notes: string[];
  readonly #typed = new Map<string, string>();
  /** Whether an earlier daemon left a half-built session. */
  #leftover = false;
  /** Set by the first window. */
  #made: { readonly session: string; readonly serverPid: number } | undefined;

  constructor(run: TmuxRun, world: RebuildWorld, care: TmuxCare, saved: SavedSnapshot) {
    this.#run = run;
    this.#world = world;
    this.#care = care;
    this.#saved = saved;
    this.#notes = [`as it was at ${saved.time}`];
  }

  async build(): Promise<Result<Rebuilt>> {
    const prepared = await this.#prepare();
    if (!prepared.ok) return prepared;
    if ("place" in prepared.value) return ok(prepared.value);
    const { leftOut, windows } = this.#saved.snapshot;
    if (leftOut.length > 0) this.#notes.push(`not set any more: ${leftOut.join(", ")}`);
    for (const window of windows) {
      const made = await this.#window(window);
      if (!made.ok) return made;
    }
    await this.#type();
    return this.#commit(prepared.value);
  }

  /** B1. Returns the names of the other sessions, or where it is already. */
  async #prepare(): Promise<Result<ReadonlySet<string> | Rebuilt>> {
    const seen = await lookAt(this.#run, this.#world, { path: this.#care.socket });
    if (!seen.ok) return seen.error.code === "no-server" ? ok(new Set<string>()) : seen;
    const whole = sessionsIn(seen.value).find(({ mark }) => mark === this.#care.id);
    if (whole !== undefined) {
      const place = { server: seen.value.server, session: whole.session };
      return ok({ place, name: whole.name, notes: readNotes(this.#world, this.#care.id) }); // B3
    }
    const trouble = await this.#setAside(seen.value);
    if (trouble !== undefined) return trouble;
    return ok(new Set(sessionsIn(seen.value).map(({ name }) => name)));
  }

  /** B1. Ended only after the new one exists: a server without sessions exits, and might do so just then. */
  async #setAside({ panes }: TmuxSeen): Promise<Result<never> | undefined> {
    const [building, leftover] = [buildingName(this.#care.id), leftoverName(this.#care.id)];
    const found = (wanted: string) => panes.find(({ sessionName }) => sessionName === wanted);
    const [half, older] = [found(building), found(leftover)];
    if (half?.attached || older?.attached) return ATTACHED;
    this.#leftover = half !== undefined || older !== undefined;
    if (half === undefined) return undefined;
    const commands = [["rename-session", "-t", `=${building}`, leftover]]; // B1
    if (older !== undefined) commands.unshift(["kill-session", "-t", `=${leftover}`]);
    const done = await this.#tmux(...commands);
    return done.ok ? undefined : done;
  }

  async #window(window: TmuxWindow): Promise<Result<unknown>> {
    const [first, ...others] = window.panes;
    if (first === undefined) return ok(undefined);
    const opened = await this.#open(window, first);
    if (!opened.ok) return opened;
    const { window: id, panes } = opened.value;
    for (const [at, pane] of others.entries()) {
      // Split after the previous pane, since a layout is filled in order; tiled after each, to make room for the next.
      const behind = panes.at(-1)?.[0] ?? id;
      const split = ["split-window", "-d", "-P", "-F", IDS, "-t", behind, ...(await this.#place(window, at + 1, pane))];
      const made = await this.#tmux(split, ["select-layout", "-t", id, "tiled"]);
      if (!made.ok)
        this.#notes.push(`window ${window.index} has a pane less: ${made.error.message}`); // B3
      else panes.push([`${id}.${idsIn(made.value).pane}`, pane]);
    }
    await this.#dress(window, id, panes);
    return ok(undefined);
  }

  async #open(window: TmuxWindow, first: TmuxPane): Promise<Result<{ window: string; panes: [string, TmuxPane][] }>> {
    const { cols, rows } = window.size;
    const rest = ["-P", "-F", IDS, ...(await this.#place(window, 0, first))];
    const command =
      this.#made === undefined
        ? ["new-session", "-d", "-s", buildingName(this.#care.id), "-x", String(cols), "-y", String(rows), ...rest]
        : ["new-window", "-d", "-t", this.#ours(window.index), ...rest];
    const made = await this.#tmux(command);
    if (!made.ok) return made;
    const ids = idsIn(made.value);
    const id = this.#ours(ids.window);
    if (this.#made === undefined && ids.index !== window.index) {
      const moved = await this.#tmux(["move-window", "-s", id, "-t", this.#ours(window.index)]);
      if (!moved.ok) this.#notes.push(`window ${window.index} has the number ${ids.index}`); // B3
    }
    this.#made ??= { session: ids.session, serverPid: ids.serverPid };
    if (this.#leftover) await this.#tmux(["kill-session", "-t", `=${leftoverName(this.#care.id)}`]); // B1
    this.#leftover = false;
    return ok({ window: id, panes: [[`${id}.${ids.pane}`, first]] });
  }

  /** B1. The target for a window of the session that is being built, by its index or by tmux's own id. */
  #ours(window: string | number): string {
    return `=${buildingName(this.#care.id)}:${window}`;
  }

  /** Sets name, layout, titles and the active pane; each may fail alone (B3). */
  async #dress(window: TmuxWindow, id: string, panes: readonly [string, TmuxPane][]): Promise<void> {
    const failed = (what: string) => this.#notes.push(`window ${window.index} did not get its ${what}`);
    const named = await this.#tmux(["rename-window", "-t", id, "--", unformatted(givenName(window.name))]);
    if (!named.ok) failed("name");
    if (!(await this.#tmux(["select-layout", "-t", id, window.layout])).ok) failed("layout");
    const last: string[][] = panes.map(([pane, { title }]) => ["select-pane", "-t", pane, "-T", unformatted(title)]);
    const active = panes.find(([, pane]) => pane.active)?.[0];
    if (active !== undefined) last.push(["select-pane", "-t", active]);
    if (active !== undefined && window.zoomed) last.push(["resize-pane", "-Z", "-t", active]);
    if (window.automatic) last.push(["set-option", "-w", "-t", id, "automatic-rename", "on"]);
    if (!(await this.#tmux(...last)).ok) failed("titles, active pane, zoom or automatic name");
    for (const [pane, { command }] of panes) this.#remember(window, pane, command);
  }

  #remember({ index }: TmuxWindow, pane: string, command: readonly string[]): void {
    const text = typable(command, this.#saved.snapshot.environment["SHELL"] ?? "");
    if (text !== undefined) this.#typed.set(pane, text);
    else if (command.length > 0)
      this.#notes.push(`a command in window ${index} cannot be typed: ${JSON.stringify(command)}`);
  }

  /** The arguments for a pane's directory and first program. */
  async #place(window: TmuxWindow, at: number, pane: TmuxPane): Promise<string[]> {
    const directory = this.#nearest(pane.directory);
    if (directory !== pane.directory)
      this.#notes.push(`${pane.directory || "a directory"} is gone: ${directory} instead`);
    const screen = await this.#screen(`${window.index}-${at}`, pane.scrollback);
    return ["-c", unformatted(directory), "--", "/bin/sh", "-c", REVIVAL, screen];
  }

  #nearest(directory: string): string {
    if (!directory.startsWith("/")) return this.#saved.snapshot.environment["HOME"] ?? "/";
    for (let at = directory; at !== "/"; at = parentOf(at)) {
      if (this.#world.disk.stat(at)?.kind === "directory") return at;
    }
    return "/";
  }

  async #screen(name: string, scrollback: string): Promise<string> {
    const { disk, clock, home } = this.#world;
    const directory = joinPath(tmuxDirectory(home, this.#care.id), "screens");
    makeDirectories(disk, directory);
    const path = joinPath(directory, `${name}.txt`);
    const times = [new Date(clock.now()).toISOString(), this.#saved.time].map((time) => localTime(clock, time));
    const said = `holdfast: re-created at ${times.join(", as it was at ")}`;
    const old = scrollback === "" ? "" : `${scrollback}\u001b[0m\n`;
    await writeAtomic(disk, path, Buffer.from(`${old}[${said}]\n`));
    return path;
  }

  /** B2. Typed once the prompts have appeared, and before the session gets its name: so it is typed only once. */
  async #type(): Promise<void> {
    if (this.#typed.size === 0) return;
    const { clock } = this.#world;
    const deadline = clock.elapsed() + PROMPT_MS;
    const ready = (text: string) =>
      text
        .trim()
        .split("\n")
        .every((column) => column !== "0");
    for (;;) {
      const commands = [...this.#typed.keys()].map((pane) => ["display-message", "-p", "-t", pane, "#{cursor_x}"]);
      const columns = await this.#tmux(...commands);
      if (!columns.ok || ready(columns.value) || clock.elapsed() >= deadline) break;
      await new Promise<void>((again) => clock.after(PAUSE_MS, again));
    }
    for (const [pane, text] of this.#typed) {
      const typed = await this.#tmux(["send-keys", "-t", pane, "-l", "--", text]);
      if (!typed.ok) this.#notes.push(`not typed: ${text}`);
    }
  }

  /** B1 */
  async #commit(taken: ReadonlySet<string>): Promise<Result<Rebuilt>> {
    const made = this.#made;
    const server = made === undefined ? undefined : identify(this.#world.processes, made.serverPid);
    if (made === undefined || server === undefined) return GONE_AGAIN;
    const { session } = made;
    const { name: wanted, windows } = this.#saved.snapshot;
    const name = freeName(wanted, taken);
    if (name !== wanted) this.#notes.push(`there is another session ${wanted}: this one is ${name}`);
    const inOrder = windows.toSorted(
      (a, b) => Number(a.last) + 2 * Number(a.active) - Number(b.last) - 2 * Number(b.active),
    );
    const select = inOrder.slice(-2).map(({ index }) => ["select-window", "-t", this.#ours(index)]);
    const selected = await this.#tmux(...select);
    if (!selected.ok) this.#notes.push("another window is in front");
    await writeNotes(this.#world, this.#care.id, this.#notes); // B3
    const ours = `=${buildingName(this.#care.id)}`; // B1
    const rename = ["rename-session", "-t", ours, "--", unformatted(givenName(name))];
    // By its number, since its name may contain what means something in a target: here it has just been renamed.
    const done = await this.#tmux(rename, ["set-option", "-t", `${session}:`, MARK, this.#care.id]);
    return done.ok ? ok({ place: { server, session }, name, notes: this.#notes }) : done;
  }

  #tmux(...commands: readonly (readonly string[])[]): Promise<Result<string>> {
    const { environment } = this.#saved.snapshot;
    const env = Object.keys(environment).length > 0 ? { env: environment } : {};
    return this.#run({ socket: { path: this.#care.socket }, commands, ...env });
  }
}

const ATTACHED = refused(
  "half-built",
  "A client is attached to the half-built session of an earlier attempt.",
  "Detach from it (Ctrl-b d); it is built anew on the next round.",
);

const GONE_AGAIN = refused("no-server", "tmux's server exited while the session was being built.", "It is retried.");

function idsIn(text: string): { session: string; window: string; pane: string; index: number; serverPid: number } {
  const [session = "", window = "", pane = "", index, pid] = text.trim().split(" ");
  return { session, window, pane, index: Number(index), serverPid: Number(pid) };
}
