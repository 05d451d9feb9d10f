// What could be thrown away below a home, and what of it the rules choose.
// GS1. Named are only: the tapes of ended terminals, the files of removed ones and of tmux sessions that were released, reports,
//      quarantine, histories of checkpoints, what workflow/gc.ts says of runs and agent/gc.ts of agents, and what is left in run/ of terminals that are over. The write-ahead log, the recovery's own records, and
//      the logs and checkpoints of all but such agents are never among them: a recovery reads them.
// GS2. A terminal that runs, starts, or whose end is not known is not touched, whatever its age; nor is a tmux session under our care.

import { baseName, joinPath } from "../base/path.ts";
import type { Agent } from "../core/agent/agent.ts";
import { overForGood } from "../core/agent/gone.ts";
import { beyond, type Chosen, daysMs, type Thing } from "../core/retention.ts";
import type { Terminal } from "../core/terminal/terminal.ts";
import type { TmuxCare } from "../core/tmux/tmux.ts";
import type { Run } from "../core/workflow/run.ts";
import { type HomeWorld, holderSocket, terminalDirectory } from "../home/held/holder-files.ts";
import { listQuarantine } from "../log/file/quarantine.ts";
import { listSessions } from "../log/session/places.ts";
import type { Config } from "../wire/files/config-schema.ts";
import type { Disk } from "../world/disk.ts";
import { emptyDirectories, endedAgents } from "./agent/gc.ts";
import { tmuxDirectory } from "./tmux/saver.ts";
import { endedRuns, socketsOfEndedRuns } from "./workflow/gc.ts";

export type GcPorts = {
  terminals(): Iterable<Terminal>;
  /** When it was removed; undefined where its log does not say. */
  removedAt(id: string): number | undefined;
  tmux(): Iterable<TmuxCare>;
  releasedAt(id: string): number | undefined;
  runs(): Iterable<Run>;
  agents(): Iterable<Agent>;
};

/** What a holder and its daemon leave beside the tape; the log is not among it. */
const RECORD = /^(?:holder|claim|exit)(?:-\d+)?\.json$|^sizes\.jsonl$/;
/** What was saved of a tmux session; its screens have a directory of their own. */
const SAVED = /^(?:checkpoint|before)(?:\.backup)?\.json$/;
const REPORTS = "recovery/reports";

export function chooseGarbage(place: HomeWorld, ports: GcPorts, rules: Config["retention"]): Chosen[] {
  const { disk, home, clock } = place;
  const terminals = [...ports.terminals()];
  const now = clock.now();
  const tapes = { ageMs: daysMs(rules.endedDays), bytes: rules.tapeBytes };
  const aside = { ageMs: daysMs(rules.quarantineDays), bytes: rules.quarantineBytes };
  const runs = beyond(stepFiles(place, ports), { ageMs: daysMs(rules.runDays), bytes: rules.runBytes }, now);
  const taken = new Set(runs.flatMap(({ paths }) => paths));
  const kept = histories(disk, home).map((things) =>
    things.filter(({ paths }) => !paths.some((path) => taken.has(path))),
  );
  return [
    ...beyond(removedFiles(place, terminals, ports), { ageMs: daysMs(rules.removedDays) }, now),
    ...beyond(releasedFiles(place, ports), { ageMs: daysMs(rules.removedDays) }, now),
    ...beyond(endedTapes(place, terminals), tapes, now),
    ...runs,
    ...agentFiles(place, [...ports.agents()], rules),
    ...beyond(reports(disk, home), { ageMs: daysMs(rules.reportDays), count: rules.reports }, now),
    ...beyond(quarantined(disk, home), aside, now),
    ...kept.flatMap((things) => oldest(things, rules.histories)),
    ...leftInRun(place, terminals, ports),
  ];
}

function removedFiles({ disk, home }: HomeWorld, terminals: readonly Terminal[], ports: GcPorts): Thing[] {
  return terminals
    .filter(({ removed }) => removed)
    .flatMap(({ id }) => {
      const directory = terminalDirectory(home, id);
      const records = disk.list(directory).filter((name) => RECORD.test(name)); // GS1
      const paths = [...tapeFiles(disk, directory), ...records.map((name) => joinPath(directory, name))];
      if (paths.length === 0) return [];
      return [{ ...sized(disk, "files of a removed terminal", paths), at: ports.removedAt(id) }];
    });
}

function releasedFiles({ disk, home }: HomeWorld, ports: GcPorts): Thing[] {
  const released = [...ports.tmux()].filter((care) => care.released); // GS2
  return released.flatMap(({ id }) => {
    const directory = tmuxDirectory(home, id);
    const screens = joinPath(directory, "screens");
    const names = disk.list(screens).filter((name) => /^\d+-\d+\.txt$/.test(name));
    const shown = names.length === 0 ? [] : [...names.map((name) => joinPath(screens, name)), screens];
    const saved = disk.list(directory).filter((name) => SAVED.test(name));
    const paths = [...shown, ...saved.map((name) => joinPath(directory, name))];
    if (paths.length === 0) return [];
    return [{ ...sized(disk, "files of a released tmux session", paths), at: ports.releasedAt(id) }];
  });
}

