// Words for times, sizes and states, the same in every view.
import { localTimes } from "../base/local-time.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "6 s", "6 min", "3 h", "2 d". */
export function spanText(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  return ms < 2 * DAY ? `${Math.floor(ms / HOUR)} h` : `${Math.floor(ms / DAY)} d`;
}

/** The same of something that may be short: "12 ms". */
export function tookText(ms: number): string {
  return ms < 1_000 ? `${Math.max(0, Math.round(ms))} ms` : spanText(ms);
}

/** How long ago it was; a dash if it is not known. */
export function agoText(iso: string | null, now: number): string {
  const at = iso === null ? Number.NaN : Date.parse(iso);
  return Number.isNaN(at) ? "–" : spanText(now - at);
}

/** How long is left until a deadline. */
export function leftText(iso: string, now: number): string {
  const left = Date.parse(iso) - now;
  return left <= 0 ? "its time is over" : `${spanText(left)} left`;
}

/** "1 terminal", "2 terminals". */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** A reason as a sentence of its own. */
export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

const UNITS = ["B", "KB", "MB", "GB", "TB"];

export function sizeText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${UNITS[step]}`;
}

/** A message with its times by the reader's clock, to the minute or second as they were given. */
export function withLocalTimes(text: string, minutesAhead: (at: number) => number): string {
  return localTimes({ minutesAhead }, text);
}

const BROWSERS = ["Edg", "OPR", "Firefox", "Chrome", "HeadlessChrome", "Safari"];
const NAMES: Readonly<Record<string, string>> = {
  Edg: "Edge",
  OPR: "Opera",
  HeadlessChrome: "Chrome without a window",
};
const SYSTEMS = ["Android", "iPhone", "iPad", "Macintosh", "Windows", "Linux"];

/** What a browser calls itself, in two words; as it is if none of them is known. */
export function browserText(agent: string): string {
  const browser = BROWSERS.find((name) => new RegExp(`\\b${name}/`).test(agent));
  const system = SYSTEMS.find((name) => agent.includes(name));
  if (browser === undefined) return agent;
  const name = NAMES[browser] ?? browser;
  return system === undefined ? name : `${name} on ${system === "Macintosh" ? "Mac" : system}`;
}

/** A directory as people say it: the end of it is what tells it apart. */
export function shortPath(path: string, most = 40): string {
  if (path.length <= most) return path;
  const parts = path.split("/");
  let end = parts.pop() ?? "";
  while (parts.length > 0 && end.length + (parts.at(-1)?.length ?? 0) + 3 <= most) end = `${parts.pop()}/${end}`;
  return `…/${end}`;
}

/** What runs in a terminal, in few words: the program without its directory. */
export function programText([program = "", ...rest]: readonly string[]): string {
  return commandText([program.slice(program.lastIndexOf("/") + 1), ...rest]);
}

/** A program's argument list as one line. Words that a shell would take apart are quoted. */
export function commandText(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}
