// What the standby program of a home says of itself (`run/standby.json`), for those who look after it.
import { joinPath } from "../base/path.ts";
import { readJson } from "../log/file/json-file.ts";
import { fitting } from "../wire/check.ts";
import { flag, type Infer, list, nullable, number, object, optional, text } from "../wire/shape.ts";
import type { Disk } from "../world/disk.ts";
import { STANDBY_STATUS } from "./layout.ts";

const MIRROR = object({ name: text, lag: number, at: optional(text), trouble: optional(text) });
const STATUS = object({
  ...{ at: text, pid: number, guard: text, actsForHost: flag, doing: nullable(text), database: nullable(text) },
  ...{ shipping: nullable(text), shippedAt: optional(nullable(text)), takeover: nullable(text), mirrors: list(MIRROR) },
});
export type StandbyStatus = Infer<typeof STATUS>;

/** Undefined if it has not written any. The program may have ended since. */
export function readStandbyStatus({ disk, home }: { readonly disk: Disk; readonly home: string }) {
  return fitting(STATUS, readJson(disk, joinPath(home, STANDBY_STATUS)));
}
