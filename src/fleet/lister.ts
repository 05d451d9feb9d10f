// Keeps the listing of a home in the database, for its owner (listings.ts).
// LI1. It is stored when it has changed, and again after a minute: what others see is as old as they are told.
// LI2. A round takes at most a twentieth of the time, however many rows there are: then it waits for twenty times as
//      long as it took.
import { ok, type Result } from "../base/result.ts";
import { bounded, MAX_ROWS } from "../core/fleet/listing.ts";
import { isOver } from "../core/fleet/queue.ts";
import type { Listing, ListingRows } from "../wire/fleet/listing.ts";
import type { Clock } from "../world/clock.ts";
import type { Take } from "./calls.ts";
import type { Database } from "./database.ts";
import { LISTING_RENEWED_MS, putListing } from "./listings.ts";
import type { FleetSeal } from "./seal.ts";

/** `closed`: ids of prompts, the oldest first. */
export type OwnRows = ListingRows & { readonly closed: readonly string[] };

/** The lists of the home, as its daemon answers them. */
export type OwnLists = {
  /** Undefined: they are as they were, or nobody answers now. */
  changed(): Promise<OwnRows | undefined>;
  close(): void;
};

export type ListerPorts = {
  readonly database: Database;
  readonly seal: FleetSeal;
  readonly clock: Clock;
  readonly lists: OwnLists;
  /** Where the home is, and how our command is started here, also by ssh. */
  readonly place: Pick<Listing, "directory" | "command" | "ssh">;
  /** Where its page is now; empty: unknown. */
  readonly page?: () => string;
};

const LEAST_PAUSE_MS = 1_000;
/** LI2 */
const PAUSE_FACTOR = 20;

export class Lister {
  readonly #ports: ListerPorts;
  /** `under`: the take that it was stored under; undefined: it is to be stored. */
  #last: { readonly listing: Listing; readonly under: string | undefined; readonly at: number } | undefined;
  /** How long to wait before the next round. */
  pauseMs = LEAST_PAUSE_MS;

  constructor(ports: ListerPorts) {
    this.#ports = ports;
  }

  /** LI1. Can be repeated, whatever comes of it. */
  async round(take: Take): Promise<Result<unknown>> {
    const { clock, lists } = this.#ports;
    const begun = clock.elapsed();
    const rows = await lists.changed();
    if (rows !== undefined) this.#last = { listing: this.#listingOf(rows), under: undefined, at: 0 };
    const stored = this.#isDue(take) ? await this.#store(take) : ok(undefined);
    this.pauseMs = Math.max(LEAST_PAUSE_MS, PAUSE_FACTOR * (clock.elapsed() - begun));
    return stored;
  }

  close(): void {
    this.#ports.lists.close();
  }

  #isDue({ id }: Take): boolean {
    const last = this.#last;
    if (last === undefined) return false;
    return last.under !== id || this.#ports.clock.elapsed() - last.at >= LISTING_RENEWED_MS;
  }

  async #store(take: Take): Promise<Result<unknown>> {
    const last = this.#last;
    if (last === undefined) return ok(undefined);
    const at = this.#ports.clock.elapsed();
    const page = this.#ports.page?.() ?? "";
    const put = await putListing(this.#ports, take, { ...last.listing, page });
    if (put.ok && put.value) this.#last = { ...last, under: take.id, at };
    return put;
  }

  #listingOf({ terminals, runs, agents, prompts, closed }: OwnRows): Listing {
    const kept = {
      terminals: bounded(terminals, ({ state }) => state.kind === "ended"),
      runs: bounded(runs, ({ state }) => isOver(state)),
      agents: bounded(agents, ({ state }) => isOver(state)),
      prompts: bounded(prompts, () => false),
    };
    return {
      at: new Date(this.#ports.clock.now()).toISOString(),
      ...{ ...this.#ports.place, closed: closed.slice(-MAX_ROWS) },
      ...{ terminals: kept.terminals.rows, runs: kept.runs.rows, agents: kept.agents.rows, prompts: kept.prompts.rows },
      more: {
        ...{ terminals: kept.terminals.more, runs: kept.runs.more },
        ...{ agents: kept.agents.more, prompts: kept.prompts.more },
      },
    };
  }
}
