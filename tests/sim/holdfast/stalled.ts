// A live daemon whose log can be made to stall: what is decided is written, and its sync does not end.
import { expect } from "bun:test";
import { Client } from "./client.ts";
import { HoldfastMachine } from "./machine.ts";

export class Stalled {
  readonly machine = new HoldfastMachine(1);
  /** Two clients, since one waits for the answer to its request. */
  readonly client: Client;
  readonly other: Client;

  static async begin(): Promise<Stalled> {
    const stalled = new Stalled();
    stalled.machine.begin();
    await stalled.lived(Promise.all([stalled.client.live(), stalled.other.live()]));
    return stalled;
  }

  private constructor() {
    this.client = new Client(this.machine);
    this.other = new Client(this.machine);
  }

  async until(holds: () => boolean): Promise<void> {
    const { clock } = this.machine;
    for (let ms = 0; ms < 60_000 && !holds(); ms += 1) {
      clock.advance(1);
      await clock.settle();
      if (this.machine.trouble !== undefined) throw this.machine.trouble;
    }
    expect(holds()).toBe(true);
  }

  async pass(ms: number): Promise<void> {
    const end = this.machine.clock.elapsed() + ms;
    await this.until(() => this.machine.clock.elapsed() >= end);
  }

  /** Time passes until it is done. */
  async lived<T>(coming: Promise<T>): Promise<T> {
    let over = false;
    void coming.finally(() => {
      over = true;
    });
    await this.until(() => over);
    return coming;
  }

  /** Makes this request, and waits until what was decided is written; then the log stalls until `goOn` is called. */
  async stallAt<T>(request: () => Promise<T>): Promise<{ readonly made: Promise<T>; goOn(): void }> {
    const { disk } = this.machine;
    const sync = Promise.withResolvers<void>();
    disk.gate = ({ path }) => (path.endsWith(".wal") ? sync.promise : Promise.resolve());
    const { length } = disk.pending();
    const made = request();
    await this.until(() => disk.pending().length > length);
    return { made, goOn: sync.resolve };
  }
}
