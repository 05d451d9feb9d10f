// Copies of other hosts' homes, kept up to date, so that taking one of them over takes less time: of those that the
// configuration names, and of any other from the moment on at which it may have to be taken.
// MI1. One after the other, and none while a home is taken over: a takeover has the disk and the network for itself.
// MI2. A mirror that fails is tried again later; it is only a copy.
// MI3. A copy that was only begun because its home fell silent is removed when the home is heard of again.
import { isFault } from "../base/fault.ts";
import type { Result } from "../base/result.ts";
import type { WatchedRow } from "../fleet/calls.ts";
import type { HomeFiles, StandbyPorts } from "./ports.ts";

export type MirrorPorts = StandbyPorts & {
  readonly files: HomeFiles;
  /** Whether a pattern of this host names it. */
  mirrors(name: string): boolean;
  isBusy(): boolean;
};

/** `lag`: how many entries of its log the copy lacked when it was looked at. `at`: when it was brought up to date. */
export type MirrorState = {
  readonly name: string;
  readonly lag: number;
  readonly at?: string;
  readonly trouble?: string;
};

export class Mirrors {
  readonly #ports: MirrorPorts;
  readonly #seqs = new Map<string, number>();
  readonly #times = new Map<string, string>();
  readonly #troubles = new Map<string, string>();
  /** MI3 */
  readonly #begun = new Set<string>();
  #states: readonly MirrorState[] = [];
  #isWorking = false;

  constructor(ports: MirrorPorts) {
    this.#ports = ports;
  }

  get states(): readonly MirrorState[] {
    return this.#states;
  }

  /** Called with each look at the database. `isSilent`: whether a home may have to be taken soon. */
  look(homes: readonly WatchedRow[], isSilent: (home: WatchedRow) => boolean): void {
    const others = homes.filter(({ host }) => host !== this.#ports.host.id);
    const named = others.filter(({ name }) => this.#ports.mirrors(name));
    this.#states = named.map((home) => this.#state(home));
    if (this.#isWorking || this.#ports.isBusy()) return; // MI1
    const silent = others.filter((home) => !named.includes(home) && isSilent(home));
    const back = others.filter((home) => this.#begun.has(home.id) && !silent.includes(home));
    for (const { id } of silent) this.#begun.add(id);
    this.#isWorking = true;
    const done = () => {
      this.#isWorking = false;
    };
    void this.#round([...silent, ...named], back).then(done, (error: unknown) => this.#ports.broken(error));
  }

  #state({ id, name, lastSeq }: WatchedRow): MirrorState {
    const [at, trouble] = [this.#times.get(id), this.#troubles.get(id)];
    const lag = lastSeq - (this.#seqs.get(id) ?? 0);
    return { name, lag, ...(at !== undefined && { at }), ...(trouble !== undefined && { trouble }) };
  }

  async #round(wanted: readonly WatchedRow[], back: readonly WatchedRow[]): Promise<void> {
    for (const { id, name } of back) {
      this.#begun.delete(id);
      if (!this.#ports.mirrors(name)) await this.#tried(() => this.#ports.files.forget(id)); // MI3
    }
    for (const home of wanted) {
      if (this.#ports.isBusy()) return; // MI1
      await this.#refresh(home);
    }
  }

  /** MI2 */
  async #refresh({ id, name }: WatchedRow): Promise<void> {
    const trouble = await this.#refreshed(id);
    if (trouble !== undefined && trouble !== this.#troubles.get(id)) this.#ports.say(`the copy of ${name}: ${trouble}`);
    if (trouble === undefined) this.#troubles.delete(id);
    else this.#troubles.set(id, trouble);
  }

  async #refreshed(id: string): Promise<string | undefined> {
    return this.#tried(async () => {
      const mirrored = await this.#ports.files.mirror(id);
      if (mirrored.ok) {
        this.#seqs.set(id, mirrored.value);
        this.#times.set(id, new Date(this.#ports.world.clock.now()).toISOString());
      }
      return mirrored;
    });
  }

  /** Returns what went wrong. */
  async #tried(act: () => Promise<Result<unknown>>): Promise<string | undefined> {
    try {
      const done = await act();
      return done.ok ? undefined : `${done.error.message} ${done.error.hint}`;
    } catch (error) {
      if (!isFault(error)) throw error;
      return `${error.message}. ${error.hint}`;
    }
  }
}
