// The watchdog's settings, as JSON in HOLDFAST_WATCHDOG_SETTINGS; everything is optional.
//   { "daemon": [words], "web": [words] | false, "standby": [words] | true,
//     "programs": { NAME: { "argv": [words], "cwd": path, "env": { … }, "heartbeatMs": number } },
//     "heartbeatMs", "killAfterMs", "graceMs", "stopMs", "crashes", "windowMs": numbers }
// I1. The configuration was checked when it was read; here a wrong shape is a bug of the starter, and is named.
import { ok, type Result, refused } from "../base/result.ts";
import type { JsonObject } from "../log/file/json-file.ts";
import { HEARTBEAT_VARIABLE, SAFE_MODE_VARIABLE, SETTINGS_VARIABLE } from "../wire/heartbeat.ts";
import type { Command } from "../world/children.ts";
import { EARLY_COMPILERS, ENGINE_OPTIONS, type Self } from "../world/self.ts";
import { PACE, type PaceLimits } from "./pace.ts";
import { daemonSpec, isProgramName, programSpec, standbySpec, type WatchSpec, webSpec } from "./specs.ts";
import { DEFAULT_INTERVAL_MS, LIMITS, type WatchdogLimits } from "./watchdog.ts";

export const STOP_MS = 10_000;

export type Settings = {
  readonly specs: readonly WatchSpec[];
  readonly limits: WatchdogLimits;
  readonly pace: PaceLimits;
  readonly stopMs: number;
};

class Wrong extends Error {}

export function readSettings(self: Self, home: string, text: string): Result<Settings> {
  try {
    const given = objectIn(JSON.parse(text), "the settings");
    return ok({
      specs: specsIn(given, self, home),
      limits: {
        killAfterMs: numberIn(given, "killAfterMs", LIMITS.killAfterMs),
        graceMs: numberIn(given, "graceMs", LIMITS.graceMs),
      },
      pace: { ...PACE, crashLoop: crashLoopIn(given) },
      stopMs: numberIn(given, "stopMs", STOP_MS),
    });
  } catch (error) {
    if (!(error instanceof Wrong) && !(error instanceof SyntaxError)) throw error;
    return refused("watchdog.settings", error.message, "Start it with `holdfast up`, which makes them."); // I1
  }
}

function crashLoopIn(given: JsonObject) {
  const { crashes, windowMs } = PACE.crashLoop;
  return { crashes: numberIn(given, "crashes", crashes), windowMs: numberIn(given, "windowMs", windowMs) };
}

function specsIn(given: JsonObject, self: Self, home: string): WatchSpec[] {
  const intervalMs = numberIn(given, "heartbeatMs", DEFAULT_INTERVAL_MS);
  // These settings are for us alone; the other two may come from
  // the daemon that started us: we set them again ourselves.
  const {
    [SETTINGS_VARIABLE]: _told,
    [SAFE_MODE_VARIABLE]: _mode,
    [HEARTBEAT_VARIABLE]: _interval,
    ...env
  } = self.environment();
  const ours = (key: string, entry: string, engine: Command["env"] = ENGINE_OPTIONS): Command => {
    const words = given[key] === undefined || given[key] === true ? undefined : wordsIn(given, key);
    return {
      /** Asked for at each start: our own file may have been replaced since (S7 of world/self.ts). */
      get argv() {
        return words ?? self.command(entry, home);
      },
      cwd: home,
      env: { ...env, ...engine },
    };
  };
  const daemon = daemonSpec(home, ours("daemon", "src/daemon/main.ts"), intervalMs);
  const page = () => ours("web", "src/web/main.ts", { ...ENGINE_OPTIONS, ...EARLY_COMPILERS });
  const web = given["web"] === false ? [] : [webSpec(home, page(), intervalMs)];
  const standing =
    given["standby"] === undefined ? [] : [standbySpec(home, ours("standby", "src/standby/main.ts"), intervalMs)];
  const programs = Object.entries(objectIn(given["programs"] ?? {}, "programs"));
  return [daemon, ...web, ...standing, ...programs.map(([name, value]) => programIn(name, value, { cwd: home, env }))];
}

function programIn(name: string, value: unknown, usual: Omit<Command, "argv">): WatchSpec {
  const program = objectIn(value, `programs.${name}`);
  if (!isProgramName(name)) throw new Wrong(`"${name}" is not a valid program name.`);
  const { cwd = usual.cwd } = program;
  if (typeof cwd !== "string") throw new Wrong(`programs.${name}.cwd must be a path.`);
  const env: Record<string, string> = { ...usual.env };
  for (const [key, set] of Object.entries(objectIn(program["env"] ?? {}, `programs.${name}.env`)))
    env[key] = String(set);
  const intervalMs = program["heartbeatMs"] === undefined ? undefined : numberIn(program, "heartbeatMs", 0);
  return programSpec(name, { argv: wordsIn(program, "argv"), cwd, env }, intervalMs);
}

function wordsIn(given: JsonObject, key: string): readonly [string, ...string[]] {
  const words: unknown = given[key];
  const [first, ...rest] = Array.isArray(words) ? words.filter((word: unknown) => typeof word === "string") : [];
  if (first === undefined || rest.length + 1 !== Object(words).length)
    throw new Wrong(`${key} must be a list of words.`);
  return [first, ...rest];
}

function numberIn(given: JsonObject, key: string, usual: number): number {
  const found = given[key] ?? usual;
  if (typeof found !== "number" || !(found > 0)) throw new Wrong(`${key} must be a number above 0.`);
  return found;
}

function objectIn(value: unknown, what: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Wrong(`${what} must be an object.`);
  return Object.fromEntries(Object.entries(value));
}
