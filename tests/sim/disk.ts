// A simulated disk that keeps page cache and durable state apart: what was not synced may or may not be there after a
// power cut.
// It is stricter than any real file system, so that code which survives here relies on nothing but what D1 promises.
// M1. Bytes become durable by a sync of their file, names by a sync of their directory, and by nothing else.
// M2. A sync covers what was issued before it was called. One that fails loses that for good: the next one succeeds and
//     does not bring it back, though the cache still shows it (as Linux does).
// M3. A rename within a directory is one operation; across directories it is two, each durable with its own directory.
// M4. `fork`, `processKill` and `powerCut` leave this disk as it is and give back another; hooks, locks and open files
//     stay behind.
import { Fault } from "../../src/base/fault.ts";
import type { Disk, OpenHow, Stat } from "../../src/world/disk.ts";
import type { Operation } from "./faults.ts";
import { SimFile } from "./file.ts";
import type { Node } from "./inode.ts";
import { Kernel } from "./kernel.ts";
import { type Chooser, cut } from "./survive.ts";
import type { Slot, Tree } from "./tree.ts";

/** Every program is there: the simulated world has no others. It is no part of what survives a crash. */
const PROGRAM: Stat = { kind: "file", size: 1, mode: 0o755, modifiedMs: 0, id: "1:0" };

export class SimDisk extends Kernel implements Disk {
  open(path: string, how: OpenHow): SimFile {
    this.enter("open", path);
    const slot = this.tree.slot("open", path);
    if (slot.id === undefined && (how === "read" || how === "write")) throw failed("ENOENT", "open", path);
    if (slot.id !== undefined && how === "exclusive") throw failed("EEXIST", "open", path);
    if (slot.id !== undefined && this.tree.node(slot.id).kind === "directory") throw failed("EISDIR", "open", path);
    if (how !== "read") this.mustBeWritable("open", path);
    const id = slot.id ?? this.create("file", slot, path);
    const file = new SimFile(this, path, id, how !== "read");
    this.holders.add(file);
    return file;
  }

  stat(path: string): Stat | undefined {
    if (path.startsWith("/bin/")) return PROGRAM;
    this.enter("stat", path);
    const id = this.tree.lookup(path);
    if (typeof id === "string") return undefined;
    const node = this.tree.node(id);
    const same = { modifiedMs: 0, id: `1:${id}` };
    if (node.kind === "directory") return { kind: "directory", size: 0, mode: 0o700, ...same };
    return { kind: "file", size: node.cache.length, mode: 0o600, ...same };
  }

  /** There are no symbolic links here. */
  lstat(path: string): Stat | undefined {
    return this.stat(path);
  }

  realPath(path: string): string | undefined {
    return this.stat(path) === undefined ? undefined : path;
  }

  list(path: string): string[] {
    this.enter("list", path);
    const id = this.tree.lookup(path);
    if (typeof id === "string") return [];
    const node = this.tree.node(id);
    return node.kind === "directory" ? [...node.cache.keys()] : [];
  }

  makeDirectory(path: string): boolean {
    this.enter("makeDirectory", path);
    const slot = this.tree.slot("makeDirectory", path);
    if (slot.id !== undefined) {
      if (this.tree.node(slot.id).kind === "directory") return false;
      throw failed("EEXIST", "makeDirectory", path);
    }
    this.mustBeWritable("makeDirectory", path);
    this.create("directory", slot, path);
    return true;
  }

  rename(from: string, to: string): void {
    this.enter("rename", from);
    this.tree.slot("rename", from);
    // As Linux does, both directories are looked for before the file.
    const target = this.tree.slot("rename", to, from);
    const source = this.taken("rename", from);
    if (to.startsWith(`${from}/`)) throw failed("EINVAL", "rename", from);
    if (from.startsWith(`${to}/`)) throw failed("ENOTEMPTY", "rename", from);
    if (target.id === source.id) return; // Two names of one file: POSIX does nothing, and both stay.
    this.mustBeReplaceable(source.id, target, from);
    this.mustBeWritable("rename", from);
    if (source.directory === target.directory) {
      this.tree.change(source.directory, from, [
        [source.name, undefined],
        [target.name, source.id],
      ]); // M3
      return;
    }
    this.tree.change(target.directory, to, [[target.name, source.id]]);
    this.tree.change(source.directory, from, [[source.name, undefined]]);
  }

