// A tmux server for one test, with a home beside it, and lives of a keeper on them.
// TS1. Nothing is left running: each server has its own socket, and is stopped through it.
// TS2. No sleeps: `until` waits for a fact.
import { afterEach } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../../src/base/result.ts";
import { panesOfLayout } from "../../src/core/tmux/snapshot.ts";
import type { TmuxCare } from "../../src/core/tmux/tmux.ts";
import { type TmuxRun, tmuxRunner } from "../../src/daemon/tmux/client.ts";
import { tmuxHandlers } from "../../src/daemon/tmux/handlers.ts";
import { TmuxKeeper } from "../../src/daemon/tmux/keeper.ts";
import { TMUX_FOLDING, TmuxStore } from "../../src/daemon/tmux/store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { realChildren } from "../../src/world/real/children.ts";
import { realPathSteps } from "../../src/world/real/path-steps.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { realWorld } from "../../src/world/world.ts";
import { foldNow, readBorder } from "../daemon/border.ts";
import { killIfThere, processes } from "../daemon/home.ts";
import { until } from "../until.ts";

export const hasTmux = Bun.which("tmux") !== null;
const PATH = "/usr/local/bin:/usr/bin:/bin";

export class TmuxSite {
  readonly path = mkdtempSync("/tmp/hftx-");
  readonly socket = join(this.path, "s");
  /** Of every life here; an open one still writes in the background. */
  readonly logs: EventLog[] = [];

  get env(): Record<string, string> {
    const secrets = { MY_TOKEN: "hunter2", PEM_KEY: '-----BEGIN\nabcd=hunter2\n"; export X;\nQQ==\n' };
    return { PATH, HOME: this.path, SHELL: "/bin/sh", PS1: "$ ", LANG: "C.UTF-8", PLAIN: "kept", ...secrets };
  }

  /** Runs the real tmux on this server; returns its output. */
  tmux(...words: readonly string[]): string {
    const { exitCode, stdout, stderr } = this.try(...words);
    if (exitCode !== 0) throw new Error(`tmux ${words.join(" ")}: ${stderr.toString()}`);
    return stdout.toString();
  }

  try(...words: readonly string[]) {
    return Bun.spawnSync(["tmux", "-u", "-S", this.socket, ...words], { env: this.env, cwd: "/" });
  }

  get serverPid(): number {
    return Number(this.tmux("display-message", "-p", "#{pid}"));
  }

  names(): string[] {
    const { exitCode, stdout } = this.try("list-sessions", "-F", "#{session_name}");
    return exitCode === 0 ? stdout.toString().trimEnd().split("\n").sort() : [];
  }

  /** Everything that should be the same before and after: windows, layout, directories, foreground programs. */
  picture(session: string): string[] {
    const format =
      "#{window_index}|#{window_name}|#{window_active}|#{window_zoomed_flag}|#{pane_active}|#{pane_current_path}|#{pane_title}|#{pane_id}|#{window_layout}";
    const lines = this.tmux("list-panes", "-s", "-t", session, "-F", format).trimEnd().split("\n");
    const rows = lines.map((line) => {
      const [layout = "", pane = "", ...rest] = line.split("|").reverse();
      return `${rest.reverse().join("|")}|${panesOfLayout(layout).indexOf(pane)}|${shapeOf(layout)}`;
    });
    return rows.sort();
  }

  /** The picture, once every pane has a directory: tmux knows none in its first milliseconds. */
  async wholePicture(session: string): Promise<string[]> {
    const isWhole = (rows: readonly string[]) => rows.every((row) => !row.split("|").slice(0, 6).includes(""));
    await until(
      "every pane has a directory",
      () => isWhole(this.picture(session)),
      () => this.picture(session),
    );
    return this.picture(session);
  }

  /** Waits until the session looks as before; a recreated pane needs its first milliseconds, too. */
  async looksAs(session: string, before: readonly string[]): Promise<void> {
    const isSame = () => Bun.deepEquals(this.picture(session), before);
    const seen = () => `${this.picture(session).join("\n")}\ninstead of\n${before.join("\n")}`;
    await until(`${session} looks as before`, isSame, seen);
  }

