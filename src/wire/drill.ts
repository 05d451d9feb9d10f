// How the command line tells the drill what to do: its flags, as one JSON argument.
import { decodeLine } from "./lines.ts";

export type DrillFlags = {
  readonly terminals: number;
  readonly seconds: number;
  readonly seed?: number;
  readonly json?: boolean;
  readonly keep?: boolean;
  readonly machine?: boolean;
};

export function encodeDrillFlags({ terminals, seconds, seed, json, keep, machine }: DrillFlags): string {
  return JSON.stringify({ terminals, seconds, seed, json, keep, machine });
}

/** Returns undefined if the text does not hold flags. */
export function decodeDrillFlags(text: string): DrillFlags | undefined {
  const value = decodeLine(text);
  return isFlags(value) ? value : undefined;
}

function isFlags(value: unknown): value is DrillFlags {
  if (typeof value !== "object" || value === null || !("terminals" in value) || !("seconds" in value)) return false;
  return Number.isInteger(value.terminals) && Number.isInteger(value.seconds);
}
