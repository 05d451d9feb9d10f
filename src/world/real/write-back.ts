// Tells the kernel to begin writing a file's bytes, without waiting: `sync_file_range` from the C library (glibc),
// which Bun does not offer (docs/decisions/0004-two-ways-to-sync.md). The first use loads it.
// WB1. A failure is one of the disk: the kernel may have dropped what it could not write, and a later sync would
//      succeed. Only a kernel or file system that does not have this call is passed over: then nothing was tried.
import { Fault } from "../../base/fault.ts";
import { errnoReader, fromLibc } from "./libc.ts";

/** SYNC_FILE_RANGE_WRITE */
const WRITE = 2;
/** EPERM (a filter of system calls), EINVAL, ESPIPE, ENOSYS */
const NOT_THERE: readonly number[] = [1, 22, 29, 38];
const CODES: Readonly<Record<number, string>> = { 4: "EINTR", 5: "EIO", 9: "EBADF", 28: "ENOSPC", 122: "EDQUOT" };

type Library = {
  readonly range: (fd: number, offset: number, length: number, how: number) => number;
  readonly errno: () => number;
};

let library: Library | undefined;

export function startWriteBack(fd: number, path: string): void {
  library ??= load();
  if (library.range(fd, 0, 0, WRITE) === 0) return; // A length of 0: to the end of the file.
  const errno = library.errno();
  if (NOT_THERE.includes(errno)) return; // WB1
  throw new Fault({ code: CODES[errno] ?? `errno ${errno}`, operation: "startSync", path });
}

function load(): Library {
  const { sync_file_range: range } = fromLibc({
    sync_file_range: { args: ["i32", "i64", "i64", "u32"], returns: "i32" },
  });
  return { range, errno: errnoReader() };
}