  link(from: string, to: string): void {
    this.enter("link", to);
    const source = this.taken("link", from, to);
    const target = this.tree.slot("link", to);
    if (target.id !== undefined) throw failed("EEXIST", "link", to);
    if (this.tree.node(source.id).kind === "directory") throw failed("EPERM", "link", to);
    this.mustBeWritable("link", to);
    this.tree.change(target.directory, to, [[target.name, source.id]]);
  }

  unlink(path: string): void {
    this.enter("unlink", path);
    const slot = this.taken("unlink", path);
    if (this.tree.node(slot.id).kind === "directory") throw failed("EISDIR", "unlink", path);
    this.mustBeWritable("unlink", path);
    this.tree.change(slot.directory, path, [[slot.name, undefined]]);
  }

  removeDirectory(path: string): void {
    this.enter("removeDirectory", path);
    const slot = this.taken("removeDirectory", path);
    const node = this.tree.node(slot.id);
    if (node.kind === "file") throw failed("ENOTDIR", "removeDirectory", path);
    if (node.cache.size > 0) throw failed("ENOTEMPTY", "removeDirectory", path);
    this.mustBeWritable("removeDirectory", path);
    this.tree.change(slot.directory, path, [[slot.name, undefined]]);
  }

  async syncDirectory(path: string): Promise<void> {
    const id = this.tree.lookup(path);
    if (typeof id === "string" || this.tree.node(id).kind === "file") {
      this.enter("syncDirectory", path);
      throw failed(typeof id === "string" ? id : "ENOTDIR", "syncDirectory", path);
    }
    await this.syncGated({ operation: "syncDirectory", path, id });
  }

  free(path: string): number {
    this.enter("free", path);
    return Math.min(Number.MAX_SAFE_INTEGER, this.unused());
  }

  /** An independent disk in the same state, for a few microseconds. */
  fork(hooks: "without hooks" | "with hooks" = "without hooks"): SimDisk {
    const twin = this.successor(this.tree.fork());
    if (hooks === "without hooks") return twin;
    twin.onCall = this.onCall;
    twin.fault = this.fault;
    twin.gate = this.gate;
    return twin;
  }

  /** What the next process finds after SIGKILL: the page cache survives, pending writes stay pending. */
  processKill(): SimDisk {
    return this.fork();
  }

  /** What the next process finds after a power cut: see survive.ts for choosers. */
  powerCut(choose: Chooser): SimDisk {
    return this.successor(cut(this.tree, choose));
  }

  private successor(tree: Tree): SimDisk {
    const disk = new SimDisk(tree);
    disk.calls = this.calls;
    disk.capacity = this.capacity;
    disk.readOnly = this.readOnly;
    return disk;
  }

  private create(kind: Node["kind"], slot: Slot, path: string): number {
    const id = this.tree.add(kind);
    this.tree.change(slot.directory, path, [[slot.name, id]]);
    return id;
  }

  private taken(operation: Operation, path: string, about = path): Slot & { readonly id: number } {
    const { directory, name, id } = this.tree.slot(operation, path, about);
    if (id === undefined) throw failed("ENOENT", operation, about);
    return { directory, name, id };
  }

  private mustBeReplaceable(source: number, target: Slot, path: string): void {
    if (target.id === undefined) return;
    const node = this.tree.node(target.id);
    const directory = this.tree.node(source).kind === "directory";
    if (directory && node.kind === "file") throw failed("ENOTDIR", "rename", path);
    if (!directory && node.kind === "directory") throw failed("EISDIR", "rename", path);
    if (node.kind === "directory" && node.cache.size > 0) throw failed("ENOTEMPTY", "rename", path);
  }

  private mustBeWritable(operation: Operation, path: string): void {
    if (this.readOnly) this.refuse(operation, path, "EROFS");
  }
}

/** An honest answer, not an injected fault: it is not recorded in `fired`. */
function failed(code: string, operation: Operation, path: string): Fault {
  return new Fault({ code, operation, path });
}
