// Requests about notifications: a browser's own subscription, and for everyone how calling people goes.
// NH1. A subscription belongs to the browser that asks, and is on disk before that is answered.
// NH2. The address of a subscription is a secret of the browser: only the host of its push service is shown.
import { newId } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { timeText } from "../../base/time-text.ts";
import { testMessage } from "../../core/notify/message.ts";
import type { Mute } from "../../core/notify/mutes.ts";
import { dueOf } from "../../core/notify/outbox.ts";
import { subscribed, wrongEndpoint } from "../../core/notify/subscriptions.ts";
import type { Caller } from "../../core/principal.ts";
import { fromBase64, isPoint, toBase64 } from "../../wire/push/p256.ts";
import { type Params, paramsOf } from "../../wire/rpc/params.ts";
import type { NotifyStatus, NotifyTarget, NotifyTested } from "../../wire/rpc/rpc.ts";
import type { Handlers } from "../rpc-server.ts";
import type { Book } from "./book.ts";
import type { NotifyDesk } from "./desk.ts";
import { type PostPorts, whyNever } from "./post.ts";
import type { PushKey } from "./push-key.ts";
import type { Send, Target } from "./senders.ts";

export type NotifyHandlerPorts = PostPorts & {
  readonly desk: NotifyDesk;
  readonly book: Book;
  readonly key: PushKey;
  readonly send: Send;
  readonly subtle: SubtleCrypto;
  readonly settings: Pick<NotifyStatus, "quiet" | "mute">;
  idBytes(): Uint8Array;
  agent(id: string): { readonly name: string } | undefined;
};

/** A test is for now: a push service need not keep it. */
const TEST_TTL_S = 60;
/** As for all times that people give; without one, it is until further notice. */
const MAX_MUTE_MS = 30 * 86_400_000;

export function notifyHandlers(ports: NotifyHandlerPorts): Handlers {
  return {
    "push.key": async () => ok({ key: toBase64((await ports.key.get()).publicKey) }),
    "push.subscribe": async (given, by) => {
      const params = paramsOf("push.subscribe", given);
      return params.ok ? subscribe(ports, params.value, by) : params;
    },
    "push.unsubscribe": async (given, by) => {
      const params = paramsOf("push.unsubscribe", given);
      return params.ok ? unsubscribe(ports, params.value.id, by) : params;
    },
    "notify.status": async () => ok(statusOf(ports)),
    "notify.test": async () => ok(await test(ports, ports.desk.targets())),
    "push.test": (_, by) => testOwn(ports, by),
    "notify.mute": async (given) => {
      const params = paramsOf("notify.mute", given);
      return params.ok ? mute(ports, params.value) : params;
    },
  };
}

/** NH1 */
async function subscribe(
  ports: NotifyHandlerPorts,
  { endpoint, p256dh, auth }: Params<"push.subscribe">,
  by: Caller | undefined,
): Promise<Result<{ id: string }>> {
  const device = by?.device;
  if (device === undefined) return NOT_A_BROWSER;
  const wrong = wrongEndpoint(endpoint);
  if (wrong !== undefined) return { ok: false, error: wrong };
  if (!(await isPoint(ports.subtle, fromBase64(p256dh)))) return BAD_KEY;
  const never = await whyNever(ports, endpoint);
  if (never !== undefined)
    return refused("bad-endpoint", `Nothing is sent there: ${never}.`, "See docs/NOTIFICATIONS.md.");
  const { book, desk } = ports;
  const { subscriptions } = book.now;
  const known = subscriptions.find((one) => one.device === device && one.endpoint === endpoint && one.auth === auth);
  const id = known?.id ?? newId(ports.idBytes());
  const madeAt = timeText(ports.clock.now());
  if (known === undefined) desk.replace(subscribed(subscriptions, { id, device, endpoint, p256dh, auth, madeAt }));
  await book.saved();
  desk.lookAtAll();
  return ok({ id });
}

async function unsubscribe(
  { book, desk }: NotifyHandlerPorts,
  id: string | undefined,
  by: Caller | undefined,
): Promise<Result<{ removed: number }>> {
  const { subscriptions } = book.now;
  const mine = by?.device;
  if (id === undefined && mine === undefined) return NOT_A_BROWSER;
  const kept = subscriptions.filter((one) => (mine === undefined ? one.id !== id : one.device !== mine));
  desk.replace(kept);
  await book.saved();
  return ok({ removed: subscriptions.length - kept.length });
}

