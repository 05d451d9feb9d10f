// The places at a listener: how many connections it takes, and for whom they are.
// PL1. A client that has not said who it is yet keeps no one out: if too many are silent, the one that has been so
//      longest has to leave. Our clients say it at once.
// PL2. Guests have limits, all together and each of them. Whoever comes when half of the places are taken must show
//      that it is no guest. So there are always places left for the operator.

type Leaver = { destroy(): void };

export type PlaceLimits = {
  readonly all: number;
  readonly silent: number;
  /** PL2: of all guests, and of each. Less than half of all, unless only guests come. */
  readonly guests: number;
  readonly guest: number;
};

export class Places<C extends Leaver> {
  readonly #limits: PlaceLimits;
  /** In the order in which they came. */
  readonly #silent = new Set<C>();
  /** With the guest's name; undefined for one that was not asked. */
  readonly #seated = new Map<C, string | undefined>();

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** All that are there, silent or not. */
  get count(): number {
    return this.#silent.size + this.#seated.size;
  }

  /** Those that have said who they are. */
  get seated(): Iterable<C> {
    return this.#seated.keys();
  }

  enter(client: C): void {
    this.#silent.add(client);
    const [longest] = this.#silent;
    if (longest === undefined || this.#silent.size <= this.#limits.silent) return;
    this.#silent.delete(longest);
    longest.destroy(); // PL1
  }

  /** It has said who it is. `guest`: the name of a guest, undefined for the operator. Returns false if there is no
   *  place. */
  sit(client: C, guest: string | undefined): boolean {
    if (!this.#silent.delete(client) || this.#seated.size >= this.#limits.all) return false;
    if (guest !== undefined && !this.#hasRoomFor(guest)) return false;
    this.#seated.set(client, guest);
    return true;
  }

  /** PL2. Whether it must be looked at closely before it gets a place. */
  get isHalfFull(): boolean {
    return this.#seated.size >= this.#limits.all / 2;
  }

  leave(client: C): void {
    this.#silent.delete(client);
    this.#seated.delete(client);
  }

  /** PL2 */
  #hasRoomFor(guest: string): boolean {
    const guests = [...this.#seated.values()].filter((name) => name !== undefined);
    const same = guests.filter((name) => name === guest);
    return guests.length < this.#limits.guests && same.length < this.#limits.guest;
  }
}
