// Events that are read back from disk, given their types again. The checksum proves that they are what was written; the
// tables of fields prove that this version knows what they mean.
// SE1. An event whose name this version does not know is ignored: a newer version may have written it.
// SE2. An event without one of its fields throws, and its session is set aside. More fields may be there. Values are
//      not looked at: a recovery reads millions of events.
import { own } from "../../base/own.ts";
import { isObject } from "../lines.ts";

export type StoredEntry = { readonly session_id: string; readonly event: string; readonly data: unknown };

type Event = { readonly event: string; readonly id: string; readonly data: object };
type FieldsOf<E> = E extends { readonly data: infer D } ? readonly (keyof D & string)[] : never;

/** The fields that each event must have. */
export type EventFields<E extends Event> = { readonly [K in E as K["event"]]: FieldsOf<K> };

export function eventOf<E extends Event>(
  known: Readonly<Record<string, readonly string[]>>,
  { session_id, event, data }: StoredEntry,
): E | undefined {
  const fields = own(known, event);
  if (fields === undefined) return undefined; // SE1
  const missing = missingIn(data, fields);
  if (missing !== undefined) throw new Error(`${event} of ${session_id} has no ${missing}`); // SE2
  return { event, id: session_id, data } as unknown as E;
}

/** The first of these fields that a value does not have. */
export function missingIn(value: unknown, fields: readonly string[]): string | undefined {
  return fields.find((field) => !isObject(value) || !Object.hasOwn(value, field));
}
