// The machine's symbolic links.
import { readlinkSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import type { Links } from "../links.ts";
import { attempt, unless } from "./attempt.ts";

/** EINVAL: there is something, but not a link. */
const NO_LINK = ["ENOENT", "ENOTDIR", "EINVAL"];

export function realLinks(): Links {
  return { read, point, remove };
}

function read(path: string): string | undefined {
  return unless(NO_LINK, undefined, () => attempt("read link", path, () => readlinkSync(path)));
}

function point(path: string, target: string): void {
  const made = `${path}.${process.pid}.tmp`;
  remove(made); // Left by a process that had our pid and died in between.
  attempt("link", made, () => symlinkSync(target, made));
  attempt("link", path, () => renameSync(made, path)); // LN1
}

function remove(path: string): void {
  unless(["ENOENT"], undefined, () => attempt("remove link", path, () => unlinkSync(path)));
}
