// What is searched: the tapes of terminals, and the logs of agents and runs, each as blocks of plain text.
import { joinPath } from "../base/path.ts";
import { listArchived, listSessions, sessionPath } from "../log/session/places.ts";
import type { Disk } from "../world/disk.ts";
import { LogText } from "./log-text.ts";
import { TapeText } from "./tape-text.ts";
import type { SourceText } from "./text-block.ts";

export const SOURCE_KINDS = ["terminals", "agents", "runs"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** `isOver`: nothing is added to it any more. */
export type Source = {
  readonly kind: SourceKind;
  readonly id: string;
  readonly session: string;
  readonly isOver: boolean;
};

const PLACES = { terminals: "terminals/", agents: "agents/", runs: "state/" } as const;

/** Of everything that is on this disk; `skip` has ids of those that are not searched. */
export function listSources(disk: Disk, home: string, skip: ReadonlySet<string>): Source[] {
  const living = listSessions(disk, home).flatMap((session) => sourceOf(session, false) ?? []);
  const archived = ["agents/", "state/"].flatMap((place) => listArchived(disk, home, place));
  return [...living, ...archived.flatMap((session) => sourceOf(session, true) ?? [])].filter(({ id }) => !skip.has(id));
}

function sourceOf(session: string, isOver: boolean): Source | undefined {
  const kind = SOURCE_KINDS.find((one) => session.startsWith(PLACES[one]));
  return kind && { kind, id: session.slice(session.lastIndexOf("/") + 1), session, isOver };
}

export function textOf(disk: Disk, home: string, { kind, session }: Source): SourceText {
  if (kind === "terminals") return new TapeText(disk, joinPath(joinPath(home, session), "tape"));
  return new LogText(disk, sessionPath(disk, home, session));
}
