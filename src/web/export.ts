// The page as files for a server of its own (`holdfast page export`), so that a relay does not serve the page's code.
// WX1. The files are for one home: the address at which its relay connects browsers is in the page, and its content
//      policy allows no other. A link cannot lead such a page elsewhere.
// WX2. Nothing in them is secret, and every user may read them: another one's web server will.
// WX3. A directory that has anything else in it is left alone.
import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { writeAtomic } from "../log/file/atomic-file.ts";
import { makeDirectories } from "../log/file/file.ts";
import type { Disk } from "../world/disk.ts";
import type { Machine } from "../world/machine.ts";
import { EXPORT_HEADERS, exportedPage, NONCE_BYTES } from "../world/page-answers.ts";
import type { PageFiles } from "../world/page-files.ts";
import type { Random } from "../world/random.ts";

/** Shows that a directory is ours (WX3). */
const README = "README.txt";

type ExportWorld = {
  readonly disk: Disk;
  readonly machine: Pick<Machine, "protect">;
  readonly random: Pick<Random, "bytes">;
};

export type Export = {
  readonly directory: string;
  /** The origin of this home at its relay (WX1). */
  readonly relay: string;
};

export async function exportPage(world: ExportWorld, files: PageFiles, to: Export): Promise<Result<void>> {
  const { disk, machine, random } = world;
  const { directory, relay } = to;
  const names = disk.list(directory);
  if (names.length > 0 && !names.includes(README))
    return refused("not-ours", `${directory} has other files.`, "Give a directory that is empty, or does not exist."); // WX3
  makeDirectories(disk, directory);
  const write = async (name: string, content: string | Uint8Array) => {
    const path = joinPath(directory, name);
    await writeAtomic(disk, path, typeof content === "string" ? new TextEncoder().encode(content) : content);
    machine.protect(path, 0o644); // WX2
  };
  await write(README, readme(relay));
  for (const [path, file] of files) {
    if (path === "/") await write("index.html", exportedPage(file, random.bytes(NONCE_BYTES), relay));
    else await write(path.slice(1), file.bytes);
  }
  machine.protect(directory, 0o755); // WX2
  return ok(undefined);
}

function readme(relay: string): string {
  const headers = Object.entries(EXPORT_HEADERS).map(([name, value]) => `  ${name}: ${value}`);
  return [
    `The page of Holdfast, for the home at ${relay}.`,
    "",
    "Serve these files over HTTPS from a host name that nothing else uses, and that the relay's owner does not control,",
    "with these headers:",
    ...headers,
    "Tell the relay: holdfast relay serve --allow-origin https://THAT-NAME",
    "Pair devices:   holdfast pair --page https://THAT-NAME/",
    "Export again after each update of Holdfast, and after enrolling at a relay again.",
    "",
  ].join("\n");
}
