// Where claims about `Disk` are tried: an empty directory on each kind of disk, and a few words to work in it.
import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "../../src/base/fault.ts";
import type { Disk } from "../../src/world/disk.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { SimDisk } from "../sim/disk.ts";

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export type Place = { readonly disk: Disk; readonly root: string };

export const DISKS: Readonly<Record<string, () => Disk>> = { real: realDisk, simulated: () => new SimDisk() };

/**
 * Called once by a test file; returns a function that creates an empty directory on a disk. All are removed when the
 * file's tests are done.
 */
export function places(): (make: () => Disk) => Place {
  const scratch = mkdtempSync(join(tmpdir(), "holdfast-disk-"));
  afterAll(() => rmSync(scratch, { recursive: true }));
  let count = 0;
  return (make) => {
    const disk = make();
    if (disk instanceof SimDisk) disk.plant(`${scratch}/planted`, bytes(""));
    count += 1;
    const root = join(scratch, String(count));
    disk.makeDirectory(root);
    return { disk, root };
  };
}

export function put(disk: Disk, path: string, content: string): void {
  const file = disk.open(path, "create");
  file.write(bytes(content), 0);
  file.close();
}

export function get(disk: Disk, path: string): string {
  const file = disk.open(path, "read");
  const into = new Uint8Array(file.size());
  file.read(into, 0);
  file.close();
  return new TextDecoder().decode(into);
}

/** Operation and code of the fault, and the name it is about. */
export function faultOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof Fault) return `${error.operation} ${error.path.split("/").at(-1)} ${error.code}`;
    throw error;
  }
  return "none";
}
