// What is known of an attempt of a step, from its files alone: for a person who has to decide about it.
// AE1. Its command and its output are untrusted text. What is returned can be seen whole: no control characters, and
//      of limited length, however much was printed.
// AE2. Nothing here is secret: secret parameters are not in a spec (L3 of core/workflow/launch.ts), and its token and
//      its other variables are left out.
import { endedText } from "../../base/exit-code.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { attemptNumber } from "../../core/workflow/run.ts";
import { VALUE_PREFIX } from "../../core/workflow/shell-text.ts";
import { attemptPathNow, isSession } from "../../log/session/places.ts";
import type { ATTEMPT, AttemptEvidence } from "../../wire/page/messages.ts";
import type { Infer } from "../../wire/shape.ts";
import type { Disk } from "../../world/disk.ts";
import type { Processes } from "../../world/process.ts";
import { lastLines, type Stream } from "./attempt-tape.ts";
import { readHeld } from "./held-state.ts";
import { type HeldDirectory, ONLY_GENERATION, readHolder, readSpec } from "./holder-files.ts";

/** AE1. A screenful, which is what people look at, unless they ask for more; `holdfast logs` has the rest. */
const MAX_LINES = 20;
/** How much of the output is read for a line that is asked for. */
const BYTES_A_LINE = 200;
const MAX_LINE = 500;
const MAX_WORDS = 20;
const MAX_COMMAND = 4_000;
const MAX_VALUES = 20;

export type EvidencePlace = { readonly disk: Disk; readonly processes: Processes; readonly home: string };
type Place = HeldDirectory & { readonly processes: Processes; readonly held: ReturnType<typeof readHeld> };

/** Undefined if it has no files: an agent of the daemon worked on it, or they were removed. */
export function attemptEvidence(
  { disk, processes, home }: EvidencePlace,
  { repo, attempt, lines = MAX_LINES }: Infer<typeof ATTEMPT>,
): AttemptEvidence | undefined {
  const number = attemptNumber(attempt);
  const run = attempt.slice(0, attempt.lastIndexOf("."));
  if (!isSession(`state/${repo}/sessions/${run}`) || !Number.isSafeInteger(number)) return undefined;
  const files = { disk, processes, directory: attemptPathNow(disk, home, repo, `${run}.${number}`) };
  const spec = readSpec(files);
  if (spec === undefined) return undefined;
  const place = { ...files, held: readHeld(files, ONLY_GENERATION) };
  const values = Object.entries(spec.env).filter(([name]) => name.startsWith(VALUE_PREFIX)); // AE2
  return {
    number,
    try: Number(spec.env["HOLDFAST_TRY"] ?? 1),
    command: spec.argv.slice(0, MAX_WORDS).map((word) => cut(visible(word), MAX_COMMAND)),
    values: values.slice(0, MAX_VALUES).map(([name, value]) => ({ name, value: cut(visibleLine(value), MAX_LINE) })),
    cwd: cut(visibleLine(spec.cwd), MAX_LINE),
    startedAt: readHolder(place)?.at || null, // It may not be known (HS4 of held-state.ts).
    known: knownOf(place),
    stdout: outputOf(place, "stdout", lines),
    stderr: outputOf(place, "stderr", lines),
    isOver: place.held.kind !== "claimed" && place.held.kind !== "unclaimed",
  };
}

function knownOf(place: Place): string {
  const { held } = place;
  if (held.kind === "unclaimed") return "It was never started.";
  if (held.kind === "cancelled") return "Its start was called off before it began.";
  if (held.kind === "claimed") return `Its holder, process ${held.holder.pid}, is alive.`;
  if (held.kind === "ended") return `It ${endedText(held.exit)} at ${held.exit.at}.`;
  if (held.host !== undefined) return `It may have run on ${held.host}, and may still run there: nobody saw its end.`;
  if (held.bootId !== undefined && held.bootId !== place.processes.bootId())
    return "The machine went down while it ran: nobody saw its end.";
  const holder = readHolder(place);
  return `Its holder${holder === undefined ? "" : `, process ${holder.pid},`} is gone and has left no exit code.`;
}

/** AE1 */
function outputOf({ disk, directory }: HeldDirectory, stream: Stream, most: number): string[] {
  const lines = lastLines(disk, directory, stream, most * BYTES_A_LINE).slice(-most);
  return lines.map((line) => cut(visibleLine(line), MAX_LINE));
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
