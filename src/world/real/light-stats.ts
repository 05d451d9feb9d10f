// What the C library's `statx` says about a file, in the form in which node:fs says it.

/** Places in `struct statx`, which is the same on every architecture, unlike `struct stat`. */
const [MODE, INODE, SIZE, CHANGED, MODIFIED, DEVICE] = [28, 32, 40, 96, 112, 136];
const KIND = 0o170000;
const [FILE, DIRECTORY, CHARACTER_DEVICE, LINK] = [0o100000, 0o040000, 0o020000, 0o120000];

export class LightStats {
  readonly mode: number;
  readonly ino: number;
  readonly size: number;
  readonly dev: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    const from = new DataView(bytes.buffer);
    this.mode = from.getUint16(MODE, true);
    this.ino = Number(from.getBigUint64(INODE, true));
    this.size = Number(from.getBigUint64(SIZE, true));
    this.dev = deviceOf(from.getUint32(DEVICE, true), from.getUint32(DEVICE + 4, true));
    this.mtimeMs = millisecondsAt(from, MODIFIED);
    this.ctimeMs = millisecondsAt(from, CHANGED);
  }

  isFile(): boolean {
    return (this.mode & KIND) === FILE;
  }

  isDirectory(): boolean {
    return (this.mode & KIND) === DIRECTORY;
  }

  isCharacterDevice(): boolean {
    return (this.mode & KIND) === CHARACTER_DEVICE;
  }

  isSymbolicLink(): boolean {
    return (this.mode & KIND) === LINK;
  }
}

function millisecondsAt(from: DataView, at: number): number {
  return Number(from.getBigInt64(at, true)) * 1000 + from.getUint32(at + 8, true) / 1_000_000;
}

/** Minor 0–7, major 8–19, minor 20–31; larger majors do not occur. */
function deviceOf(major: number, minor: number): number {
  return (minor & 0xff) + (major & 0xfff) * 0x100 + (minor >>> 8) * 0x100000;
}
