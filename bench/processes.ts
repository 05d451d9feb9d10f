// The processes of a run, and what they cost.
// P1. Processes are found by the run's own directory in their arguments or environment, which they cannot lose. So
//     nothing that a benchmark started is left running, and nothing else is ever touched.
import { readdirSync, readFileSync } from "node:fs";

/** `words` is the command line. */
export type Found = { readonly pid: number; readonly words: readonly string[] };

export function processesOf(place: string): Found[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const words = textOf(`/proc/${pid}/cmdline`);
      const named = words.includes(place) || textOf(`/proc/${pid}/environ`).includes(place); // P1
      return named ? [{ pid: Number(pid), words: words.split("\0") }] : [];
    });
}

/** Those that watch each other come back while we look: so several times. */
export function killAllOf(place: string): void {
  for (let tries = 0; tries < 50; tries += 1) {
    const found = processesOf(place);
    if (found.length === 0) return;
    for (const { pid } of found) kill(pid);
    Bun.sleepSync(20);
  }
}

/** Like a power cut: all are stopped before the first is killed, so that none sees another one die. */
export function killAtOnce(place: string): void {
  const stopped = new Set<number>();
  for (let fresh = processesOf(place); fresh.length > 0; ) {
    for (const { pid } of fresh) kill(pid, "SIGSTOP");
    for (const { pid } of fresh) stopped.add(pid);
    fresh = processesOf(place).filter(({ pid }) => !stopped.has(pid));
  }
  killAllOf(place);
}

/** A process that has ended in the meantime needs none. */
function kill(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** In bytes. */
export type Memory = {
  readonly privateClean: number;
  readonly privateDirty: number;
  readonly pss: number;
};

/** Of all of them together. */
export function memoryOf(pids: readonly number[]): Memory {
  const rollups = pids.map((pid) => textOf(`/proc/${pid}/smaps_rollup`));
  const sum = (field: string) => rollups.reduce((all, text) => all + fieldOf(text, field), 0);
  return { privateClean: sum("Private_Clean"), privateDirty: sum("Private_Dirty"), pss: sum("Pss") };
}

/** The most memory that a process had at any time so far, in bytes. */
export function peakOf(pid: number): number {
  return fieldOf(textOf(`/proc/${pid}/status`).replaceAll("\t", " "), "VmHWM");
}

function fieldOf(text: string, field: string): number {
  const kib = new RegExp(`^${field}: *(\\d+) kB`, "m").exec(text)?.[1];
  if (kib === undefined) throw new Error(`a process has gone, or its memory cannot be read: no ${field}`);
  return Number(kib) * 1024;
}

/**
 * Milliseconds on a core so far, by thread. The scheduler counts in nanoseconds; `stat` would count in ticks of 10 ms.
 */
export type CpuTimes = ReadonlyMap<string, number>;

export function cpuTimesOf(pids: readonly number[]): CpuTimes {
  return new Map(
    pids
      .filter((pid) => startOf(pid) !== undefined)
      .flatMap((pid) =>
        readdirSync(`/proc/${pid}/task`).map((id): [string, number] => {
          const path = `/proc/${pid}/task/${id}/schedstat`;
          return [path, Number(textOf(path).split(" ")[0]) / 1e6];
        }),
      ),
  );
}

/** The CPU time between the two; nothing is known about threads that ended in between. */
export function cpuMsBetween(before: CpuTimes, after: CpuTimes): number {
  return [...after].reduce((all, [thread, ms]) => all + Math.max(0, ms - (before.get(thread) ?? 0)), 0);
}

export function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const texts = threads.map((id) => textOf(`/proc/${pid}/task/${id}/children`));
  return texts.flatMap((text) =>
    text
      .split(" ")
      .filter((word) => word !== "")
      .map(Number),
  );
}

/** When it was started, in ticks since the boot: with its pid it names one process. Undefined if it is not alive. */
export function startOf(pid: number): number | undefined {
  // The name before the last parenthesis may contain anything.
  const [state, ...fields] = textOf(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ");
  return state === undefined || /^[ZX]?$/.test(state) ? undefined : Number(fields[18]);
}

/** The program's name; empty if it is gone, and its parent's name until it is executed. */
export function programOf(pid: number): string {
  return textOf(`/proc/${pid}/comm`).trim();
}

/** Empty if the process is gone, or is not ours. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}
