// The homes that are connected: one tunnel for each, and a limit on those that are not known yet.
// HM1. A home has one tunnel: if another comes with the same identity, the older is cut off, and both are told. It is
//      in the log, because it may be a stolen key.
// HM2. Who may not stay is cut off at once when a home is revoked.
import { type PlaceLimits, Places } from "../base/places.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { admit } from "../core/relay/admission.ts";
import { seen } from "../core/relay/records.ts";
import { REFUSED } from "../wire/tunnel/control.ts";
import type { AcceptedTunnel, TunnelEnd, TunnelPeer } from "../world/tunnel.ts";
import type { EnrolmentDesk } from "./enrolment.ts";
import { HomeLink, type LinkPorts } from "./home-link.ts";
import { AddressLimit } from "./pace.ts";
import type { RelayWorld, Say } from "./ports.ts";
import type { RecordsStore } from "./records-store.ts";

/** As many as may be enrolled; and as many unknown ones as a busy minute has. */
const PLACES: PlaceLimits = { all: 2_000, silent: 64, guests: 2_000, guest: 2_000 };
/** HM1. Two homes that cut each other off for ever must not fill the log. */
const HOUR_MS = 3_600_000;
const REPLACED_LOGGED = 10;

export type HomesPorts = {
  readonly store: RecordsStore;
  readonly desk: EnrolmentDesk;
  readonly authority: string;
  readonly heartbeatMs: number;
  readonly graceMs: number;
  readonly say: Say;
  urlOf(id: string): string;
};

export class Homes {
  readonly #clock: RelayWorld["clock"];
  readonly #ports: HomesPorts;
  readonly #places = new Places<HomeLink>(PLACES);
  readonly #links = new Set<HomeLink>();
  readonly #connected = new Map<string, HomeLink>();
  readonly #replaced: AddressLimit;

  constructor(clock: RelayWorld["clock"], ports: HomesPorts) {
    this.#clock = clock;
    this.#ports = ports;
    this.#replaced = new AddressLimit(clock, REPLACED_LOGGED, HOUR_MS);
  }

  get count(): number {
    return this.#connected.size;
  }

  /** Its tunnel; undefined if it is not connected. */
  of(home: string): HomeLink | undefined {
    return this.#connected.get(home);
  }

  accept(peer: TunnelPeer, tunnel: AcceptedTunnel): (end: TunnelEnd) => void {
    const link = new HomeLink(peer, tunnel, this.#linkPorts());
    this.#links.add(link);
    this.#places.enter(link);
    link.start();
    return () => this.#left(link);
  }

  #linkPorts(): LinkPorts {
    const { store, desk, heartbeatMs, graceMs, authority, urlOf } = this.#ports;
    const shared = { clock: this.#clock, desk, heartbeatMs, authority, urlOf };
    return {
      ...shared,
      admit: (peer) => admit(store.records, peer, this.#clock.now(), graceMs),
      arrived: (link, id) => this.#arrived(link, id),
    };
  }

  #arrived(link: HomeLink, id: string): Result<string | undefined> {
    if (!this.#places.sit(link, undefined)) return refused(REFUSED.busy, "This relay is full.", "");
    const older = this.#connected.get(id);
    this.#connected.set(id, link);
    const by = { address: link.peer.address, home: id };
    const noted = this.#ports.store.change(by, (before, now) => ok(seen(before, id, now)));
    void noted.catch(() => undefined); // If the log has stopped, the program ends; else the next visit is recorded.
    return ok(older === undefined ? undefined : this.#replace(older, by));
  }

  /** HM1 */
  #replace(older: HomeLink, by: { readonly address: string; readonly home: string }): string {
    older.refuse(REFUSED.replaced, `Another connection came with this identity, from ${by.address}.`);
    this.#ports.say(`home ${by.home} has connected from ${by.address}; its connection from ${older.peer.address} ends`);
    if (this.#replaced.count(by.home))
      void this.#ports.store
        .change(by, (_, at) => ok([{ event: "relay.home.replaced", data: { home: by.home, at } }]))
        .catch(() => undefined); // It was said above; if the log has stopped, the program ends.
    return `A connection with this identity, from ${older.peer.address}, was cut off.`;
  }

  #left(link: HomeLink): void {
    link.gone();
    this.#links.delete(link);
    this.#places.leave(link);
    if (link.home !== undefined && this.#connected.get(link.home) === link) this.#connected.delete(link.home);
  }

  /** HM2 */
  checkAll(): void {
    for (const link of this.#links) if (!link.check()) this.#forget(link);
  }

  /** No new tab is given to it. */
  #forget(link: HomeLink): void {
    if (link.home !== undefined && this.#connected.get(link.home) === link) this.#connected.delete(link.home);
  }

  close(): void {
    for (const link of this.#links) link.destroy();
  }
}
