// Where the page's files come from: their sources. In the bundles of the programs that serve them, scripts/build.ts
// replaces this module by one that contains the files, so that one file carries everything.
import type { PackedFile } from "../page-files.ts";
import { buildPage } from "./page-build.ts";

export async function packedPage(): Promise<readonly PackedFile[]> {
  return (await buildPage()).files;
}
