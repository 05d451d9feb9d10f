// Homes with a long history, as a killed process leaves them: written by one process, which then died by SIGKILL. Each
// length is created once per run; each measurement gets a fresh copy, because opening one repairs it.
import { closeSync, cpSync, existsSync, fsyncSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "./scratch.ts";

export const SESSIONS = 25;
/** Acknowledged events that a killed process leaves behind its checkpoint. */
export const TAIL = 1000;

/** The histories that are compared. `quick` has no time for a million events. */
export function lengths(bench: Bench): { readonly short: number; readonly middle: number; readonly long: number } {
  if (!bench.quick) return { short: 1e4, middle: 1e5, long: 1e6 };
  bench.say("--quick: histories are a tenth as long as they should be");
  return { short: 1e3, middle: 1e4, long: 1e5 };
}

/** A home of so many events, whose process was killed just now. The copy before it is gone. */
export function killedHome(bench: Bench, events: number): string {
  const original = join(bench.directory, `history-${events}`);
  if (!existsSync(original)) makeAndKill(bench, original, events);
  const copy = `${original}-copy`;
  rmSync(copy, { recursive: true, force: true });
  copySynced(original, copy);
  return copy;
}

function makeAndKill(bench: Bench, home: string, events: number): void {
  bench.say(`making a history of ${events} events`);
  const child = Bun.spawnSync([process.execPath, join(import.meta.dir, "victim.ts"), home, String(events)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (child.signalCode !== "SIGKILL") throw new Error(`the process that was to be killed ended with ${child.exitCode}`);
}

/** Synced, so that writing it back does not fall into the measurement. */
function copySynced(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  for (const file of readdirSync(to, { recursive: true, withFileTypes: true })) {
    const fd = openSync(join(file.parentPath, file.name), "r");
    fsyncSync(fd);
    closeSync(fd);
  }
}
