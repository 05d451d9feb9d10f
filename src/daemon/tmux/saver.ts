// Saves the state of a tmux session when it has changed. There is one saver for each session under our care.
// S1. A checkpoint is written only from a complete answer of the session's server; nothing else replaces the last good
//     one.
// S2. Panes that did not change since the last save are not read again. tmux gives the time of a window's last output
//     in seconds, so output in the second of a look counts as new at the next one.
// S3. What is kept of a pane is bounded, in lines and in bytes.
// S4. For some milliseconds a new pane runs a copy of tmux, or the script that shows a re-created pane's old screen,
//     and tmux may give an empty directory for it. So a save waits a moment until a new pane runs its own program, and
//     an empty directory is never saved: the one saved before is kept, or else the one where the pane was started.
// S5. The programs of a server that is killed die with it: what was seen of them counts only if it lives afterwards.
// S6. Programs are looked at right after the panes were listed: what was started while the screens were read is saved
//     the next time, with the title and the screen that it has by then.

import { baseName, joinPath } from "../../base/path.ts";
import { type Result, refused } from "../../base/result.ts";
import { type EnvironmentRules, keepEnvironment } from "../../core/environment.ts";
import {
  isBeginning,
  isWaitingShell,
  lastLines,
  panesOfLayout,
  savedDirectory,
  type TmuxPane,
  type TmuxSnapshot,
  type TmuxWindow,
} from "../../core/tmux/snapshot.ts";
import { TMUX } from "../../home/layout.ts";
import { CheckpointStore } from "../../log/checkpoint/store.ts";
import { parseSnapshot } from "../../wire/stored/tmux-snapshot.ts";
import { type ListedPane, parseEnvironment } from "../../wire/tmux-list.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/process.ts";
import type { Random } from "../../world/random.ts";
import type { TmuxRun, TmuxSocket } from "./client.ts";
import { wordOf } from "./look.ts";

export type SaverWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly home: string;
  readonly processes: Pick<Processes, "foreground" | "startTime">;
};

export type SaverOptions = { readonly scrollbackLines: number; readonly environment: EnvironmentRules };

export type SavedSnapshot = { readonly snapshot: TmuxSnapshot; readonly time: string };

/** S3. A line of a wide pane in full colour takes some kilobytes; 2,000 plain lines take 200 KB. */
const MAX_PANE_BYTES = 1 << 20;
/** S4. From fork to exec may take a fraction of a second on a busy machine. Other users' programs are never visible. */
const BEGIN_MS = 1_000;
const PAUSE_MS = 5;
/** tmux accepts 16 KB of arguments at once; one capture takes about 100 bytes. */
const CAPTURES_AT_ONCE = 64;

const NO_PANE = { sessionName: "", serverPid: 0 };
const GONE = refused("no-server", "tmux's server exited while the session was being saved.", "It is tried again.");

export class TmuxSaver {
  readonly #run: TmuxRun;
  readonly #world: SaverWorld;
  readonly #options: SaverOptions;
  readonly #stores: { readonly present: CheckpointStore; readonly before: CheckpointStore };
  readonly #captured = new Map<string, { readonly signs: string; readonly text: string }>();
  /** S4. Undefined before this daemon's first save: then it is read from disk. */
  #last: Pick<TmuxSnapshot, "windows"> | undefined;
  #written = "";
  #looked = "";

  constructor(run: TmuxRun, world: SaverWorld, options: SaverOptions, id: string) {
    this.#run = run;
    this.#world = world;
    this.#options = options;
    this.#stores = { present: storeOf(world, id, "checkpoint"), before: storeOf(world, id, "before") };
  }

  /** The last good snapshot, or why there is none. */
  load(): SavedSnapshot | { readonly reason: string } {
    const loaded = this.#stores.present.load();
    if (loaded.kind === "refused") return { reason: loaded.refusal.message };
    if (loaded.kind === "none") {
      const found = loaded.problems.map(({ path, reason }) => `${baseName(path)}: ${reason}`).join("; ");
      return { reason: found === "" ? "nothing of it was saved yet" : `no checkpoint of it can be used (${found})` };
    }
    const snapshot = parseSnapshot(loaded.checkpoint.body);
    if (snapshot === undefined) return { reason: "its checkpoint is not of a known shape" };
    return { snapshot, time: loaded.checkpoint.time };
  }