  /** The text of a pane, without empty lines. */
  text(target: string): string {
    const said = this.tmux("capture-pane", "-p", "-S", "-", "-t", target);
    return said
      .split("\n")
      .filter((line) => line.trim() !== "")
      .join("\n");
  }

  async end(): Promise<void> {
    this.try("kill-server"); // TS1
    for (const log of this.logs) await log.close();
    rmSync(this.path, { recursive: true, force: true });
  }
}

export type Life = { readonly log: EventLog; readonly store: TmuxStore; readonly keeper: TmuxKeeper };

export type LifeOptions = {
  /** Stands between the keeper and tmux. */
  readonly wrap?: (run: TmuxRun) => TmuxRun;
  readonly mayAct?: () => boolean;
};

/** One life of the daemon's tmux part, as far as it needs no daemon. It makes no rounds by itself. */
export async function live(
  site: TmuxSite,
  { wrap = (run) => run, mayAct = () => true }: LifeOptions = {},
): Promise<Life> {
  const home = join(site.path, "home");
  const world = {
    ...realWorld(),
    children: realChildren(),
    home,
    paths: realPathSteps(),
    environment: () => site.env,
  };
  if (world.disk.stat(home) === undefined) world.disk.makeDirectory(home);
  const log = await EventLog.open(world, { segmentBytes: 64 << 10, ballastBytes: 0 });
  site.logs.push(log);
  const onBug = (error: unknown) => {
    throw error;
  };
  const store = new TmuxStore(log, world.clock, { publish: () => undefined, perform: () => undefined, onBug });
  foldNow(log, store, TMUX_FOLDING);
  const ports = {
    cares: () => store.states.values(),
    care: (id: string) => store.states.get(id),
    submit: (command: Parameters<TmuxStore["submit"]>[0]) => store.submit(command),
    mayAct,
    onBug,
    say: (words: string) => onBug(new Error(words)),
  };
  const options = { roundMs: 3_600_000, scrollbackLines: 500, environment: { allow: [], deny: [] } };
  const keeper = new TmuxKeeper(world, options, ports, wrap(tmuxRunner(world)));
  return { log, store, keeper };
}

const border = await readBorder();

export const handlersOf = (life: Life) => tmuxHandlers({ ...life, border, random: realRandom(), processes });

/** Adopts these sessions, or all if none is named; returns everything adopted so far. */
export async function adopt(life: Life, on: TmuxSite, ...sessions: string[]): Promise<TmuxCare[]> {
  const params = { path: on.socket, name: null, directory: null, sessions, all: sessions.length === 0, policy: "auto" };
  const answer = await handlersOf(life)["tmux.adopt"]?.(params);
  if (answer?.ok !== true) throw new Error(answer?.error.message);
  return [...life.store.states.values()].filter(({ released }) => !released);
}

export async function killServer(on: TmuxSite): Promise<void> {
  const pid = on.serverPid;
  killIfThere(pid);
  await until(
    "the server is gone",
    () => processes.startTime(pid) === undefined,
    () => processes.startTime(pid),
  );
}

/** A process that dies at a call of tmux: before the call, or after it and before reading the answer. */
export class Dying {
  calls = 0;
  died = Promise.withResolvers<void>();

  readonly at: number;
  readonly when: "before" | "after";

  constructor(at: number, when: "before" | "after") {
    this.at = at;
    this.when = when;
  }

  wrap = (run: TmuxRun): TmuxRun => {
    return async (call) => {
      this.calls += 1;
      if (this.calls < this.at) return run(call);
      if (this.calls === this.at && this.when === "after") await run(call);
      this.died.resolve();
      return new Promise<Result<string>>(() => undefined);
    };
  };
}

/** Called once by a test file; returns a function that creates sites. */
export function tmuxSites(): () => TmuxSite {
  const sites: TmuxSite[] = [];
  afterEach(async () => {
    for (const site of sites.splice(0)) await site.end();
  });
  return () => {
    const site = new TmuxSite();
    sites.push(site);
    return site;
  };
}

/** A layout without its checksum and its panes' numbers: what two windows of the same shape share. */
function shapeOf(layout: string): string {
  return layout.slice(5).replaceAll(/(\d+x\d+,\d+,\d+),\d+/g, "$1");
}
