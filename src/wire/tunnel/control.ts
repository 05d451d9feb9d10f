// The control stream of a tunnel: JSON lines, both ways. The relay opens it first, on the path below, and speaks first.
// TC1. The relay's first line is `welcome` or `refused`. A home that may only renew or enrol gets no other stream.
// TC2. Both sides send `ping` and answer `pong`; who hears nothing for `SILENT_BEATS` intervals closes the tunnel.
// TC3. Unknown types and fields are ignored: the other side may be newer. A line that is no JSON object, or is over the
//      limit, closes the tunnel.
import { fitting } from "../check.ts";
import { decodeLine, LineReader } from "../lines.ts";
import { type Infer, literal, object, optional, type Shape, text, textOf, whole } from "../shape.ts";

/** The protocol between homes and relays, as ALPN cannot say it: that is HTTP/2's. */
export const TUNNEL_PROTOCOL = 1;
export const CONTROL_PATH = "/control";
/** One stream for each browser that has connected. What it carries is encrypted for the home (wire/noise). */
export const TAB_PATH = "/tab";

/** TC2 */
export const SILENT_BEATS = 2;
/** A certificate signing request or a chain is a tenth of it. */
export const MAX_CONTROL_LINE = 64 << 10;

const pem = textOf({ most: 32 << 10 });
const name = textOf({ least: 1, most: 100 });

const FROM_RELAY = {
  /** `full`: everything. `renew`: the certificate has expired, and may only be renewed. `enrol`: there is none yet. */
  welcome: object({
    type: literal("welcome"),
    protocol: whole(1, 1000),
    mode: literal("full", "renew", "enrol"),
    heartbeatMs: whole(100, 600_000),
    /** Where browsers find this home; empty unless `full`. */
    url: textOf({ most: 500 }),
    /** What people should know, for example that another connection with this identity was cut off. */
    notice: optional(textOf({ most: 1000 })),
    /** The relay's time, in milliseconds; older ones do not say it. */
    now: optional(whole(0)),
  }),
  refused: object({ type: literal("refused"), reason: text, message: textOf({ most: 1000 }) }),
  /** The answer to `enrol` and `renew`. */
  certificate: object({ type: literal("certificate"), id: name, certificate: pem, authority: pem }),
  denied: object({ type: literal("denied"), message: textOf({ most: 1000 }) }),
  ping: object({ type: literal("ping") }),
  pong: object({ type: literal("pong") }),
};

/** Why a relay refuses a tunnel. Unknown ones are treated as something that passes. */
export const REFUSED = {
  /** Its certificate has expired, longer ago than may be renewed. */
  expired: "expired",
  revoked: "revoked",
  /** Not from this authority, or not known here. */
  unknown: "unknown",
  /** Its certificate is not valid yet: a clock is wrong. */
  early: "early",
  /** Another home has connected with the same identity. */
  replaced: "replaced",
  busy: "busy",
} as const;

const FROM_HOME = {
  enrol: object({ type: literal("enrol"), token: textOf({ least: 1, most: 200 }), request: pem, name }),
  renew: object({ type: literal("renew"), request: pem }),
  ping: object({ type: literal("ping") }),
  pong: object({ type: literal("pong") }),
};

type OneOf<T extends Readonly<Record<string, Shape>>> = { [K in keyof T]: Infer<T[K]> }[keyof T];
export type RelayMessage = OneOf<typeof FROM_RELAY>;
export type HomeMessage = OneOf<typeof FROM_HOME>;

/** What arrives on a control stream. */
export class ControlReader<T extends RelayMessage | HomeMessage> {
  readonly #lines = new LineReader(MAX_CONTROL_LINE);
  readonly #shapes: Readonly<Record<string, Shape>>;

  constructor(shapes: Readonly<Record<string, Shape>>) {
    this.#shapes = shapes;
  }

  /** The messages that are complete now; undefined if the tunnel is to be closed (TC3). */
  push(bytes: Uint8Array): T[] | undefined {
    const messages: T[] = [];
    for (const line of this.#lines.push(bytes) ?? [""]) {
      const value = decodeLine(line);
      if (value === undefined) return undefined;
      const type = value["type"];
      const shape = typeof type === "string" && Object.hasOwn(this.#shapes, type) ? this.#shapes[type] : undefined;
      const message = shape && fitting(shape, value);
      if (shape !== undefined && message === undefined) return undefined;
      if (message !== undefined) messages.push(message as T);
    }
    return messages;
  }
}

export function fromRelay(): ControlReader<RelayMessage> {
  return new ControlReader(FROM_RELAY);
}

export function fromHome(): ControlReader<HomeMessage> {
  return new ControlReader(FROM_HOME);
}
