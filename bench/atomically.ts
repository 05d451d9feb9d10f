// The peer of everything that is saved whole: the same bytes, atomically and durably, with bare node:fs and nothing
// else.
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export function writeAtomically(path: string, bytes: Uint8Array): void {
  const temp = `${path}.tmp`;
  const fd = openSync(temp, "w");
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(temp, path);
  const directory = openSync(dirname(path), "r");
  fsyncSync(directory);
  closeSync(directory);
}