  /** Keeps the source of a re-creation until the next one: the re-created session may have less than the original. */
  async keepBefore({ snapshot }: SavedSnapshot): Promise<void> {
    await this.#stores.before.save(snapshot, this.#world.clock.now());
    this.#captured.clear(); // The next server numbers its panes anew.
    this.#last = { windows: [] };
  }

  /** `panes` are the session's. The value is true if something new was saved. */
  async save(socket: TmuxSocket, panes: readonly ListedPane[]): Promise<Result<boolean>> {
    await this.#begun(panes);
    const stale = panes.filter(({ pane }) => this.#captured.get(pane)?.signs !== signsOf(panes, pane));
    const programs: Programs = new Map(panes.map((listed) => [listed.pane, programIn(this.#world, listed)])); // S6
    const looks = JSON.stringify([panes, [...programs.values()]]);
    if (stale.length === 0 && looks === this.#looked) return { ok: true, value: false }; // S2
    const captured = await this.#capture(socket, panes, stale);
    if (!captured.ok) return captured; // S1
    const environment = await this.#run({ socket, commands: [["show-environment", "-g", "-s"]] });
    if (!environment.ok) return environment;
    const { kept, leftOut } = keepEnvironment(parseEnvironment(environment.value), this.#options.environment);
    const windows = this.#windows(panes, programs);
    const [{ sessionName: name, serverPid } = NO_PANE] = panes;
    if (this.#world.processes.startTime(serverPid) === undefined) return GONE; // S5
    const snapshot: TmuxSnapshot = { name, environment: kept, leftOut, windows };
    const text = JSON.stringify(snapshot);
    if (text !== this.#written) {
      const named = { ...snapshot, multiplexerSessionName: snapshot.name }; // As in the checkpoint of the terminals.
      const saved = await this.#stores.present.save(named, this.#world.clock.now());
      if (!saved.ok) return saved;
    }
    const isNew = text !== this.#written;
    this.#written = text;
    this.#last = snapshot;
    this.#looked = looks;
    return { ok: true, value: isNew };
  }

  /** S4 */
  async #begun(panes: readonly ListedPane[]): Promise<void> {
    const { clock, processes } = this.#world;
    const fresh = panes.filter(({ pane }) => !this.#captured.has(pane));
    const begins = (pane: ListedPane) =>
      programIn(this.#world, pane) === undefined && processes.startTime(pane.pid) !== undefined;
    const deadline = clock.elapsed() + BEGIN_MS;
    while (fresh.some(begins) && clock.elapsed() < deadline) {
      await new Promise<void>((again) => clock.after(PAUSE_MS, again));
    }
  }

  async #capture(
    socket: TmuxSocket,
    panes: readonly ListedPane[],
    changed: readonly ListedPane[],
  ): Promise<Result<undefined>> {
    const now = Math.floor(this.#world.clock.now() / 1000);
    for (let at = 0; at < changed.length; at += CAPTURES_AT_ONCE) {
      const some = changed.slice(at, at + CAPTURES_AT_ONCE);
      const texts = await this.#read(socket, some);
      if (!texts.ok) return texts;
      for (const [index, { pane, activity }] of some.entries()) {
        const signs = activity >= now - 1 ? "" : signsOf(panes, pane); // S2
        this.#captured.set(pane, { signs, text: texts.value[index] ?? "" });
      }
    }
    const present = new Set(panes.map(({ pane }) => pane));
    for (const pane of this.#captured.keys()) if (!present.has(pane)) this.#captured.delete(pane);
    return { ok: true, value: undefined };
  }

  async #read(socket: TmuxSocket, panes: readonly ListedPane[]): Promise<Result<string[]>> {
    const word = wordOf(this.#world.random);
    const from = this.#options.scrollbackLines === 0 ? [] : ["-S", `-${this.#options.scrollbackLines}`];
    const commands = panes.flatMap(({ pane }) => [
      ["capture-pane", "-e", "-p", ...from, "-t", pane],
      ["display-message", "-p", "-t", pane, word],
    ]);
    const answer = await this.#run({ socket, commands });
    if (!answer.ok) return answer;
    const texts = answer.value.split(`${word}\n`).slice(0, panes.length);
    return { ok: true, value: texts.map((text) => lastLines(text.replace(/\n+$/, ""), MAX_PANE_BYTES)) }; // S3
  }

  #windows(panes: readonly ListedPane[], programs: Programs): TmuxWindow[] {
    return [...Map.groupBy(panes, ({ index }) => index).values()].flatMap((window): TmuxWindow[] => {
      const [first] = window;
      if (first === undefined) return [];
      const order = panesOfLayout(first.layout);
      const sorted = window.toSorted((a, b) => order.indexOf(a.pane) - order.indexOf(b.pane));
      const { index, windowName: name, automatic, layout, size, windowActive: active, last, zoomed } = first;
      const saved = sorted.map((listed) => this.#pane(listed, programs.get(listed.pane)));
      return [{ index, name, automatic, layout, size, active, last, zoomed, panes: saved }];
    });
  }

  #pane(listed: ListedPane, program: Program | undefined): TmuxPane {
    const { pane, title, active } = listed;
    const directory = program?.directory ?? (listed.directory || this.#directoryBefore(listed));
    return {
      ...{ title, directory, active, command: program?.command ?? [] },
      scrollback: this.#captured.get(pane)?.text ?? "",
    };
  }

  /** S4 */
  #directoryBefore({ index, pane, startDirectory }: ListedPane): string {
    this.#last ??= this.#savedHere();
    return savedDirectory(this.#last, index, pane) ?? startDirectory;
  }

  /** What was saved of this server. If nothing was since a re-creation, it is of the one before, with its numbers. */
  #savedHere(): Pick<TmuxSnapshot, "windows"> {
    const [present, before] = [this.#stores.present.load(), this.#stores.before.load()];
    const [now, then] = [present, before].map((one) => (one.kind === "loaded" ? one.checkpoint.body : undefined));
    const snapshot = JSON.stringify(now) === JSON.stringify(then) ? undefined : parseSnapshot(now);
    return snapshot ?? { windows: [] };
  }
}

type Program = { readonly command: readonly string[]; readonly directory: string };
/** By pane. */
type Programs = ReadonlyMap<string, Program | undefined>;

/** The program in front, its command empty if a shell waits. Undefined if it cannot be seen or has not begun (S4). */
function programIn({ processes }: SaverWorld, { pid, serverPid }: ListedPane): Program | undefined {
  const found = processes.foreground(pid);
  if (found === undefined) return undefined;
  const { argv, cwd: directory } = found;
  if (found.pid !== pid) return { command: argv, directory };
  if (isWaitingShell(argv)) return { command: [], directory };
  return isBeginning(argv, processes.foreground(serverPid)?.argv) ? undefined : { command: argv, directory };
}

/** Changes with every output of the pane. */
function signsOf(panes: readonly ListedPane[], pane: string): string {
  const found = panes.find((other) => other.pane === pane);
  return found === undefined ? "" : [found.activity, found.cursor, found.history, found.layout].join(" ");
}

export function tmuxDirectory(home: string, id: string): string {
  return joinPath(home, `${TMUX}/${id}`);
}

/** Fields as in the checkpoint of the terminals. In version 1 they were below `body`. */
const CHECKPOINT_FACTS = {
  kind: "tmux",
  version: 2,
  fold: 1,
  names: { time: "timestamp", hash: "checksum" },
  migrations: { 1: (body: unknown) => body },
} as const;

function storeOf({ disk, clock, home }: SaverWorld, id: string, name: string): CheckpointStore {
  const path = joinPath(tmuxDirectory(home, id), `${name}.json`);
  const keep = { backup: joinPath(tmuxDirectory(home, id), `${name}.backup.json`) };
  return new CheckpointStore(disk, clock, { home, path, keep, ...CHECKPOINT_FACTS });
}
