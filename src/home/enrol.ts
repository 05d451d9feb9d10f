// Enrolment of a home at a relay: one connection on which a token becomes a certificate (wire/tunnel/control.ts).
// EN1. The relay is verified by the authority's hash in the token before the token is sent.
// EN2. The key is made here and never sent. What is returned is to be stored before anything uses it; a token whose
//      answer was lost is used up, and the next one starts anew.
import { ok, type Result, refused } from "../base/result.ts";
import { encodeLine } from "../wire/lines.ts";
import { CONTROL_PATH, fromRelay, type RelayMessage } from "../wire/tunnel/control.ts";
import { decodeToken } from "../wire/tunnel/token.ts";
import type { Certificates } from "../world/certificates.ts";
import type { Clock } from "../world/clock.ts";
import type { DialEvents, TunnelStream, Tunnels } from "../world/tunnel.ts";
import { within } from "../world/wait.ts";
import type { Enrolment } from "./tunnel-files.ts";

/** A relay paces new connections; a person waits. */
const PATIENCE_MS = 30_000;

export type EnrolWorld = { readonly tunnels: Tunnels; readonly certificates: Certificates; readonly clock: Clock };
export type EnrolAt = { readonly host: string; readonly port: number };

export async function enrol(
  world: EnrolWorld,
  relay: EnrolAt,
  token: string,
  name: string,
): Promise<Result<Enrolment>> {
  const pinned = decodeToken(token);
  if (pinned === undefined) return refused("bad-token", "This is not a token of a relay.", FROM_RELAY);
  const { key, request } = await world.certificates.newRequest();
  const answer = Promise.withResolvers<Result<Extract<RelayMessage, { readonly type: "certificate" }>>>();
  const talk = new EnrolTalk({ token, request, name }, answer.resolve);
  const tunnel = world.tunnels.dial({ ...relay, authority: { hash: pinned.authority } }, talk); // EN1
  const done = await within(world.clock, PATIENCE_MS, answer.promise);
  tunnel.close();
  if (done === undefined) return refused("relay.silent", "The relay does not answer.", WHERE);
  if (!done.ok) return done;
  const { id, certificate, authority } = done.value;
  const enrolledAt = new Date(world.clock.now()).toISOString();
  return ok({ relay, id, certificate, authority, key, enrolledAt }); // EN2
}

type Asked = { readonly token: string; readonly request: string; readonly name: string };
type Settle = (answer: Result<Extract<RelayMessage, { readonly type: "certificate" }>>) => void;

class EnrolTalk implements DialEvents {
  readonly #asked: Asked;
  readonly #settle: Settle;
  readonly #reader = fromRelay();
  /** The relay speaks first. */
  readonly connected = (): void => undefined;
  readonly secured = (): void => undefined;

  constructor(asked: Asked, settle: Settle) {
    this.#asked = asked;
    this.#settle = settle;
  }

  stream(path: string, stream: TunnelStream) {
    if (path !== CONTROL_PATH) stream.destroy();
    const bytes = (given: Uint8Array): void => {
      const messages = this.#reader.push(given);
      if (messages === undefined) this.#settle(refused("relay.protocol", "This is not a relay of Holdfast.", WHERE));
      for (const message of messages ?? []) this.#message(message, stream);
    };
    return { bytes, drained: () => undefined, closed: () => undefined };
  }

  closed({ code, message }: { readonly code: string; readonly message: string }): void {
    const hint = code === "AUTHORITY" ? FROM_RELAY : WHERE;
    this.#settle(refused("relay.unreachable", `The relay could not be reached: ${message} (${code}).`, hint));
  }

  #message(message: RelayMessage, stream: TunnelStream): void {
    if (message.type === "welcome") stream.send(encodeLine({ type: "enrol", ...this.#asked }));
    if (message.type === "ping") stream.send(encodeLine({ type: "pong" }));
    if (message.type === "certificate") this.#settle(ok(message));
    if (message.type === "denied") this.#settle(refused("relay.denied", message.message, FROM_RELAY));
    if (message.type === "refused") this.#settle(refused("relay.refused", message.message, WHERE));
  }
}

const FROM_RELAY = "`holdfast relay token` prints one, on the machine of the relay.";
const WHERE = "Check the name and port of the relay, and that `holdfast relay status` there says it runs.";
