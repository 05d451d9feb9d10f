// The way into the program of a terminal: our own writes to its master, not Bun's. Bun waits for room by one word of the system's, and where that
// came too early it never asks again: every fiftieth flood of input was left lying for good (docs/decisions/0017-typing-around-bun.md).
// PI1. In order, each byte once; what the program has no room for waits here and is tried again, soon at first and then more slowly.
// PI2. The number of a closed descriptor may be another file's by now: it is looked at before each write.
// PI3. All of it is within one function, which is read when somebody first types: a holder at rest does without it, and many rest.
import { readdirSync, readlinkSync, writeSync } from "node:fs";
import { attempt, systemCode, unless } from "./attempt.ts";
import { fieldsIn, statLine } from "./identities.ts";

export type PtyInput = {
  /** In bytes. */
  readonly waiting: number;
  write(bytes: Uint8Array): void;
  /** Nobody reads it any more. */
  end(): void;
};

/** `pid`: who has the terminal. `drained`: there is room again for whoever was held back. */
export function ptyInput(pid: number, drained: () => void): PtyInput {
  const [soonestMs, latestMs] = [1, 100]; // PI1
  const fd = masterOf(pid);
  let queue: Uint8Array[] = [];
  let waiting = 0;
  let pauseMs = soonestMs;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** The descriptor of ours that leads to the terminal of this process; one that gave its terminal up still has ours, where there is no other. */
  function masterOf(leader: number): number | undefined {
    const names = attempt("list", "/proc/self/fd", () => readdirSync("/proc/self/fd"));
    const masters = names.map(Number).filter(isMaster);
    const facts = masters.map((one) => statLine("look", `/proc/self/fdinfo/${one}`) ?? "");
    const device = Number(fieldsIn(statLine("look", `/proc/${leader}/stat`) ?? "")[7 - 3]); // Field 7; those after the name count from 3.
    const index = `tty-index:\t${(((device >> 8) - 136) << 8) | (device & 0xff)}\n`; // Devices 136 and above are terminals like ours.
    const at = facts.findIndex((fact) => fact.includes(index));
    return at >= 0 || new Set(facts).size > 1 ? masters[at] : masters[0];
  }

  function isMaster(one: number): boolean {
    const path = `/proc/self/fd/${one}`;
    return unless(["ENOENT"], false, () => attempt("look", path, () => readlinkSync(path) === "/dev/ptmx"));
  }

  /** How much of it; 0 where there is no room now. What nobody will read counts as written. */
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