function statusOf(ports: NotifyHandlerPorts): NotifyStatus {
  const { desk, book, settings } = ports;
  const calls = [...book.now.outbox.values()];
  const targets = desk.targets().map((target): NotifyTarget => {
    const { okAt = null, failedAt = null, why = "", failures = 0 } = book.now.records.get(target.id) ?? {};
    const waiting = calls.filter((call) => call.target === target.id && dueOf(call) !== undefined).length;
    return { ...shown(target), okAt, failedAt, why, failures, waiting };
  });
  return { targets, isQuiet: desk.isQuiet(), ...settings, ...mutesIn(ports) };
}

/** NH2 */
function shown(target: Target): Pick<NotifyTarget, "id" | "kind" | "name" | "service" | "device"> {
  const { id, kind, name } = target;
  if (target.kind !== "browser") return { id, kind, name, service: null, device: null };
  const { endpoint, device } = target.subscription;
  return { id, kind, name, service: new URL(endpoint).host, device };
}

async function mute(ports: NotifyHandlerPorts, wish: Params<"notify.mute">): Promise<Result<MutesShown>> {
  const { book, desk, clock } = ports;
  const meant = muteOf(ports, wish);
  if (!meant.ok) return meant;
  const { forMs } = wish;
  if (forMs !== undefined && (forMs === 0 || forMs > MAX_MUTE_MS)) return BAD_TIME;
  const until = forMs === undefined ? null : timeText(clock.now() + forMs);
  desk.mute({ ...meant.value, until }, wish.muted);
  await book.saved();
  return ok(mutesIn(ports));
}

function muteOf(
  { agent: find }: NotifyHandlerPorts,
  { agent, lane, all = false }: Params<"notify.mute">,
): Result<Pick<Mute, "of" | "key">> {
  if ([agent !== undefined, lane !== undefined, all].filter(Boolean).length !== 1)
    return refused("bad-params", "Name an agent, a lane, or everything.", "One of the three.");
  if (agent === undefined) return ok(lane === undefined ? { of: "all", key: "" } : { of: "lane", key: lane });
  if (find(agent) !== undefined) return ok({ of: "agent", key: agent });
  return refused("unknown", "There is no such agent.", "`holdfast agent tree` shows all.");
}

type MutesShown = Required<Pick<NotifyStatus, "muted" | "mutes">>;

function mutesIn({ desk, agent }: NotifyHandlerPorts): MutesShown {
  const mutes = desk.mutes();
  const nameOf = ({ of, key }: Mute) => (of === "agent" ? (agent(key)?.name ?? key) : key);
  return {
    muted: mutes.filter(({ of }) => of === "agent").map(({ key }) => key),
    mutes: mutes.map((one) => ({ ...one, name: nameOf(one) })),
  };
}

async function testOwn(ports: NotifyHandlerPorts, by: Caller | undefined): Promise<Result<NotifyTested>> {
  const own = ports.desk.targets().filter((one) => one.kind === "browser" && one.subscription.device === by?.device);
  const [tested] = await test(ports, own);
  if (tested === undefined) return NOT_A_BROWSER;
  const hint = "See docs/NOTIFICATIONS.md: when it does not work.";
  return tested.ok ? ok(tested) : refused("not-called", `It could not be called: ${tested.why}.`, hint);
}

/** To all of them at once, whatever the hour. */
async function test({ desk, send, book }: NotifyHandlerPorts, targets: readonly Target[]): Promise<NotifyTested[]> {
  const sending = { message: testMessage(), ttlS: TEST_TTL_S, stopped: new Promise<void>(() => undefined) };
  const tested = await Promise.all(
    targets.map(async (target) => {
      const reply = await send(target, sending);
      desk.note(target, reply);
      const { id, name } = target;
      return { id, name, ok: reply.kind === "accepted", why: reply.kind === "accepted" ? "" : reply.why };
    }),
  );
  await book.saved();
  return tested;
}

const BAD_TIME = refused("bad-params", "It can be muted for up to 30 days.", "For example: --for 2h");
const NOT_A_BROWSER = refused("not-a-browser", "Only a browser can be called by Web Push.", "Do it on the page.");
const BAD_KEY = refused("bad-key", "The key of the subscription is not one of the curve P-256.", "Subscribe again.");
