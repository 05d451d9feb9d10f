// The bytes of a simulated file: written in place while one disk owns them, copied when a fork has to write.
// C1. A buffer that was shared is never written again, so a fork costs a few objects and no bytes.
// C2. Bytes beyond `length` are not zero: extending the file clears them first.

const NOTHING = new Uint8Array(0);

export class Content {
  length = 0;
  private buffer = NOTHING;
  private shared = true;

  /** The same bytes for another owner. */
  share(): Content {
    const twin = new Content();
    twin.length = this.length;
    twin.buffer = this.buffer;
    this.shared = true; // C1
    return twin;
  }

  bytes(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }

  read(into: Uint8Array, offset: number, wanted: number): number {
    const count = Math.min(wanted, this.length - offset);
    if (count <= 0) return 0;
    into.set(this.buffer.subarray(offset, offset + count));
    return count;
  }

  write(bytes: Uint8Array, offset: number): void {
    if (bytes.length === 0) return;
    const end = offset + bytes.length;
    this.own(end);
    if (offset > this.length) this.buffer.fill(0, this.length, offset); // C2
    this.buffer.set(bytes, offset);
    if (end > this.length) this.length = end;
  }

  truncate(length: number): void {
    this.extend(length);
    this.length = length;
  }

  /** Zeros up to `length`, if the file is shorter. */
  extend(length: number): void {
    if (length <= this.length) return;
    this.own(length);
    this.buffer.fill(0, this.length, length); // C2
    this.length = length;
  }

  flip(offset: number, mask: number): void {
    if (offset >= this.length) return;
    this.own(this.length);
    this.buffer[offset] = (this.buffer[offset] ?? 0) ^ mask;
  }

  private own(needed: number): void {
    if (!this.shared && this.buffer.length >= needed) return;
    const grows = needed > this.buffer.length;
    // Room to grow keeps a file of many appends from being copied for each of them.
    const buffer = new Uint8Array(grows ? needed + (this.length >> 1) + 64 : this.buffer.length);
    buffer.set(this.buffer.subarray(0, this.length));
    this.buffer = buffer;
    this.shared = false;
  }
}
