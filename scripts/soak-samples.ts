// What a soak looks at: of each process of ours its open files and memory (PSS), how many processes there are, and what
// the home has on disk, by kind as in `holdfast usage disk`, and all of it in blocks. The programs in terminals belong
// to the user and are not counted.
// SA1. A process is known by what it does, and not by its pid: the successor of a killed one continues its row.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { memoryOf, processesOf, startOf } from "../bench/processes.ts";
import { diskUsage } from "../src/home/disk-usage.ts";
import { realDisk } from "../src/world/real/disk.ts";
import type { Sample, Tolerance } from "./growth.ts";

const MB = 1_000_000;
const ENTRY = /\/src\/(watchdog|daemon|web|screen)\/main\.ts$/;
/** Has a limit of its own ([log] in docs/CONFIG.md), and grows by whole segments up to it. */
const WAL_BYTES = 64 << 20;
const WAL = "disk: write-ahead log";
/** Histories stay: what happened in a cycle, without the output, which is removed. */
const HISTORIES = ["disk: archive", "disk: logs", "disk: checkpoints of runs"];
const TOTAL = "blocks of the disk, without the write-ahead log";
const BLOCK = 512;

/** SA1; undefined for what is not ours. `home` is the home's path. */
export function roleOf(words: readonly string[], home: string): string | undefined {
  const below = words.filter((word) => word.startsWith(`${home}/`)).map((word) => word.slice(home.length + 1));
  const held = below.find((path) => /^(?:terminals|agents)\//.test(path));
  if (held !== undefined) return `holder ${held.split("/").slice(0, 2).join("/")}`;
  const program = words.map((word) => ENTRY.exec(word)?.[1]).find((name) => name !== undefined);
  return program ?? (below.length === 0 ? undefined : "other holders");
}

export function toleranceOf(name: string): Tolerance {
  // One of them is ready for the next step. Whether it is there when a sample is taken depends on the load.
  if (name.startsWith("other holders "))
    return { fixed: name.endsWith(" files") ? 16 : 16 * MB, part: 0, eachCycle: 0 };
  if (name.endsWith(" files")) return { fixed: 4, part: 0, eachCycle: 0 };
  // It is killed and restarted all the time: its memory varies from life to life.
  if (name === "daemon memory") return { fixed: 8 * MB, part: 0.1, eachCycle: 0 };
  if (name.endsWith(" memory")) return { fixed: 4 * MB, part: 0.1, eachCycle: 0 };
  if (name === "processes") return { fixed: 2, part: 0, eachCycle: 0 };
  if (name === WAL) return { fixed: WAL_BYTES, part: 0, eachCycle: 0 };
  if (name === TOTAL) return { fixed: 4 * MB, part: 0, eachCycle: 0.128 * MB };
  const isHistory = HISTORIES.some((history) => name.startsWith(history));
  return { fixed: MB, part: 0, eachCycle: isHistory ? 0.032 * MB : 0 };
}

export function sampleOf(home: string): Sample {
  const found = processesOf(home).flatMap(({ pid, words }) => {
    const role = roleOf(words, home);
    const cost = role === undefined ? undefined : costOf(pid);
    return role === undefined || cost === undefined ? [] : [{ role, ...cost }];
  });
  const sample = new Map<string, number>([
    ["processes", found.length],
    [TOTAL, bytesOf(home) - bytesOf(join(home, "wal"))],
    ...diskUsage(realDisk(), home).map(({ kind, bytes }): [string, number] => [`disk: ${kind}`, bytes]),
  ]);
  for (const { role, files, memory } of found) {
    sample.set(`${role} files`, (sample.get(`${role} files`) ?? 0) + files);
    sample.set(`${role} memory`, (sample.get(`${role} memory`) ?? 0) + memory);
  }
  return sample;
}

/** Undefined if the process ended meanwhile. */
function costOf(pid: number): { readonly files: number; readonly memory: number } | undefined {
  try {
    return { files: readdirSync(`/proc/${pid}/fd`).length, memory: memoryOf([pid]).pss };
  } catch (error) {
    if (startOf(pid) === undefined) return undefined;
    throw error;
  }
}

/** What it takes on disk, not what it claims to be long. */
function bytesOf(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  const below = stat.isDirectory() ? namesIn(path) : [];
  return below.reduce((sum, name) => sum + bytesOf(join(path, name)), stat.blocks * BLOCK);
}

/** None if it was removed meanwhile. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
    throw error;
  }
}
