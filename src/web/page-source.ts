// Where the page's files come from: their sources. In the bundle of this program, scripts/build.ts replaces this module
// by one that contains the files, so that one file carries everything.
import type { PackedFile } from "../world/page-files.ts";
import { buildPage } from "../world/real/page-build.ts";

export async function packedPage(): Promise<readonly PackedFile[]> {
  return (await buildPage()).files;
}
