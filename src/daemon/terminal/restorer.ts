// Restarts lost terminals: gathers the facts, lets core/ decide how, and reports the outcome.
// RO1. Evidence recorded in the log takes precedence: a later checkpoint may describe a worse moment.
// RO2. The decision is durable before anything is started; if the daemon dies after that, the next one completes the
//      start.
// RO3. Nothing is started while a process of the earlier generation is alive: the caller has stopped those.
// RO4. The age of a screen is reported as far as it is known: the time between the last write to its tape and the
//      restart. A tape is synced within a second of being written (holder/recorder.ts), so a machine crash loses at
//      most that second, and a killed process loses nothing.
import { isFault } from "../../base/fault.ts";
import { localTime } from "../../base/local-time.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import { type Result, refused } from "../../base/result.ts";
import type { Caller } from "../../core/principal.ts";
import { type Fate, isLeftElsewhere, type ReportItem } from "../../core/recovery.ts";
import type { AgentName } from "../../core/terminal/agent-names.ts";
import { type AgentSessions, NO_SESSIONS, notTaken } from "../../core/terminal/coding-agent.ts";
import type { Evidence, Known, RestoreStart } from "../../core/terminal/restoration.ts";
import {
  type Aim,
  agentOf,
  aimOf,
  evidenceFor,
  messageOf,
  planRestore,
  type RestorePlan,
  type RestoreWay,
  sessionSeen,
  shown,
  wordsOfOthers,
} from "../../core/terminal/restore.ts";
import type { RestoreRule } from "../../core/terminal/restore-commands.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { type HomeWorld, terminalDirectory } from "../../home/held/holder-files.ts";
import { TapeReader } from "../../log/tape/reader.ts";
import type { Disk } from "../../world/disk.ts";
import { MACHINE_DOWN } from "../held/held-programs.ts";
import { agentSessions, opencodeDatabase, type SessionQuery } from "./coding-agent-sessions.ts";
import type { Databases } from "./databases.ts";
import type { TerminalHolders } from "./holders.ts";
import type { TerminalStore } from "./store.ts";

export type RestorerPorts = {
  readonly place: HomeWorld;
  readonly store: TerminalStore;
  readonly holders: TerminalHolders;
  readonly shell: string;
  readonly rules: readonly RestoreRule[];
  /** What the last good checkpoint records about a terminal. */
  known(id: string): Promise<Known>;
  /** The conversations that the other terminals were last seen in. */
  conversationsBut(id: string): readonly string[];
  readonly databases: Pick<Databases, "refresh" | "found">;
  /** Why nothing is started again unless a person asks for it; undefined if there is no such reason. */
  whyWait?(): string | undefined;
};

export type RestoreWish = {
  readonly reason: string;
  /** True if it was just found lost; false if it has been waiting since an earlier loss. */
  readonly found: boolean;
  readonly way: RestoreWay;
  readonly asked: boolean;
  /** Who asked. */
  readonly by?: Caller | undefined;
};

export class Restorer {
  readonly #ports: RestorerPorts;

  constructor(ports: RestorerPorts) {
    this.#ports = ports;
  }

  /** Restarts the terminal or leaves it waiting, as its policy requires; resolves when it is up. */
  async restore(terminal: Terminal, wish: RestoreWish): Promise<ReportItem> {
    const last = await this.#known(terminal.id);
    const evidence = evidenceFor(terminal, last.evidence); // RO1
    const doubt = evidence === undefined ? last.doubt : null;
    const at = new Date(this.#ports.place.clock.now()).toISOString();
    const plan = await this.#plan(terminal, { ...wish, at, evidence, doubt });
    const known = evidence === undefined ? {} : { evidence };
    const lookedAt = evidence === last.evidence ? last.lookedAt : undefined;
    if (plan.kind !== "start") {
      if (wish.found) await this.#ports.store.submit({ kind: "lost", id: terminal.id, reason: wish.reason, ...known });
      const age = this.#screenAgeMs(terminal.id);
      const why = [wish.reason, plan.why, ageText(age, wish.reason), lookText(at, age, lookedAt, wish.reason)];
      return item(terminal, "needs you", inOne(why), `holdfast restore ${terminal.name}`);
    }
    const { id, generation } = terminal;
    const begun = this.#start(terminal, plan, { reason: wish.reason, at, evidence, seenTo: last.seenTo ?? 0 });
    const start = { ...begun, ...wayOf(terminal, wish), ...(lookedAt !== undefined && { lookedAt }) };
    const lost = wish.found ? { lost: { reason: wish.reason, ...known } } : {};
    const done = await this.#ports.store.submit({ kind: "restore", id, generation, start, ...lost }, wish.by); // RO2
    if (!done.ok) return item(terminal, "could not", done.error.message, done.error.hint);
    await this.#ports.holders.settled(id);
    return this.restoredItem(id, terminal);
  }

  /** An unreadable checkpoint does not prevent a terminal from being restored. */
  async #known(id: string): Promise<Known> {
    try {
      return await this.#ports.known(id);
    } catch (error) {
      if (isFault(error)) return { evidence: undefined, doubt: error.message };
      throw error;
    }
  }

