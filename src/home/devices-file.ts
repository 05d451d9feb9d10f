// `recovery/devices.json`: the browsers that may use the page (core/devices.ts). The daemon writes it; the web host
// reads it, because terminals stay usable in a browser while the daemon is down.
// DF1. A file that is missing, or does not have its form, lets nobody in. One that cannot be read for now is a Fault:
//      nothing is written in its place.
import { parseJson } from "../base/json.ts";
import { joinPath } from "../base/path.ts";
import { DEVICE_RIGHTS, type Devices, NO_DEVICES } from "../core/devices.ts";
import { readWhole } from "../log/file/file.ts";
import { writeJson } from "../log/file/json-file.ts";
import { fitting } from "../wire/check.ts";
import { list, literal, object, optional, text, textOf } from "../wire/shape.ts";
import type { Disk } from "../world/disk.ts";
import { sha256 } from "../world/hash.ts";
import { DEVICES } from "./layout.ts";

const time = textOf({ is: (value) => !Number.isNaN(Date.parse(value)), expected: "a time" });
const rights = optional(literal(...DEVICE_RIGHTS));
const key = optional(textOf({ pattern: /^[0-9a-f]{64}$/, expected: "a key" }));
const FILE = object({
  links: list(object({ hash: text, until: time, rights, name: optional(text) })),
  devices: list(
    object({
      ...{ id: text, name: text, hash: text, madeAt: time, usedAt: time, key, rights },
      ...{ link: optional(text), linkUntil: optional(time) },
    }),
  ),
});

/** What the secret of a pairing becomes: the pre-shared key of the first handshake, in hex (wire/noise). */
export function pairingKey(secret: Uint8Array): string {
  return sha256(Buffer.concat([Buffer.from("holdfast pair 1"), secret]));
}

export function readDevices(disk: Disk, home: string): Devices {
  const bytes = readWhole(disk, joinPath(home, DEVICES));
  const value = bytes && parseJson(new TextDecoder().decode(bytes));
  return (value?.ok === true ? fitting(FILE, value.value) : undefined) ?? NO_DEVICES; // DF1
}

export async function writeDevices(disk: Disk, home: string, { links, devices }: Devices): Promise<void> {
  await writeJson(disk, joinPath(home, DEVICES), { v: 1, links, devices });
}
