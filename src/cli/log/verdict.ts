// Formats what `log verify` found: the sessions, the write-ahead log, the quarantine, the findings, then the verdict
// and the next command.

import { visible, visibleLine } from "../../base/visible.ts";
import type { QuarantineItem } from "../../log/file/quarantine.ts";
import type { Finding, Inspection, SessionSummary } from "../../log/inspect.ts";
import type { Console } from "../../world/console.ts";
import { foldedFor } from "../fold.ts";
import { count } from "../print.ts";
import { tableText } from "../table.ts";

/** The findings; `--json` prints this as it is. */
export type LogVerdict = Inspection & { readonly home: string; readonly whole: boolean; readonly running: boolean };

/** More rows are not read; those with the newest entries are kept. */
const MAX_ROWS = 40;
/** More findings add nothing new. */
const MAX_FINDINGS = 50;

export function verdictText(verdict: LogVerdict, console: Console): string {
  const parts = [
    `home: ${visibleLine(verdict.home)}${verdict.running ? " (a daemon is running)" : ""}`,
    sessionTable(verdict.sessions, console),
    walText(verdict.wal),
    ...trimmedText(verdict.sessions),
    ...quarantineText(verdict.quarantine),
    ...findingsText(verdict.findings),
    conclusion(verdict),
  ];
  return foldedFor(console.out, console.widthOf, visible(parts.join("\n")));
}

function sessionTable(sessions: readonly SessionSummary[], console: Console): string {
  if (sessions.length === 0) return "sessions: none yet";
  const shown = sessions.toSorted((a, b) => b.last - a.last).slice(0, MAX_ROWS);
  const rows = shown.map(({ session, entries, first, last, waiting }) => [
    session,
    String(entries),
    entries === 0 ? "-" : `${first}–${last}`,
    String(waiting),
  ]);
  const table = tableText(console, [["SESSION", "ENTRIES", "SEQ", "WAITING"], ...rows], [{ column: 0, keeps: "end" }]);
  const more = sessions.length - shown.length;
  return [table.trimEnd(), ...(more > 0 ? [`… and ${count(more, "session")} more; --json lists all`] : [])].join("\n");
}

function trimmedText(sessions: readonly SessionSummary[]): string[] {
  const lines = sessions.flatMap(({ session, trimmed }) =>
    trimmed === 0 ? [] : [`  ${session}: complete after seq ${trimmed}`],
  );
  return lines.length === 0 ? [] : ["older lines removed by [retention] log_days or log_bytes:", ...lines];
}

function walText({ files, bytes, end, durable, drained }: LogVerdict["wal"]): string {
  if (files === 0) return "write-ahead log: none";
  const reach = `ends at seq ${end}, certainly durable up to ${durable}, drained up to ${drained}`;
  return `write-ahead log: ${count(files, "file")}, ${bytes} bytes; ${reach}`;
}

function quarantineText(items: readonly QuarantineItem[]): string[] {
  if (items.length === 0) return ["quarantine: empty"];
  return [`quarantine: ${count(items.length, "item")}`, ...items.flatMap(quarantinedText)];
}

function quarantinedText({ path, size, notes }: QuarantineItem): string[] {
  const name = `  ${path.slice(path.lastIndexOf("/") + 1)}, ${count(size, "byte")}`;
  if (notes.length === 0) return [`${name}, without a note`];
  return notes.map(({ from, offset, reason, at }) => `${name}, from ${from} at ${offset}: ${reason} (${at})`);
}

function findingsText(findings: readonly Finding[]): string[] {
  const lines = findings.slice(0, MAX_FINDINGS).map(({ kind, where, offset, what }) => {
    const at = offset === undefined ? "" : ` at ${offset}`;
    return `  ${kind}: ${where}${at}: ${what}`;
  });
  const more = findings.length - lines.length;
  if (more > 0) lines.push(`  … and ${more} more; --json lists all`);
  return findings.length === 0 ? [] : ["findings:", ...lines];
}

function conclusion({ findings, sessions, running }: LogVerdict): string {
  const torn = findings.filter(({ kind }) => kind === "torn").length;
  const damaged = findings.length - torn;
  const entries = sessions.reduce((sum, session) => sum + session.entries, 0);
  const there = `${count(entries, "entry", "entries")} in ${count(sessions.length, "session")}`;
  if (damaged > 0) {
    const next = "Take a copy of the home, then see what can still be read: holdfast log show";
    return `damaged (${count(damaged, "finding")}); ${there} can be read.\n  → ${next}`;
  }
  if (torn === 0) return `whole: ${there}`;
  const unfinished = count(torn, "unfinished write");
  return running
    ? `whole: ${there}; ${unfinished}, which the daemon is writing`
    : `whole: ${there}; ${unfinished}, not known to be acknowledged, which the next start removes`;
}
