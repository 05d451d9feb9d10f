// What watched processes send to the watchdog: one JSON object a line over `run/watchdog.sock`. It replies only to
// those that ask for it in their hello: `echo` is a `beat` for the hello and each `beat`, so that a hung watchdog is
// noticed; `news` is what it has to publish, for the daemon's bus.
//   hello  who I am; first on every connection     beat   I am here          live   what I was started for works now
//   bye    I leave, with this exit code            look   (anybody) read the operator's settings again
//   news   (watchdog) publish this on the bus
// B1. A line that is not a message is ignored, and so are messages and fields of a newer version. Fields are added,
//     never changed.
// B2. A process is identified by its pid with start time and boot, never by the pid alone, so that a watchdog can adopt
//     a process that it did not start.
import { fitting } from "./check.ts";
import { decodeLine, encodeLine, LineReader } from "./lines.ts";
import { count, type Infer, json, object, table, text, textOf } from "./shape.ts";

/** The exit code of a process that finds another one running on this home: it lost a race, and did not crash. */
export const ANOTHER_RUNS = 73;

/** Set for the daemon if it is to start in safe mode: the reason. The file has it too, unless it could not be
 *  written. */
export const SAFE_MODE_VARIABLE = "HOLDFAST_SAFE_MODE";

/** Set for the watchdog: its settings. They are not arguments, which every user of the machine can read, because a
 *  program's variables may be secrets. */
export const SETTINGS_VARIABLE = "HOLDFAST_WATCHDOG_SETTINGS";

/** Set for each process that is expected to send heartbeats: how often, in milliseconds. */
export const HEARTBEAT_VARIABLE = "HOLDFAST_HEARTBEAT_MS";

/** Set as well for programs of the user's: where they send them, and under which name. */
export const HEARTBEAT_SOCKET_VARIABLE = "HOLDFAST_HEARTBEAT_SOCKET";
export const HEARTBEAT_NAME_VARIABLE = "HOLDFAST_HEARTBEAT_NAME";

/** More than ten times the longest message. */
const MAX_MESSAGE = 4096;

const HELLO = object({ name: text, pid: count, startTime: count, bootId: text });
export type Announced = Infer<typeof HELLO>;

/** A recovery topic (docs/FORMATS.md), with what is published about it. */
const NEWS = object({ topic: textOf({ pattern: /^recovery\./ }), data: table(json) });
export type News = Infer<typeof NEWS>;

export type HeartbeatMessage =
  | ({ readonly type: "hello"; readonly live: boolean; readonly echo?: true; readonly news?: true } & Announced)
  | ({ readonly type: "news" } & News)
  | { readonly type: "beat" }
  | { readonly type: "live" }
  | { readonly type: "bye"; readonly code: number }
  | { readonly type: "look" };

export function encodeHeartbeat(message: HeartbeatMessage): Uint8Array {
  return encodeLine({ v: 1, ...message });
}

/** Cuts a stream into messages. */
export class HeartbeatReader {
  readonly #lines = new LineReader();

  /** The messages that are complete now; undefined if a line is over the limit. */
  push(bytes: Uint8Array): HeartbeatMessage[] | undefined {
    return this.#lines.push(bytes)?.flatMap((line) => decodeHeartbeat(line) ?? []);
  }
}

/** Undefined if it is not a message (B1). */
export function decodeHeartbeat(line: string): HeartbeatMessage | undefined {
  const found = line.length > MAX_MESSAGE ? undefined : decodeLine(line);
  if (found === undefined) return undefined;
  const { type, code } = found;
  if (type === "beat" || type === "live" || type === "look") return { type };
  if (type === "bye" && typeof code === "number") return { type, code };
  if (type === "news") return newsIn(found);
  return type === "hello" ? helloIn(found) : undefined;
}

function newsIn(found: Readonly<Record<string, unknown>>): HeartbeatMessage | undefined {
  const news = fitting(NEWS, found);
  return news && { type: "news", topic: news.topic, data: news.data };
}

function helloIn(found: Readonly<Record<string, unknown>>): HeartbeatMessage | undefined {
  const hello = fitting(HELLO, found);
  if (hello === undefined) return undefined;
  const { name, pid, startTime, bootId } = hello;
  const echo = found["echo"] === true && ({ echo: true } as const);
  const news = found["news"] === true && ({ news: true } as const);
  return { type: "hello", name, pid, startTime, bootId, live: found["live"] === true, ...echo, ...news };
}
