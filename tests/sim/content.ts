// The bytes of a simulated file, in pages: written in place while one disk owns a page, copied when a fork has to
// write.
// C1. A page that was shared is never written again, so a fork costs a few objects and no bytes.
// C2. What is missing of a page is zero, and so is everything beyond `length`: a file that is filled with zeros, as the
//     segments of a log are, costs nothing.

const PAGE = 1 << 14;
const ZEROS = new Uint8Array(PAGE);

export class Content {
  length = 0;
  private pages: (Uint8Array | undefined)[] = [];
  /** Which pages only we have (C1). */
  private own: boolean[] = [];

  /** The same bytes for another owner. */
  share(): Content {
    const twin = new Content();
    twin.length = this.length;
    twin.pages = this.pages.slice();
    this.own = []; // C1
    return twin;
  }

  bytes(): Uint8Array {
    const all = new Uint8Array(this.length);
    this.read(all, 0, this.length);
    return all;
  }

  read(into: Uint8Array, offset: number, wanted: number): number {
    const count = Math.min(wanted, this.length - offset);
    if (count <= 0) return 0;
    for (let done = 0; done < count; ) {
      const at = (offset + done) % PAGE;
      const part = Math.min(count - done, PAGE - at);
      const found = this.pages[(offset + done - at) / PAGE]?.subarray(at, at + part);
      if (found !== undefined) into.set(found, done);
      into.fill(0, done + (found?.length ?? 0), done + part); // C2
      done += part;
    }
    return count;
  }

  write(bytes: Uint8Array, offset: number): void {
    for (let done = 0; done < bytes.length; ) {
      const at = (offset + done) % PAGE;
      const part = bytes.subarray(done, done + PAGE - at);
      this.put((offset + done - at) / PAGE, part, at);
      done += part.length;
    }
    if (bytes.length > 0) this.length = Math.max(this.length, offset + bytes.length);
  }

  truncate(length: number): void {
    if (length < this.length) this.cut(length);
    this.length = length;
  }

  /** Zeros up to `length`, if the file is shorter. */
  extend(length: number): void {
    this.length = Math.max(this.length, length); // C2
  }

  flip(offset: number, mask: number): void {
    if (offset >= this.length) return;
    const page = this.page(Math.floor(offset / PAGE), (offset % PAGE) + 1);
    page[offset % PAGE] = (page[offset % PAGE] ?? 0) ^ mask;
  }

  private put(index: number, bytes: Uint8Array, at: number): void {
    if (bytes.length === PAGE && Buffer.compare(bytes, ZEROS) === 0) this.pages[index] = undefined;
    else this.page(index, at + bytes.length).set(bytes, at);
  }

  /** C2 */
  private cut(length: number): void {
    const kept = Math.ceil(length / PAGE);
    this.pages.length = Math.min(this.pages.length, kept);
    this.own.length = Math.min(this.own.length, kept);
    const rest = length % PAGE;
    if (rest > 0 && this.pages[kept - 1] !== undefined) this.page(kept - 1, rest).fill(0, rest);
  }

  /** The page with at least so many bytes of it, ours to write. */
  private page(index: number, needed: number): Uint8Array {
    const before = this.pages[index];
    const size = before?.length ?? 0;
    if (before !== undefined && this.own[index] === true && size >= needed) return before;
    // Room to grow keeps a file of many appends from being copied for each of them.
    const page = new Uint8Array(needed > size ? Math.min(PAGE, needed + (size >> 1) + 64) : size);
    if (before !== undefined) page.set(before);
    this.pages[index] = page;
    this.own[index] = true;
    return page;
  }
}
