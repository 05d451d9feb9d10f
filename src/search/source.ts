// What is searched, as blocks of plain text: the tapes of terminals, the logs of agents and runs, what steps printed.
import { joinPath } from "../base/path.ts";
import { listArchived, listSessions, sessionPath } from "../log/session/places.ts";
import type { Disk } from "../world/disk.ts";
import { LogText } from "./log-text.ts";
import { runningOutputs, StepText } from "./step-text.ts";
import { TapeText } from "./tape-text.ts";
import type { SourceText } from "./text-block.ts";

export const SOURCE_KINDS = ["terminals", "agents", "runs", "steps"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** `isOver`: nothing is added to it any more. */
export type Source = {
  readonly kind: SourceKind;
  readonly id: string;
  readonly session: string;
  readonly isOver: boolean;
};

const PLACES: readonly (readonly [prefix: string, kinds: readonly SourceKind[]])[] = [
  ["terminals/", ["terminals"]],
  ["agents/", ["agents"]],
  ["state/", ["runs", "steps"]],
];

/** Of everything that is on this disk; `skip` has ids of those that are not searched. */
export function listSources(disk: Disk, home: string, skip: ReadonlySet<string>): Source[] {
  const living = listSessions(disk, home).flatMap((session) => sourcesOf(session, false));
  const archived = ["agents/", "state/"].flatMap((place) => listArchived(disk, home, place));
  return [...living, ...archived.flatMap((session) => sourcesOf(session, true))].filter(({ id }) => !skip.has(id));
}

function sourcesOf(session: string, isOver: boolean): Source[] {
  const kinds = PLACES.find(([prefix]) => session.startsWith(prefix))?.[1] ?? [];
  return kinds.map((kind) => ({ kind, id: session.slice(session.lastIndexOf("/") + 1), session, isOver }));
}

export function textOf(disk: Disk, home: string, { kind, session }: Source): SourceText {
  if (kind === "terminals") return new TapeText(disk, joinPath(joinPath(home, session), "tape"));
  const directory = sessionPath(disk, home, session);
  return kind === "steps" ? new StepText(disk, directory) : new LogText(disk, directory);
}

/** What is read beside it, and is in no index. */
export function runningIn(disk: Disk, home: string, { kind, session, isOver }: Source): Iterable<SourceText> {
  return kind === "steps" && !isOver ? runningOutputs(disk, joinPath(home, session)) : [];
}
