// The system's advisory lock, which Bun does not offer: `flock` from the C library (glibc), loaded with the first lock.
// L1. The kernel releases the lock with the last descriptor of the open file, so a killed owner leaves no stale lock.
// L2. Only EWOULDBLOCK means that another process has the lock; any other failure is a Fault, never a silent "no".
import { Fault } from "../../base/fault.ts";
import { errnoReader, fromLibc } from "./libc.ts";

const LOCK_EXCLUSIVE = 2;
const LOCK_WITHOUT_WAITING = 4;
const TAKEN = 11;
const CODES: Readonly<Record<number, string>> = { 4: "EINTR", 9: "EBADF", 37: "ENOLCK" };

type Library = { readonly flock: (fd: number, how: number) => number; readonly errno: () => number };

let library: Library | undefined;

export function tryFlock(fd: number, path: string): boolean {
  library ??= load();
  if (library.flock(fd, LOCK_EXCLUSIVE | LOCK_WITHOUT_WAITING) === 0) return true;
  const errno = library.errno();
  if (errno === TAKEN) return false; // L2
  throw new Fault({ code: CODES[errno] ?? `errno ${errno}`, operation: "tryLock", path });
}

function load(): Library {
  const { flock } = fromLibc({ flock: { args: ["i32", "i32"], returns: "i32" } });
  return { flock, errno: errnoReader() };
}
