// Events of a relay that are read back from disk (event.ts has the rules).
import type { RelayEvent } from "../../core/relay/records.ts";
import { eventOf, type StoredEntry } from "./event.ts";

type FieldsOf<E> = E extends { readonly data: infer D } ? readonly (keyof D & string)[] : never;

const RELAY_EVENTS: { readonly [E in RelayEvent as E["event"]]: FieldsOf<E> } = {
  "relay.token.made": ["hash", "name", "until", "at"],
  "relay.home.enrolled": ["home", "label", "name", "token", "serial", "notAfter", "at"],
  "relay.certificate.issued": ["home", "serial", "notAfter", "at"],
  "relay.home.revoked": ["home", "at"],
  "relay.home.seen": ["home", "at"],
  "relay.home.replaced": ["home", "at"],
};

export function relayEventOf(entry: StoredEntry): RelayEvent | undefined {
  return eventOf<RelayEvent & { readonly id: string }>(RELAY_EVENTS, entry);
}
