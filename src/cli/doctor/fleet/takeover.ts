// Whether this home would go on if its host died, and whether this host has room for those of others.
// TO1. Which homes a host takes is in its own configuration; what it has announced of that is in the database.
import { joinPath, parentOf } from "../../../base/path.ts";
import { naming } from "../../../core/fleet/naming.ts";
import { awayMs } from "../../../core/fleet/watch.ts";
import type { HostRow, WatchedRow } from "../../../fleet/calls.ts";
import { roomFor } from "../../../home/room.ts";
import type { Config } from "../../../wire/files/config-schema.ts";
import { type Finding, fine, problem, type Site, some, warning } from "../check.ts";
import { unsupportedText } from "../disk.ts";

type Settings = Config["fleet"];
export type TakeoverSeen = {
  readonly row: WatchedRow | undefined;
  readonly hosts: readonly HostRow[];
  /** The id of this host. */
  readonly host: string | undefined;
};

export function checkTakeover({ takeover, leaseS }: Settings, { row, hosts, host }: TakeoverSeen): Finding[] {
  const name = "fleet-takeover";
  if (row === undefined) return [];
  if (takeover === "manual")
    return [
      fine(name, `takeover = manual: no host takes it by itself, only \`holdfast fleet take ${row.name}\` there`),
    ];
  const others = hosts.filter(({ id, agoMs }) => id !== host && id !== row.host && agoMs <= awayMs(leaseS * 1_000));
  const takers = others.filter(({ takes }) => naming(takes)(row.name)); // TO1
  if (takers.length > 0) return [fine(name, `${some(takers.map((one) => one.name))} would take it over`)];
  const names = some(others.map((one) => one.name));
  const why =
    others.length === 0 ? "no other host is there" : `there is ${names}, without [fleet] take for ${row.name}`;
  const next = `On another host, in [fleet]: take = ["${row.name}"], then: holdfast down; holdfast up`;
  return [warning(name, { what: "nobody would take this home over if this host died", why, next })];
}

const MIB = 1 << 20;

/** The directory is made when it is first needed: until then, that of the next one above counts. */
export function checkHomesRoom({ world, machine }: Site, { homes, take, mirror }: Settings): Finding[] {
  const name = "fleet-room";
  if (take.length === 0 && mirror.length === 0) return [];
  const there = nearest(world.disk, homes);
  const bytes = world.disk.free(there);
  const words = `${Math.floor(bytes / MIB)} MiB for homes of other hosts in ${homes}`;
  const unsupported = unsupportedText(machine.fileSystem(there)?.type ?? "");
  if (unsupported !== undefined) {
    const next = "Set [fleet] homes to a directory on a disk of this host alone";
    return [problem(name, { what: `${homes} is on a disk that cannot keep homes`, why: unsupported, next })];
  }
  const room = roomFor(bytes, machine.freeInodes(there));
  const next = "Free some space, or set [fleet] homes to a larger disk";
  const trouble = { what: words, why: "a home that does not fit is not taken over, or stops soon after", next };
  if (room === "none") return [problem(name, trouble)];
  return [room === "little" ? warning(name, trouble) : fine(name, words)];
}

function nearest(disk: Site["world"]["disk"], path: string): string {
  let at = path;
  while (at !== "/" && disk.stat(at)?.kind !== "directory") at = parentOf(at);
  return joinPath(at, ".");
}
