// Archives as Debian packages need them. The same files give the same bytes: everything is root's, has the time that is
// given, and comes in the given order.
// AR1. Paths are below the root and at most 100 bytes long, which the oldest format of tar can hold.

/** Text or bytes at a path without a slash at its start. */
export type Packed = { readonly path: string; readonly mode: number; readonly bytes: Uint8Array | string };

const BLOCK = 512;
const MAX_PATH = 100;
const DIRECTORY = 0o755;

/** POSIX ustar, with the directories that the files need. */
export function tar(files: readonly Packed[], timeS: number): Uint8Array {
  const known = new Set<string>();
  const parts = files.flatMap((file) => {
    const above = parents(file.path).filter((path) => !known.has(path));
    for (const path of above) known.add(path);
    const bytes = Buffer.from(file.bytes);
    const rest = Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK);
    const header = headerOf({ path: `./${file.path}`, mode: file.mode, size: bytes.length, type: "0", timeS });
    return [
      ...above.map((path) => headerOf({ path, mode: DIRECTORY, size: 0, type: "5", timeS })),
      header,
      bytes,
      rest,
    ];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

/** "a/b/c" → "./", "./a/", "./a/b/" */
function parents(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return ["./", ...names.map((_, at) => `./${names.slice(0, at + 1).join("/")}/`)];
}

type Header = {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  readonly type: "0" | "5";
  readonly timeS: number;
};

function headerOf({ path, mode, size, type, timeS }: Header): Buffer {
  if (Buffer.byteLength(path) > MAX_PATH) throw new Error(`${path} is too long for a tar archive`); // AR1
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) => {
    block.write(value.toString(8).padStart(length - 1, "0"), at);
  };
  block.write(path, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(timeS, 136, 12);
  block.write(" ".repeat(8), 148); // Counted as blanks in the sum itself.
  block.write(type, 156);
  block.write("ustar\x0000", 257);
  block.write("root", 265);
  block.write("root", 297);
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}

/** The archive around a Debian package's parts, whose names are at most 16 letters long. */
export function ar(parts: readonly (readonly [name: string, bytes: Uint8Array])[], timeS: number): Uint8Array {
  const members = parts.flatMap(([name, bytes]) => {
    const fields = [
      name.padEnd(16),
      String(timeS).padEnd(12),
      "0     0     ",
      "100644  ",
      String(bytes.length).padEnd(10),
    ];
    return [Buffer.from(`${fields.join("")}\`\n`), bytes, Buffer.from(bytes.length % 2 === 1 ? "\n" : "")];
  });
  return Buffer.concat([Buffer.from("!<arch>\n"), ...members]);
}