function endedTapes({ disk, home }: HomeWorld, terminals: readonly Terminal[]): Thing[] {
  return terminals.flatMap(({ id, removed, state }) => {
    if (removed || state.kind !== "ended") return []; // GS2
    const paths = tapeFiles(disk, terminalDirectory(home, id));
    return paths.length === 0 ? [] : [{ ...sized(disk, "tape of an ended terminal", paths), at: timeOf(state.at) }];
  });
}

function stepFiles(place: HomeWorld, ports: GcPorts): Thing[] {
  return endedRuns(place, ports.runs()).map(({ what, paths, at }) => ({ ...sized(place.disk, what, paths), at }));
}

function agentFiles(place: HomeWorld, agents: readonly Agent[], rules: Config["retention"]): Chosen[] {
  const { disk, clock } = place;
  const things = endedAgents(place, overForGood(agents)).map((thing) => ({
    ...thing,
    ...sized(disk, thing.what, thing.paths),
  }));
  const limits = { ageMs: daysMs(rules.agentDays), bytes: rules.agentBytes };
  const empty = emptyDirectories(place, agents).map((path) => ({
    ...sized(disk, "directory of an agent that was removed", [path]),
    ...{ at: undefined, reason: "nothing is in it" },
  }));
  return [...beyond(things, limits, clock.now()), ...empty];
}

/** The newest is not among them: `holdfast recovery report` shows it. */
function reports(disk: Disk, home: string): Thing[] {
  const directory = joinPath(home, REPORTS);
  const names = disk
    .list(directory)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .slice(0, -1);
  return names.map((name) => {
    const [, date, hour, minute, second] = /^(.{10}T)(\d\d)-(\d\d)-(\d\d)/.exec(name) ?? [];
    const at = timeOf(`${date}${hour}:${minute}:${second}Z`);
    return { ...sized(disk, "report of a recovery", [joinPath(directory, name)]), at };
  });
}

function quarantined(disk: Disk, home: string): Thing[] {
  const names = disk.list(joinPath(home, "quarantine"));
  return listQuarantine(disk, home).map(({ path, notes }) => {
    const ours = names.filter((name) => name.startsWith(`${baseName(path)}.`));
    const paths = [path, ...ours.map((name) => joinPath(joinPath(home, "quarantine"), name))];
    const times = notes.flatMap(({ at }) => timeOf(at) ?? []);
    return { ...sized(disk, "quarantine", paths), at: times.length === 0 ? undefined : Math.max(...times) };
  });
}

/** Of each session with a history, its checkpoints, newest first. */
function histories(disk: Disk, home: string): Thing[][] {
  return listSessions(disk, home).map((session) => {
    const directory = joinPath(joinPath(home, session), "history");
    const names = disk.list(directory).filter((name) => /^checkpoint-.+\.json$/.test(name));
    const newestFirst = names.sort().reverse();
    return newestFirst.map((name) => ({
      ...sized(disk, "history of a checkpoint", [joinPath(directory, name)]),
      at: undefined,
    }));
  });
}

function oldest(newestFirst: readonly Thing[], kept: number): Chosen[] {
  return newestFirst.slice(kept).map((thing) => ({ ...thing, reason: `more than ${kept} of them` }));
}

/** Sockets of terminals and steps that are over. Ids share no socket but by a chance that is looked at here too. */
function leftInRun(place: HomeWorld, terminals: readonly Terminal[], ports: GcPorts): Chosen[] {
  const { disk, home } = place;
  const { open = [], over = [] } = Object.groupBy(terminals, ({ removed, state }) =>
    removed || state.kind === "ended" ? "over" : "open",
  );
  const used = new Set(open.map(({ id }) => holderSocket(home, id)));
  const left = over.map(({ id }) => holderSocket(home, id)).filter((path) => !used.has(path));
  const chosen = (what: string) => (path: string) => ({
    ...sized(disk, what, [path]),
    at: undefined,
    reason: "nobody listens there",
  });
  return [
    ...left.filter((path) => disk.stat(path) !== undefined).map(chosen("socket of a terminal that is over")),
    ...socketsOfEndedRuns(place, ports.runs()).map(chosen("socket of a step that is over")),
  ];
}

function sized(disk: Disk, what: string, paths: readonly string[]): Omit<Thing, "at"> {
  const bytes = paths.reduce((sum, path) => sum + fileBytes(disk, path), 0);
  return { what, paths, bytes };
}

function fileBytes(disk: Disk, path: string): number {
  const stat = disk.stat(path);
  return stat?.kind === "file" ? stat.size : 0;
}

/** The segments of a tape, then its directory; nothing that is not ours by its name. */
function tapeFiles(disk: Disk, directory: string): string[] {
  const tape = joinPath(directory, "tape");
  const segments = disk.list(tape).filter((name) => /^\d{16}\.seg$/.test(name));
  return segments.length === 0 ? [] : [...segments.map((name) => joinPath(tape, name)), tape];
}

function timeOf(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
