// The book of notifications in memory and on disk (home/notify-files.ts).
// BK1. `saved` resolves once everything up to its call is on disk. Changes that come during a write share the next one.
// BK2. A book that could not be read is read again with the next look, and until then nothing is changed.
import { type NotifyBook, readNotifyBook, writeNotifyBook } from "../../home/notify-files.ts";
import type { Disk } from "../../world/disk.ts";

export class Book {
  readonly #disk: Disk;
  readonly #home: string;
  #book: NotifyBook | undefined;
  #onDisk: NotifyBook | undefined;
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(disk: Disk, home: string) {
    this.#disk = disk;
    this.#home = home;
  }

  /** BK2. Throws a Fault if the disk does not answer. */
  get now(): NotifyBook {
    if (this.#book === undefined) {
      this.#book = readNotifyBook(this.#disk, this.#home);
      this.#onDisk = this.#book;
    }
    return this.#book;
  }

  /** Returns whether anything is different. */
  change(part: Partial<NotifyBook>): boolean {
    const before = this.now;
    const after: NotifyBook = { ...before, ...part };
    const isSame =
      after.subscriptions === before.subscriptions &&
      after.outbox === before.outbox &&
      after.records === before.records &&
      after.mutes === before.mutes;
    if (!isSame) this.#book = after;
    return !isSame;
  }

  /** BK1. Throws a Fault if the disk refuses; the next call tries again. */
  saved(): Promise<void> {
    if (this.#next === undefined && this.#onDisk === this.#book) return this.#last;
    this.#next ??= this.#write(this.#last);
    return this.#next;
  }

  async #write(before: Promise<void>): Promise<void> {
    await before.catch(() => undefined); // Its own callers get the error.
    this.#next = undefined;
    const book = this.now;
    this.#last = writeNotifyBook(this.#disk, this.#home, book).then(() => {
      this.#onDisk = book;
    });
    await this.#last;
  }
}
