// Where this installation is. In the npm package each program is one file, at the path of its entry here, and there are
// no sources; the bundler would write a directory of the machine that built it in place of `import.meta.dir`. So
// scripts/package.ts replaces this module there. It loads nothing, since it runs before any program.

/** The directory that has `src/`. */
export const ROOT = import.meta.dir.slice(0, -"/src/world".length);
/** Whether the programs are bundles that are never out of date, because there is nothing else. */
export const IS_PACKAGE: boolean = false;
