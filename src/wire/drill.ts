// How the command line tells the drill, and the demonstration of a fleet, what to do: the flags, as one JSON argument.
import { fitting } from "./check.ts";
import { decodeLine } from "./lines.ts";
import { flag, type Infer, literal, object, optional, text } from "./shape.ts";

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
export function decodeDrillFlags(words: string): DrillFlags | undefined {
  const value = decodeLine(words);
  return isFlags(value) ? value : undefined;
}

function isFlags(value: unknown): value is DrillFlags {
  if (typeof value !== "object" || value === null || !("terminals" in value) || !("seconds" in value)) return false;
  return Number.isInteger(value.terminals) && Number.isInteger(value.seconds);
}

/** `end`: the directory of one that was kept. `postgres`: the directory of PostgreSQL's programs. */
const FLEET_DEMO = object({
  demo: literal("fleet"),
  json: optional(flag),
  keep: optional(flag),
  end: optional(text),
  postgres: optional(text),
});
export type FleetDemoFlags = Omit<Infer<typeof FLEET_DEMO>, "demo">;

export function encodeFleetDemoFlags({ json, keep, end, postgres }: FleetDemoFlags): string {
  return JSON.stringify({ demo: "fleet", json, keep, end, postgres });
}

/** Returns undefined if the text does not hold such flags. */
export function decodeFleetDemoFlags(words: string): FleetDemoFlags | undefined {
  return fitting(FLEET_DEMO, decodeLine(words));
}