  async #plan(terminal: Terminal, wish: RestoreWish & Known & { readonly at: string }): Promise<RestorePlan> {
    const { place, shell, rules, whyWait } = this.#ports;
    const why = wish.asked ? undefined : whyWait?.();
    if (why !== undefined) return { kind: "ask", why };
    const { disk } = place;
    const { env } = terminal.recipe;
    const aim = aimOf(terminal, wish.evidence, wish.way);
    const agent = agentOf(aim);
    const sessions = agent === undefined ? NO_SESSIONS : await this.#sessions(terminal, agent, aim);
    const directory = nearest(disk, aim.cwd);
    return planRestore(terminal, { ...wish, sessions, directory, shell: env["SHELL"] ?? shell, rules });
  }

  async #sessions(terminal: Terminal, agent: AgentName, aim: Aim): Promise<AgentSessions> {
    const { place, store } = this.#ports;
    const query = { agent, cwd: aim.cwd, since: aim.since, env: terminal.recipe.env };
    const found = agent === "opencode" ? await this.#inDatabase(query) : agentSessions(place.disk, query);
    const taken = [...wordsOfOthers(terminal, store.terminals.values()), ...this.#ports.conversationsBut(terminal.id)];
    return { ...notTaken(found, new Set(taken)), ...sessionSeen(aim) };
  }

  async #inDatabase({ env, cwd, since }: SessionQuery): Promise<AgentSessions> {
    if (since === undefined) return NO_SESSIONS;
    const { databases } = this.#ports;
    const request = { path: opencodeDatabase(env), directory: cwd, sinceMs: Date.parse(since) };
    await databases.refresh(request);
    return { known: [], recent: databases.found(request).map(({ id }) => id) };
  }

  #start(
    { id }: Terminal,
    { argv, cwd, typed, notes }: RestorePlan & { kind: "start" },
    { reason, at, evidence, seenTo }: { reason: string; at: string; evidence: Evidence | undefined; seenTo: number },
  ): RestoreStart {
    const { disk, clock, home } = this.#ports.place;
    const screenAgeMs = this.#screenAgeMs(id);
    const message = messageOf({ reason, when: localTime(clock, at) }, notes);
    const offset = Math.max(new TapeReader(disk, tapeOf(home, id)).end, seenTo);
    return { argv, cwd, typed, message, reason, notes, offset, screenAgeMs, evidence: evidence ?? null };
  }

  /** For a terminal that was lost earlier and waits for a person: repeated in every report until a person decides. */
  waitingItem(terminal: Terminal): ReportItem {
    const { id, name, state, policy } = terminal;
    const reason = state.kind === "uncertain" ? state.reason : "it was lost";
    const why = policy === "auto" ? "it waits for you" : `its policy is ${policy}`;
    return item(
      terminal,
      "needs you",
      inOne([reason, why, ageText(this.#screenAgeMs(id), reason)]),
      `holdfast restore ${name}`,
    );
  }

  /** RO4 */
  #screenAgeMs(id: string): number | null {
    const { disk, home, clock } = this.#ports.place;
    const written = newest(disk, tapeOf(home, id));
    return written === undefined ? null : Math.max(0, Math.round(clock.now() - written));
  }

  /** The outcome of a restoration. */
  restoredItem(id: string, before: Terminal): ReportItem {
    const now = this.#ports.store.terminals.get(id) ?? before;
    const { restored, state, name } = now;
    const why = [
      restored?.reason ?? "it was lost",
      ...(restored?.notes ?? []),
      `in ${shown(now.restored?.cwd ?? now.recipe.cwd)}`,
      ageText(restored?.screenAgeMs ?? null, restored?.reason ?? ""),
      lookText(restored?.at ?? "", restored?.screenAgeMs ?? null, restored?.lookedAt, restored?.reason ?? ""),
    ];
    const reason = inOne(why);
    const back = `holdfast recovery rollback ${name}`;
    if (state.kind === "running") return item(now, "restarted", reason, `holdfast attach ${name}`);
    if (state.kind === "starting") return item(now, "restarted", `${reason}; it is still starting`, `holdfast ls`);
    if (state.kind === "ended") return item(now, "needs you", `${reason}; it ended at once (${endText(state)})`, back);
    return item(now, "needs you", `${reason}; then ${state.reason}`, back);
  }

  /** Restores a terminal because a person asked for it. */
  async asked(terminal: Terminal, way: RestoreWay, by: Caller | undefined): Promise<Result<Terminal>> {
    const { state, name } = terminal;
    if (state.kind === "running" || state.kind === "starting") {
      return refused("still-running", `${name} is running.`, `holdfast attach ${name}`);
    }
    const reason = state.kind === "uncertain" ? state.reason : `it had ended (${endText(state)})`;
    const told = await this.restore(terminal, { reason, found: false, way, asked: true, by });
    const now = this.#ports.store.terminals.get(terminal.id) ?? terminal;
    if (told.fate !== "could not") return { ok: true, value: now };
    return refused("not-restored", told.reason, told.next);
  }
}

/** RE6 of restore.ts: the shell, as a person has chosen it now or before. */
function wayOf({ restored }: Terminal, { way }: RestoreWish): Pick<RestoreStart, "way"> {
  return way === "shell" || (way === "plan" && restored?.way === "shell") ? { way: "shell" } : {};
}

/** The directory itself, or its nearest ancestor that is a directory. */
function nearest(disk: Disk, path: string): string {
  let at = path;
  while (at !== "/" && at !== "" && disk.stat(at)?.kind !== "directory") at = parentOf(at);
  return at === "" ? "/" : at;
}

/** When the tape was last written. */
function newest(disk: Disk, tape: string): number | undefined {
  const times = disk.list(tape).flatMap((name) => disk.stat(joinPath(tape, name))?.modifiedMs ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** RO4 */
function ageText(ms: number | null, reason: string): string {
  if (ms === null || isLeftElsewhere(reason)) return ""; // The tape is a copy: its age says nothing.
  const crashed = reason === MACHINE_DOWN;
  const lost = crashed ? "the crash, of which the last second may be missing" : "that";
  return `last output ${spanText(ms)} before ${lost}`;
}

/** "4.2 s", "6 min", "3 h". */
function spanText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return seconds < 3600 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** How old the knowledge is that it was restored from, compared with its last output. */
function lookText(at: string, screenAgeMs: number | null, lookedAt: string | undefined, reason: string): string {
  if (lookedAt !== undefined && isLeftElsewhere(reason)) {
    const ms = Date.parse(at) - Date.parse(lookedAt);
    const ago = Number.isNaN(ms) ? "" : `, ${spanText(ms)} before`;
    return `its directory and program are known as of ${lookedAt}${ago}`;
  }
  if (lookedAt === undefined || screenAgeMs === null) return "";
  const behindMs = Date.parse(at) - screenAgeMs - Date.parse(lookedAt);
  if (Number.isNaN(behindMs)) return "";
  const when = behindMs <= 0 ? "" : `${(behindMs / 1000).toFixed(1)} s before `;
  return `its directory and program are known as of ${when}its last output`;
}

function inOne(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("; ");
}

function tapeOf(home: string, id: string): string {
  return joinPath(terminalDirectory(home, id), "tape");
}

function endText({ code, signal }: { readonly code: number | null; readonly signal: string | null }): string {
  return signal ?? `exit code ${code}`;
}

function item({ id, name }: Terminal, fate: Fate, reason: string, next: string): ReportItem {
  return { what: "terminal", id, name, fate, reason, next };
}
