// What a disk has of a sweep's terminal: its log, its tape, its claims, and the screen in the checkpoint.
import { applyTerminal } from "../../../src/core/terminal/events.ts";
import type { Terminal } from "../../../src/core/terminal/terminal.ts";
import { CheckpointReader } from "../../../src/daemon/terminal/checkpoint-reader.ts";
import { claimsOf } from "../../../src/home/held/generations.ts";
import { terminalFiles } from "../../../src/home/held/holder-files.ts";
import { LogView } from "../../../src/log/inspect.ts";
import { TapeReader } from "../../../src/log/tape/reader.ts";
import { terminalEventOf } from "../../../src/wire/stored/terminal.ts";
import type { Clock } from "../../../src/world/clock.ts";
import type { SimDisk } from "../disk.ts";
import { HOME } from "../machine.ts";

export type TerminalFacts = {
  readonly tape: string;
  /** The generation that was decided on, according to its log. */
  readonly generation: number;
  /** The generations that were claimed. */
  readonly claims: readonly number[];
  /** The screen in the checkpoint, and how much of the tape it has seen. */
  readonly saved: string;
  readonly savedAt: number;
  /** Why the checkpoint must not be used silently. */
  readonly doubt: string | null;
};

const NOTHING: TerminalFacts = { tape: "", generation: 0, claims: [], saved: "", savedAt: 0, doubt: null };
const DAY_MS = 86_400_000;

export async function factsOf(disk: SimDisk, clock: Clock): Promise<TerminalFacts> {
  const [id] = disk.stat(`${HOME}/terminals`) === undefined ? [] : disk.list(`${HOME}/terminals`);
  if (id === undefined) return NOTHING;
  const files = terminalFiles(disk, HOME, id);
  const reader = new CheckpointReader({ disk, clock, home: HOME }, { maxAgeMs: DAY_MS }, () => undefined);
  const { sessions, doubt } = await reader.survey();
  const session = sessions.get(id);
  return {
    tape: tapeIn(disk, `${files.directory}/tape`),
    generation: generationOf(disk, id),
    claims: claimsOf(files).map(({ generation }) => generation),
    saved: session?.scrollbackSnapshot ?? "",
    savedAt: session?.screen?.offset ?? 0,
    doubt,
  };
}

function generationOf(disk: SimDisk, id: string): number {
  let terminal: Terminal | undefined;
  for (const reading of new LogView(disk, HOME).read(`terminals/${id}`)) {
    const event = reading.kind === "entry" ? terminalEventOf({ ...reading.entry, session_id: id }) : undefined;
    if (event !== undefined) terminal = applyTerminal(terminal, event);
  }
  return terminal?.generation ?? 0;
}

function tapeIn(disk: SimDisk, directory: string): string {
  const tape = new TapeReader(disk, directory);
  let text = "";
  for (let at = 0; ; ) {
    const read = tape.read(at, 1 << 16);
    if (read.kind === "end") return text;
    if (read.kind === "bytes") text += Buffer.from(read.bytes).toString();
    at = read.kind === "bytes" ? at + read.bytes.length : read.to;
  }
}
