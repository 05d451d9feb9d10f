// The page's files, read once: when a browser asks for the first one.
import { type PageFiles, unpack } from "../page-files.ts";
import { packedPage } from "./page-source.ts";

let files: Promise<PageFiles> | undefined;

/** Rejects if the sources cannot be built; the next call tries again. */
export function pageFiles(): Promise<PageFiles> {
  files ??= packedPage().then(unpack);
  files.catch(() => {
    files = undefined;
  });
  return files;
}
