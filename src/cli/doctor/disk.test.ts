// Which file systems the doctor takes for fit to keep a home.
import { expect, test } from "bun:test";
import type { FileSystem } from "../../world/machine.ts";
import type { Site } from "./check.ts";
import { checkFileSystem } from "./disk.ts";

async function judged(type: string, more: Partial<FileSystem> = {}): Promise<string> {
  const found: FileSystem = { mount: "/h", type, source: "x", readOnly: false, ...more };
  const machine = { fileSystem: () => found };
  const [finding] = await checkFileSystem({ machine, home: "/h" } as unknown as Site);
  return `${finding?.status}: ${finding?.what}`;
}

test("NF-2 file systems without POSIX rename or fsync are unsupported, and the doctor says so", async () => {
  const bad = ["nfs", "nfs4", "cifs", "smb3", "9p", "drvfs", "virtiofs", "vfat", "exfat", "ntfs3"];
  for (const type of [...bad, "fuse", "fuseblk", "fuse.sshfs", "fuse.s3fs"])
    expect(await judged(type)).toBe(`problem: ${type} on /h (x) is not supported`);
});

test("NF-2 local disks are fine; one in memory is empty after a reboot", async () => {
  for (const type of ["ext4", "xfs", "btrfs", "zfs", "f2fs", "overlay", "bcachefs"])
    expect(await judged(type)).toBe(`ok: ${type} on /h (x)`);
  expect(await judged("tmpfs")).toStartWith("warning: ");
  expect(await judged("ext4", { readOnly: true })).toBe("problem: ext4 on /h (x) is read-only");
});
