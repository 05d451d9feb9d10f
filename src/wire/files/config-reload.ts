// What `holdfast reload` takes up: some settings count at once, the others when Holdfast starts.
// CR1. A setting that is not listed here counts at the next start: until then the daemon keeps the old value, also for
//      what is new.
// CR2. What commands read themselves counts at once anyway, and is listed as taken up.
import { type Config, inFile, NAMED, SECTIONS } from "./config-schema.ts";

/** Whole tables, and single settings by their full keys. */
const AT_RELOAD: readonly string[] = [
  ...["agents", "provider", "rule", "restore", "retention", "notify", "push"],
  ...["terminal.detach_key", "terminal.shell", "terminal.term", "terminal.env_allow", "terminal.env_deny"],
];
/** Of these tables. */
const AT_START: readonly string[] = ["retention.archive_after_min", "retention.histories"];

/** `key`: `agents.slots`, or `provider.NAME`. */
export function isTakenUp(key: string): boolean {
  const [table = ""] = key.split(".", 1);
  return !AT_START.includes(key) && (AT_RELOAD.includes(table) || AT_RELOAD.includes(key));
}

/** What the daemon runs with from now on; the keys that it has taken up, and those that wait for a start. */
export type TakenUp = {
  readonly config: Config;
  readonly applied: readonly string[];
  readonly restart: readonly string[];
};

type Tables = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export function takenUp(running: Config, read: Config): TakenUp {
  const config: Record<string, unknown> = {};
  const changed: string[] = [];
  for (const table of [...Object.keys(SECTIONS), ...Object.keys(NAMED)]) {
    const [before, after] = [tableOf(running, table), tableOf(read, table)];
    const keyOf = (name: string) => `${inFile(table)}.${table in NAMED ? name : inFile(name)}`;
    const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
    changed.push(...names.filter((name) => !isEqual(before[name], after[name])).map(keyOf));
    // The order of rules is that of the file.
    const values = names.map((name) => [name, isTakenUp(keyOf(name)) ? after[name] : before[name]]);
    config[table] = Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }
  const [applied, restart] = [changed.filter(isTakenUp), changed.filter((key) => !isTakenUp(key))];
  return { config: config as Config, applied, restart }; // Table by table from two whole ones.
}

function tableOf(config: Config, table: string): Tables[string] {
  return (config as Tables)[table] ?? {};
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** For docs/CONFIG.md: when a change of the settings of a table counts. */
export function whenTaken(table: string, settings: readonly string[]): string {
  const at = settings.filter((name) => isTakenUp(`${table}.${name}`));
  if (at.length === settings.length) return "Changes count at `holdfast reload`.";
  if (at.length === 0) return "Changes count when Holdfast starts.";
  const [few, when, otherwise] =
    at.length * 2 < settings.length
      ? [at, "at `holdfast reload`", "when Holdfast starts"]
      : [settings.filter((name) => !at.includes(name)), "when Holdfast starts", "at `holdfast reload`"];
  return `Changes of ${few.map((name) => `\`${name}\``).join(", ")} count ${when}, all others ${otherwise}.`;
}
