// Where our sources lie with their counters, and the bytes they set. Light: every counted program loads this first.
import { join } from "node:path";
import { ROOT } from "./files.ts";

/** Made anew by each `npm test`. */
export const COUNTED = join(ROOT, "coverage/children");

export const countedPath = (path: string): string => join(COUNTED, path);
export const hitsPath = (path: string): string => join(COUNTED, `${path}.hits`);
export const counterName = (path: string): string => `__hits_${path.replace(/\W/g, "_")}`;
