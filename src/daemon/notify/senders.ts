// How a message gets to each kind of target: a browser (Web Push), the operator's URL, the operator's command.
// SE1. A push service sees the address of the browser's subscription, this home's public key, the prompt's id as topic,
//      a length, and when: nothing else (wire/push).
import type { Message } from "../../core/notify/message.ts";
import type { Subscription } from "../../core/notify/subscriptions.ts";
import { sealed } from "../../wire/push/encryption.ts";
import { agreeing, fromBase64, type Signing, utf8 } from "../../wire/push/p256.ts";
import { retryAfterMs } from "../../wire/push/response.ts";
import { vapid } from "../../wire/push/vapid.ts";
import type { Random } from "../../world/random.ts";
import { type CommandPorts, runCommand } from "./command.ts";
import { type Posted, type PostPorts, post } from "./post.ts";
import type { Reply } from "./reply.ts";

export type Target =
  | { readonly kind: "browser"; readonly id: string; readonly name: string; readonly subscription: Subscription }
  | { readonly kind: "url"; readonly id: "url"; readonly name: string; readonly url: string }
  | {
      readonly kind: "command";
      readonly id: "command";
      readonly name: string;
      readonly argv: readonly [string, ...string[]];
    };

export type Sending = {
  readonly message: Message;
  /** How long a push service keeps it for a browser that is not reachable. */
  readonly ttlS: number;
  /** Resolves if it is not wanted any more. */
  readonly stopped: Promise<void>;
};

export type Send = (target: Target, sending: Sending) => Promise<Reply>;

export type SenderPorts = PostPorts &
  CommandPorts & {
    readonly random: Random;
    readonly subtle: SubtleCrypto;
    /** Whom a push service may write to. */
    readonly contact: string;
    key(): Promise<Signing>;
  };

const SALT_BYTES = 16;
/** Longer than this nobody is made to wait, whatever a server says. */
const MAX_RETRY_AFTER_MS = 3_600_000;

export function senderOf(ports: SenderPorts): Send {
  return (target, sending) => {
    if (target.kind === "browser") return toBrowser(ports, target.subscription, sending);
    if (target.kind === "url") return toUrl(ports, target.url, sending);
    return runCommand(ports, target.argv, sending.message, sending.stopped);
  };
}

async function toBrowser(ports: SenderPorts, to: Subscription, sending: Sending): Promise<Reply> {
  const { message, ttlS, stopped } = sending;
  const { subtle, random, clock } = ports;
  const once = { key: await agreeing(subtle), salt: Uint8Array.from(random.bytes(SALT_BYTES)) };
  const receiver = { publicKey: fromBase64(to.p256dh), auth: fromBase64(to.auth) };
  const body = await sealed(subtle, once, receiver, utf8(JSON.stringify(message)));
  if (body === undefined) return { kind: "gone", why: "the browser's key is none" };
  const headers = {
    Authorization: await vapid(await ports.key(), to.endpoint, ports.contact, clock.now()),
    "Content-Encoding": "aes128gcm",
    "Content-Type": "application/octet-stream",
    TTL: String(ttlS),
    Topic: message.tag,
    Urgency: "high",
  };
  const posted = await post(ports, { url: to.endpoint, headers, body }, stopped);
  const isGone = posted.kind === "answered" && (posted.status === 404 || posted.status === 410);
  return isGone ? { kind: "gone", why: "the browser has unsubscribed" } : replyTo(posted, clock.now());
}

async function toUrl(ports: SenderPorts, url: string, { message, stopped }: Sending): Promise<Reply> {
  const headers = { "Content-Type": "application/json" };
  return replyTo(await post(ports, { url, headers, body: utf8(JSON.stringify(message)) }, stopped), ports.clock.now());
}

/** After an error of the server itself it is unknown whether it has taken the message; 503 says that it has not. */
function replyTo(posted: Posted, now: number): Reply {
  if (posted.kind !== "answered") return posted;
  const { status, retryAfter } = posted;
  if (status >= 200 && status < 300) return { kind: "accepted" };
  const why = `it answered ${status}`;
  if (status >= 500 && status !== 503) return { kind: "lost", why };
  const waitMs = retryAfterMs(retryAfter, now, MAX_RETRY_AFTER_MS);
  return { kind: "refused", why, ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
}
