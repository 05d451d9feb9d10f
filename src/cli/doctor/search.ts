// The index of searches: how large it is, and whether its files begin as they should. All of it is checked by its first
// run after a start, and every page by the search that reads it; whatever is wrong is made again.
import { joinPath } from "../../base/path.ts";
import { readConfig } from "../../home/start-watchdog.ts";
import { readWhole, removeIfThere } from "../../log/file/file.ts";
import { count } from "../print.ts";
import { type Finding, fine, type Site, warning } from "./check.ts";

const NAME = "search";
const MIB = 1 << 20;
const BEGINNING = "holdfast-search 1 ";

export async function checkSearch({ world, home }: Site): Promise<Finding[]> {
  const { disk } = world;
  const directory = joinPath(home, "search");
  const paths = disk.list(directory).flatMap((name) => (name.endsWith(".idx") ? [joinPath(directory, name)] : []));
  if (paths.length === 0) return [];
  const damaged = paths.filter((path) => {
    const bytes = readWhole(disk, path, BEGINNING.length);
    return bytes !== undefined && new TextDecoder().decode(bytes) !== BEGINNING;
  });
  const mend = async () => damaged.filter((path) => removeIfThere(disk, path)).map((path) => `removed ${path}`);
  const what = `${count(damaged.length, "file")} of the search index ${damaged.length === 1 ? "is" : "are"} damaged`;
  const why = "searches are slower until it is made again";
  if (damaged.length > 0) return [warning(NAME, { what, why, next: "holdfast doctor --fix" }, mend)];
  const bytes = paths.reduce((sum, path) => sum + (disk.stat(path)?.size ?? 0), 0);
  const config = readConfig(world);
  const most = config.ok ? ` of at most ${mebibytes(config.value.config.search.maxBytes)}` : "";
  return [fine(NAME, `the index has ${count(paths.length, "file")} and ${mebibytes(bytes)}${most}`)];
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`;
}
