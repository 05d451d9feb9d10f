// Homes to do harm to, and how to look at a disk from outside: its files and their bytes, without one disk call.
import { SimDisk } from "../disk.ts";
import { ROOT } from "../tree.ts";
import { HOME, Life, type Memory, type Step } from "./life.ts";

export type Home = { readonly disk: SimDisk; readonly memory: Memory };

/** Every file as processes see it: path → bytes, in hex. */
export function filesOf(disk: SimDisk): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (id: number, path: string): void => {
    const node = disk.tree.node(id);
    if (node.kind === "file") found[path] = Buffer.from(node.cache.bytes()).toString("hex");
    else for (const [name, child] of [...node.cache].sort()) visit(child, `${path}/${name}`);
  };
  visit(ROOT, "");
  return found;
}

export function pathsOf(disk: SimDisk, part: string): string[] {
  return Object.keys(filesOf(disk)).filter((path) => path.startsWith(HOME) && path.includes(part));
}

export const append = (sessions: readonly number[], size: number): Step => ({ kind: "append", sessions, size });
export const AWAIT: Step = { kind: "await" };
export const DRAIN: Step = { kind: "drain" };
export const IDLE: Step = { kind: "idle" };

/**
 * A home that was used, then killed: everything acknowledged, and what `steps` left undrained still in the write-ahead
 * log.
 */
export async function homeAfter(steps: readonly Step[]): Promise<Home> {
  const life = await Life.begin(new SimDisk(), { issued: [], acknowledged: 0 });
  await life.perform(steps);
  await life.settled();
  return { disk: life.disk.processKill(), memory: life.memory };
}

/** Some of it in the session logs and marked so, some there and not marked, some only in the write-ahead log. */
export const MID_LIFE: readonly Step[] = [
  append([1, 2], 30),
  append([1], 20),
  AWAIT,
  DRAIN,
  append([2, 3], 60),
  append([4], 10),
  AWAIT,
  append([1, 3], 25),
  AWAIT,
  DRAIN,
  append([1], 15),
  append([2, 4], 35),
  AWAIT,
  append([3], 10),
  AWAIT,
];
