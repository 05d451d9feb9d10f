// What watched processes say to the watchdog: one JSON object a line over `run/watchdog.sock`. Nothing is answered.
//   hello  who I am; first on every connection     beat   I am here          live   what I was started for works now
//   bye    I leave, with this exit code            look   (anybody) read again what the operator wants
// B1. A line that is no message is passed over, and so are messages and fields of a newer version; shapes are added to, never changed.
// B2. Who a process is says its pid with start time and boot, never the pid alone, so that a watchdog can adopt what it did not start.
import { fitting } from "./check.ts";
import { decodeLine, encodeLine, LineReader } from "./lines.ts";
import { count, type Infer, object, text } from "./shape.ts";

/** The exit code of whoever finds that another one runs already on this home: it lost a race, and did not crash. */
export const ANOTHER_RUNS = 73;

/** Set for the daemon where it is to come up in safe mode: the reason. The file says the same, unless the disk did not take it. */
export const SAFE_MODE_VARIABLE = "HOLDFAST_SAFE_MODE";

/** Set for the watchdog: its settings. Not among its words, which every user of the machine can read; a program's variables may be secrets. */
export const SETTINGS_VARIABLE = "HOLDFAST_WATCHDOG_SETTINGS";

/** Set for whoever is expected to send heartbeats: how often, in milliseconds. */
export const HEARTBEAT_VARIABLE = "HOLDFAST_HEARTBEAT_MS";

/** Set as well for programs of the user's, which do not know us: where they send them, and under which name. */
export const HEARTBEAT_SOCKET_VARIABLE = "HOLDFAST_HEARTBEAT_SOCKET";
export const HEARTBEAT_NAME_VARIABLE = "HOLDFAST_HEARTBEAT_NAME";

/** No message of ours is a tenth of it. */
const MAX_MESSAGE = 4096;

const HELLO = object({ name: text, pid: count, startTime: count, bootId: text });
export type Announced = Infer<typeof HELLO>;

export type HeartbeatMessage =
  | ({ readonly type: "hello"; readonly live: boolean } & Announced)
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

  /** The messages that are whole now; undefined where the stream cannot be ours, since its line has no end. */
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
  return type === "hello" ? helloIn(found) : undefined;
}

function helloIn(found: Readonly<Record<string, unknown>>): HeartbeatMessage | undefined {
  const hello = fitting(HELLO, found);
  if (hello === undefined) return undefined;
  const { name, pid, startTime, bootId } = hello;
  return { type: "hello", name, pid, startTime, bootId, live: found["live"] === true };
}
