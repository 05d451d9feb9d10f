// Where our sources lie with their counters, and the bytes they set. Light: every counted program loads this first.
import { join } from "node:path";
import { ROOT } from "./files.ts";

/** Made anew by each `npm test`. */
export const COUNTED = join(ROOT, "coverage/children");
/** A byte for each counter, and the range of each source. */
export const HITS = join(COUNTED, "hits");
export const PLACES = join(COUNTED, "places.json");
/** A folder for each bundled program, like those of scripts/build.ts. */
export const IN_ONE_FILE = join(COUNTED, "built");

export type Places = Readonly<Record<string, readonly [from: number, to: number]>>;

export const countedPath = (path: string): string => join(COUNTED, path);
export const counterName = (path: string): string => `__hits_${path.replace(/\W/g, "_")}`;
