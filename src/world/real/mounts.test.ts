// Which mount a path is on, and whether it may be written.
import { expect, test } from "bun:test";
import { fileSystemIn } from "./mounts.ts";

const TABLE = [
  "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,errors=remount-ro",
  "30 22 0:25 / /data rw,nosuid shared:1 master:2 - ext4 /dev/sdb1 ro,errors=remount-ro",
  "31 22 0:26 / /with\\040blank rw - tmpfs none\\134x rw,size=1k",
  "32 22 0:27 / /twice rw - ext4 /dev/sdc rw",
  "33 32 0:27 / /twice ro - ext4 /dev/sdc rw",
  "half a line",
  "",
].join("\n");

const at = (path: string) => fileSystemIn(TABLE, path);

test("the longest mount above a path is its own; a name that only begins alike is not", () => {
  expect(at("/home/me")).toEqual({ mount: "/", type: "ext4", source: "/dev/vda", readOnly: false });
  expect(at("/data/home")?.mount).toBe("/data");
  expect(at("/data")?.mount).toBe("/data");
  expect(at("/database")?.mount).toBe("/");
});

test("read-only by the mount or by the file system, and the last of two mounts counts", () => {
  expect(at("/data/home")?.readOnly).toBe(true);
  expect(at("/twice/x")?.readOnly).toBe(true);
  expect(at("/")?.readOnly).toBe(false);
});

test("blanks and backslashes in names are read back", () => {
  expect(at("/with blank/x")).toEqual({ mount: "/with blank", type: "tmpfs", source: "none\\x", readOnly: false });
});

test("without a table nothing is known", () => {
  expect(fileSystemIn("", "/x")).toBeUndefined();
});
