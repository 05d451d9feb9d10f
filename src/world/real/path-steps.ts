// The steps of a path, as the system goes through them.
// PS1. Links are followed here, one by one: realpath would not say whose they are.
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, resolve } from "node:path";
import type { PathStep, PathSteps } from "../path-steps.ts";
import { attempt, unless } from "./attempt.ts";

/** As many links as the system follows. */
const MAX_LINKS = 40;
const NOTHING_THERE = ["ENOENT", "ENOTDIR", "EACCES"];

export function realPathSteps(): PathSteps {
  return { uid: process.getuid?.() ?? 0, steps };
}

function steps(path: string): readonly PathStep[] {
  const found: PathStep[] = [];
  let links = 0;
  let left = partsOf(path);
  let at = "/";
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    const here = resolve(at, part);
    const stat = unless(NOTHING_THERE, undefined, () => attempt("stat", here, () => lstatSync(here)));
    if (stat === undefined) break;
    found.push({ path: here, kind: kindOf(stat), uid: stat.uid, mode: stat.mode & 0o7777 });
    if (!stat.isSymbolicLink()) {
      at = here;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) break;
    const target = attempt("read link", here, () => readlinkSync(here)); // PS1
    left = [...partsOf(target), ...left];
    at = target.startsWith("/") ? "/" : dirname(here);
  }
  return found;
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function kindOf(stat: Stats): PathStep["kind"] {
  if (stat.isDirectory()) return "directory";
  if (stat.isSymbolicLink()) return "link";
  return stat.isSocket() ? "socket" : "other";
}
