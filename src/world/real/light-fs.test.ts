import { afterAll, expect, test } from "bun:test";
import * as node from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as light from "./light-fs.ts";

const scratch = node.mkdtempSync(join(tmpdir(), "hfl-"));
afterAll(() => node.rmSync(scratch, { recursive: true, force: true }));

const file = join(scratch, "fïle");
const link = join(scratch, "link");
const bytes = Buffer.from("x".repeat(40_000));
node.writeFileSync(file, bytes, { mode: 0o640 });
node.symlinkSync("fïle", link);
const PATHS = [file, link, scratch, "/dev/null", "/proc/self/stat"];
/** Missing, below a file, no path at all, and longer than any path. */
const REFUSED = [join(scratch, "none"), join(file, "x"), "", "a\0b", `/${"x".repeat(5000)}`];

/** What it returns, or the error as our programs see it. */
function outcome(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    return { code: error.code, isSystems: "syscall" in error };
  }
}

const facts = (found: Pick<node.Stats, "mode" | "ino" | "size" | "dev" | "mtimeMs" | "ctimeMs"> | undefined) =>
  found && [found.mode, found.ino, found.size, found.dev, found.mtimeMs, found.ctimeMs];

test("a file looks the same as through node:fs, and so does what cannot be looked at", () => {
  const quiet = { throwIfNoEntry: false } as const;
  for (const path of [...PATHS.slice(0, 4), ...REFUSED]) {
    const seen = (fs: Pick<typeof light, "statSync" | "lstatSync"> | typeof node) =>
      [() => fs.statSync(path), () => fs.lstatSync(path), () => fs.statSync(path, quiet)].map((look) =>
        outcome(() => facts(look())),
      );
    expect({ path, seen: seen(light) }).toEqual({ path, seen: seen(node) });
  }
  for (const path of PATHS) {
    const kinds = ({ statSync }: Pick<typeof light, "statSync"> | typeof node) => {
      const found = statSync(path);
      return [found?.isFile(), found?.isDirectory(), found?.isCharacterDevice(), found?.isSymbolicLink()];
    };
    expect({ path, kinds: kinds(light) }).toEqual({ path, kinds: kinds(node) });
  }
});

test("it is read and listed the same", () => {
  for (const path of [...PATHS.slice(0, 3), ...REFUSED]) {
    const read = ({ readFileSync, readlinkSync, readdirSync }: typeof light | typeof node) =>
      [() => readFileSync(path, "utf8"), () => readlinkSync(path), () => readdirSync(path).toSorted()].map(outcome);
    expect({ path, read: read(light) }).toEqual({ path, read: read(node) });
  }
  expect(light.readdirSync("/proc/self/fd").length).toBeGreaterThan(2);
  for (let at = 0; at < 900; at += 1) node.writeFileSync(join(scratch, `one-of-many-with-a-long-name-${at}`), "");
  expect(light.readdirSync(scratch).toSorted()).toEqual(node.readdirSync(scratch).toSorted());
  expect(light.readFileSync("/proc/self/cmdline", "latin1")).toBe(node.readFileSync("/proc/self/cmdline", "latin1"));
});

test("an open file is read, written and closed the same", () => {
  const use = ({ openSync, readSync, writeSync, closeSync, fstatSync }: typeof light | typeof node, name: string) => {
    const path = join(scratch, name);
    const fd = openSync(path, node.constants.O_RDWR | node.constants.O_CREAT, 0o600);
    const into = new Uint8Array(10);
    const done = [
      () => writeSync(fd, Buffer.from("0123456789")),
      () => writeSync(fd, Buffer.from("..ab"), 2),
      () => writeSync(fd, Buffer.from("XY"), 0, 2, 1),
      () => readSync(fd, into, 2, 5, 0),
      () => readSync(fd, into, 0, 2, 100),
      () => readSync(fd, into, 0, 0, 0),
      () => fstatSync(fd).size,
      () => closeSync(fd),
      () => closeSync(fd),
      () => readSync(fd, into, 0, 5, 0),
      () => writeSync(fd, Buffer.from("x")),
      () => fstatSync(fd),
    ].map(outcome);
    return { done, into: [...into], text: node.readFileSync(path, "utf8"), mode: node.statSync(path).mode };
  };
  expect(use(light, "by-light")).toEqual(use(node, "by-node"));
  const opened = ({ openSync }: typeof light | typeof node) => REFUSED.map((path) => outcome(() => openSync(path, 0)));
  expect(opened(light)).toEqual(opened(node));
});

test("no descriptor is inherited, and flags that are not of every machine are node's", () => {
  const fd = light.openSync(file, light.constants["O_RDONLY"] ?? -1);
  const flags = /flags:\s+(\d+)/.exec(node.readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "0";
  light.closeSync(fd);
  expect(Number.parseInt(flags, 8) & 0o2000000).toBe(0o2000000);
  for (const name of ["O_RDONLY", "O_WRONLY", "O_RDWR", "O_CREAT", "O_EXCL", "O_DIRECTORY", "X_OK"] as const) {
    expect(light.constants[name]).toBe(node.constants[name]);
  }
});
