// Where our sources lie with their counters, and the bytes they set. Every counted program loads this first, so it
// imports nothing.

const ROOT = import.meta.dir.slice(0, import.meta.dir.lastIndexOf("/"));
/** Made anew by each `npm test`. */
export const COUNTED = `${ROOT}/coverage/children`;
/** A byte for each counter. */
export const HITS = `${COUNTED}/hits`;
/** What programs load beforehand: scripts/counting.ts in one file. */
export const COUNTING = `${COUNTED}/counting.js`;
/** A folder for each bundled program, like those of scripts/build.ts. */
export const IN_ONE_FILE = `${COUNTED}/built`;
/** Our sources; not those of another installation. */
export const SOURCES = `${ROOT}/src/`;

export const countedPath = (path: string): string => `${COUNTED}/${path}`;
