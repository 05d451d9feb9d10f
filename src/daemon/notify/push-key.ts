// The key by which push services know this home (VAPID), made when it is first needed.
// PK1. It is on disk before anyone sees it: subscriptions are bound to it, and another key could not reach them.
import { readPushKey, writePushKey } from "../../home/notify-files.ts";
import { newSigningKey, type Signing, signing } from "../../wire/push/p256.ts";
import type { Disk } from "../../world/disk.ts";

export class PushKey {
  readonly #place: { readonly disk: Disk; readonly home: string; readonly subtle: SubtleCrypto };
  #made: Promise<Signing> | undefined;

  constructor(place: { readonly disk: Disk; readonly home: string; readonly subtle: SubtleCrypto }) {
    this.#place = place;
  }

  /** Rejects with a Fault if the disk refuses; the next call tries again. */
  get(): Promise<Signing> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }

  async #make(): Promise<Signing> {
    const { disk, home, subtle } = this.#place;
    const known = readPushKey(disk, home);
    const key = known ?? (await newSigningKey(subtle));
    if (known === undefined) await writePushKey(disk, home, key); // PK1
    return signing(subtle, key);
  }
}
