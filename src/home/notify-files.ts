// What a home keeps to call people: `recovery/notify.json` (the browsers that want to be called, the outbox, and how
// the last calls went) and `recovery/push-key.json` (the key by which push services know this home).
// NF1. The daemon writes them; `doctor` and `notify` read them. Both are 0600, as all files of a home.
// NF2. A file that is missing, or does not have its form, is empty: the outbox is made again from the open prompts, and
//      browsers subscribe again. One that cannot be read for now is a Fault: nothing is written in its place.
import { parseJson } from "../base/json.ts";
import { joinPath } from "../base/path.ts";
import type { Mute, Mutes } from "../core/notify/mutes.ts";
import { type Call, keyOf, type Outbox } from "../core/notify/outbox.ts";
import type { Subscriptions } from "../core/notify/subscriptions.ts";
import { readWhole } from "../log/file/file.ts";
import { writeJson } from "../log/file/json-file.ts";
import { fitting } from "../wire/check.ts";
import { PRIVATE_KEY, type PrivateKey } from "../wire/push/p256.ts";
import { count, type Infer, list, literal, nullable, object, optional, type Shape, text } from "../wire/shape.ts";
import type { Disk } from "../world/disk.ts";
import { NOTIFY, PUSH_KEY } from "./layout.ts";

/** How the last calls of a target went. */
const RECORD = object({
  target: text,
  okAt: nullable(text),
  failedAt: nullable(text),
  why: text,
  /** In a row. */
  failures: count,
});
export type CallRecord = Infer<typeof RECORD>;

export type NotifyBook = {
  readonly subscriptions: Subscriptions;
  readonly outbox: Outbox;
  readonly records: ReadonlyMap<string, CallRecord>;
  readonly mutes: Mutes;
};

const SUBSCRIPTION = object({ id: text, device: text, endpoint: text, p256dh: text, auth: text, madeAt: text });
const CALL: Shape<Call> = object({
  ...{ prompt: text, target: text, agent: text, name: text, tool: text, again: optional(count) },
  state: literal("held", "due", "sent", "shown", "withdrawing"),
  over: nullable(object({ decision: nullable(literal("allow", "deny")), how: text, at: text })),
});
const MUTE: Shape<Mute> = object({ of: literal("agent", "lane", "all"), key: text, until: nullable(text) });
const BOOK = object({
  ...{ subscriptions: list(SUBSCRIPTION), calls: list(CALL), records: list(RECORD) },
  /** Ids of agents that are muted without an end: all that older versions know. */
  mutes: optional(list(text)),
  /** The other ones. */
  muted: optional(list(MUTE)),
});

export function readNotifyBook(disk: Disk, home: string): NotifyBook {
  const found = fitting(BOOK, valueIn(disk, joinPath(home, NOTIFY))); // NF2
  return {
    subscriptions: found?.subscriptions ?? [],
    outbox: new Map(found?.calls.map((call) => [keyOf(call), call])),
    records: new Map(found?.records.map((record) => [record.target, record])),
    mutes: [...(found?.mutes ?? []).map((key): Mute => ({ of: "agent", key, until: null })), ...(found?.muted ?? [])],
  };
}

export function writeNotifyBook(disk: Disk, home: string, book: NotifyBook): Promise<void> {
  const { subscriptions, outbox, records, mutes } = book;
  const isOld = ({ of, until }: Mute) => of === "agent" && until === null;
  const choices = { mutes: mutes.filter(isOld).map(({ key }) => key), muted: mutes.filter((one) => !isOld(one)) };
  const value = { v: 1, subscriptions, calls: [...outbox.values()], records: [...records.values()], ...choices };
  return writeJson(disk, joinPath(home, NOTIFY), value);
}

export function readPushKey(disk: Disk, home: string): PrivateKey | undefined {
  return fitting(PRIVATE_KEY, valueIn(disk, joinPath(home, PUSH_KEY)));
}

export function writePushKey(disk: Disk, home: string, key: PrivateKey): Promise<void> {
  return writeJson(disk, joinPath(home, PUSH_KEY), { v: 1, ...key });
}

function valueIn(disk: Disk, path: string): unknown {
  const bytes = readWhole(disk, path);
  const value = bytes && parseJson(new TextDecoder().decode(bytes));
  return value?.ok === true ? value.value : undefined;
}
