// The passphrase of a backup: typed at the terminal, or read from a file. Never an argument, which every user of the
// machine can read, and never in the environment, which every child gets.
// PA1. What is typed is not shown, and is not in the history of a shell. A new one is typed twice.
// PA2. A file gives its first line; `-` is the standard input.
import { ok, type Result, refused } from "../../base/result.ts";
import { readWhole } from "../../log/file/file.ts";
import type { UserTerminal } from "../../world/terminal.ts";
import { typedLine } from "../agent/input.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { say } from "../print.ts";

/** Longer than any that people type; a file with a longer line is the wrong one. */
const MAX_BYTES = 4096;
const MIN_LENGTH = 8;

type World = Pick<DaemonCommandWorld, "console" | "disk" | "terminal">;

/** For a backup that is to be written. */
export async function newPassphrase(world: World, file: string | undefined): Promise<Result<string>> {
  const first = await passphrase(world, file, "New passphrase: ");
  if (!first.ok) return first;
  if (first.value.length < MIN_LENGTH)
    return refused(
      "usage",
      `The passphrase has fewer than ${MIN_LENGTH} characters.`,
      "Some unrelated words are good.",
    );
  if (file !== undefined) return first;
  const again = await passphrase(world, undefined, "The same again: ");
  if (!again.ok || again.value === first.value) return again;
  return refused("usage", "The two are not the same.", "Try again; nothing was written.");
}

/** For one that is to be read. It is asked for once. */
export function knownPassphrase(world: World, file: string | undefined): () => Promise<Result<string>> {
  let known: Promise<Result<string>> | undefined;
  return () => {
    known ??= passphrase(world, file, "Passphrase of the backup: ");
    return known;
  };
}

async function passphrase(world: World, file: string | undefined, prompt: string): Promise<Result<string>> {
  if (file !== undefined) return lineIn(world, file);
  if (!world.terminal.there) return NO_TERMINAL;
  await say(world.console, "the passphrase is not shown while you type it.");
  const typed = await hiddenLine(world.terminal, prompt);
  return typed === undefined ? refused("usage", "No passphrase was given.", "Nothing was written.") : ok(typed);
}

const NO_TERMINAL = refused(
  "usage",
  "A passphrase is needed, and there is no terminal to ask for it.",
  "Name a file with it: --passphrase-file FILE (or - for the standard input).",
);

/** PA2 */
async function lineIn({ console, disk }: World, file: string): Promise<Result<string>> {
  const bytes = file === "-" ? undefined : readWhole(disk, console.absolute(file), MAX_BYTES + 1);
  if (bytes === undefined && file !== "-")
    return refused("usage", `There is no file ${file}.`, "It has the passphrase in its first line.");
  const [line = ""] = (bytes === undefined ? await typedLine() : new TextDecoder().decode(bytes)).split(/\r?\n/);
  if (line !== "" && line.length <= MAX_BYTES) return ok(line);
  return refused("usage", `${file} has no passphrase in its first line.`, "Write it there, and nothing else.");
}

/** PA1. Undefined if the person leaves. */
async function hiddenLine(terminal: UserTerminal, prompt: string): Promise<string | undefined> {
  await terminal.write(Buffer.from(prompt));
  const line = Promise.withResolvers<string | undefined>();
  const typed: number[] = [];
  const giveBack = terminal.take(
    {
      typed: (bytes) => {
        for (const byte of bytes) {
          const done = key(typed, byte);
          if (done !== undefined)
            line.resolve(done === "enter" ? new TextDecoder().decode(Uint8Array.from(typed)) : undefined);
        }
      },
      resized: () => undefined,
      told: () => line.resolve(undefined),
    },
    () => "\r\n",
  );
  try {
    return (await line.promise) || undefined;
  } finally {
    giveBack();
  }
}

const [CTRL_C, CTRL_D, BACKSPACE, CTRL_U, DELETE, ENTER, NEWLINE] = [3, 4, 8, 21, 127, 13, 10];

/** Adds one byte, or edits; returns how the line ended, if it did. */
function key(typed: number[], byte: number): "enter" | "leave" | undefined {
  if (byte === ENTER || byte === NEWLINE) return "enter";
  if (byte === CTRL_C || byte === CTRL_D) return "leave";
  if (byte === CTRL_U) typed.length = 0;
  else if (byte === BACKSPACE || byte === DELETE) {
    while (((typed.at(-1) ?? 0) & 0xc0) === 0x80) typed.pop(); // The rest of a character of UTF-8.
    typed.pop();
  } else typed.push(byte);
  return undefined;
}
