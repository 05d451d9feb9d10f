// The disk of one process, any call of which may fail: the other processes of the machine are spared.
// FD1. A call that fails has done nothing. A sync that fails may have reached the disk or not; it is not repeated here.
import type { Disk, OpenFile } from "../../../src/world/disk.ts";

/** Called before every call; what it throws, the call throws. */
export type Before = (operation: string, path: string) => void;

export function faultyDisk(disk: Disk, before: Before): Disk {
  return {
    open: (path, how) => {
      before(how === "read" || how === "write" ? "open" : "create", path);
      return faultyFile(disk.open(path, how), before);
    },
    stat: (path) => {
      before("stat", path);
      return disk.stat(path);
    },
    lstat: (path) => {
      before("stat", path);
      return disk.lstat(path);
    },
    realPath: (path) => {
      before("stat", path);
      return disk.realPath(path);
    },
    list: (path) => {
      before("list", path);
      return disk.list(path);
    },
    free: (path) => {
      before("free", path);
      return disk.free(path);
    },
    makeDirectory: (path) => {
      before("makeDirectory", path);
      return disk.makeDirectory(path);
    },
    rename: (from, to) => {
      before("rename", from);
      disk.rename(from, to);
    },
    link: (from, to) => {
      before("link", to);
      disk.link(from, to);
    },
    unlink: (path) => {
      before("unlink", path);
      disk.unlink(path);
    },
    removeDirectory: (path) => {
      before("removeDirectory", path);
      disk.removeDirectory(path);
    },
    syncDirectory: async (path) => {
      before("syncDirectory", path);
      await disk.syncDirectory(path);
    },
  };
}

function faultyFile(file: OpenFile, before: Before): OpenFile {
  const { path } = file;
  return {
    path,
    size: () => {
      before("size", path);
      return file.size();
    },
    read: (into, offset) => {
      before("read", path);
      return file.read(into, offset);
    },
    write: (bytes, offset) => {
      before("write", path);
      return file.write(bytes, offset);
    },
    truncate: (length) => {
      before("truncate", path);
      file.truncate(length);
    },
    datasync: async () => {
      before("datasync", path);
      await file.datasync();
    },
    startSync: () => {
      before("startSync", path);
      file.startSync();
    },
    datasyncBlocking: () => {
      before("datasync", path);
      file.datasyncBlocking();
    },
    sync: async () => {
      before("sync", path);
      await file.sync();
    },
    tryLock: () => {
      before("tryLock", path);
      return file.tryLock();
    },
    close: () => file.close(),
  };
}
