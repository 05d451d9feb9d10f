// Input for the program on a terminal: we write to its master ourselves. Bun waits for one event that there is room,
// and if that came too early it never tries again: every fiftieth flood of input was stuck for good
// (docs/decisions/0017-typing-around-bun.md).
// PI1. In order, each byte once. What the program has no room for is queued here and retried, soon at first and then
//      more slowly.
// PI2. The number of a closed descriptor may belong to another file by now, so it is checked before each write.
// PI3. Everything is in one function, which the engine compiles at the first input: the many holders at rest do without
//      it.
import { readdirSync, readlinkSync, writeSync } from "node:fs";
import { attempt, systemCode, unless } from "./attempt.ts";
import { fieldsIn, statLine } from "./identities.ts";

export type PtyInput = {
  /** In bytes. */
  readonly waiting: number;
  write(bytes: Uint8Array): void;
  /** The program no longer reads. */
  end(): void;
};

/** `pid`: the process that has the terminal. `drained`: called when there is room again. */
export function ptyInput(pid: number, drained: () => void): PtyInput {
  const [soonestMs, latestMs] = [1, 100]; // PI1
  const fd = masterOf(pid);
  let queue: Uint8Array[] = [];
  let waiting = 0;
  let pauseMs = soonestMs;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Our descriptor for the terminal of this process. If the process gave up its terminal and we have only one, that one
   * is used.
   */
  function masterOf(leader: number): number | undefined {
    const names = attempt("list", "/proc/self/fd", () => readdirSync("/proc/self/fd"));
    const masters = names.map(Number).filter(isMaster);
    const facts = masters.map((one) => statLine("look", `/proc/self/fdinfo/${one}`) ?? "");
    // Field 7; the fields after the name count from 3.
    const device = Number(fieldsIn(statLine("look", `/proc/${leader}/stat`) ?? "")[7 - 3]);
    // Devices from 136 on are pseudo-terminals.
    const index = `tty-index:\t${(((device >> 8) - 136) << 8) | (device & 0xff)}\n`;
    const at = facts.findIndex((fact) => fact.includes(index));
    return at >= 0 || new Set(facts).size > 1 ? masters[at] : masters[0];
  }

  function isMaster(one: number): boolean {
    const path = `/proc/self/fd/${one}`;
    return unless(["ENOENT"], false, () => attempt("look", path, () => readlinkSync(path) === "/dev/ptmx"));
  }

  /** Returns how much was written; 0 if there is no room now. What will never be read counts as written. */
  function writeSome(bytes: Uint8Array): number {
    if (fd === undefined || !isMaster(fd)) return bytes.length; // PI2
    try {
      return writeSync(fd, bytes);
    } catch (error) {
      const code = systemCode(error);
      if (code === "EAGAIN") return 0;
      if (code === "EIO") return bytes.length; // The program has closed its end.
      throw error;
    }
  }

  function pump(): void {
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      const written = writeSome(first);
      if (written === 0) {
        later();
        return;
      }
      waiting -= written;
      pauseMs = soonestMs;
      if (written === first.length) queue.shift();
      else queue[0] = first.subarray(written);
    }
  }

  function later(): void {
    timer = setTimeout(() => {
      timer = undefined;
      pump();
      if (waiting === 0) drained();
    }, pauseMs);
    pauseMs = Math.min(latestMs, pauseMs * 2);
  }

  return {
    get waiting() {
      return waiting;
    },
    write: (bytes) => {
      queue.push(new Uint8Array(bytes));
      waiting += bytes.length;
      if (timer === undefined) pump();
    },
    end: () => {
      clearTimeout(timer);
      queue = [];
      waiting = 0;
    },
  };
}
